//! Checks that generated sets can be learned: the class whose mean input is nearest is right far more often than
//! chance. The data are written and read in the real file formats.

use gelu_experiments::data::synthetic::tweets as words;
use gelu_experiments::data::{WindowSet, Windows, spoken_digits, timit, tweets};

/// Returns the share of examples whose nearest class mean (of the training inputs) is that of another class.
fn error_of_nearest_mean(set: &WindowSet) -> f64 {
    let features = set.train.features();
    let mut means = vec![vec![0.0f64; features]; set.classes];
    let mut counts = vec![0.0f64; set.classes];
    each(&set.train, |input, label| {
        counts[label] += 1.0;
        means[label].iter_mut().zip(input).for_each(|(sum, &value)| *sum += f64::from(value));
    });
    for (mean, &count) in means.iter_mut().zip(&counts) {
        mean.iter_mut().for_each(|sum| *sum /= count.max(1.0));
    }
    let mut wrong = 0;
    each(&set.test, |input, label| {
        let distance = |class: &usize| -> f64 {
            let pairs = means[*class].iter().zip(input);
            pairs.map(|(mean, &value)| (mean - f64::from(value)).powi(2)).sum()
        };
        let nearest = (0..set.classes).min_by(|a, b| distance(a).total_cmp(&distance(b)));
        wrong += usize::from(nearest != Some(label));
    });
    wrong as f64 / set.test.len() as f64
}

fn each(windows: &Windows, mut what: impl FnMut(&[f32], usize)) {
    for (example, &label) in windows.labels().iter().enumerate() {
        what(&windows.inputs(example..example + 1), usize::from(label));
    }
}

#[test]
fn generated_tweets() {
    let folder = tempfile::tempdir().unwrap();
    tweets::write_synthetic(folder.path(), &words::generate(400, 10, 100)).unwrap();
    let error = error_of_nearest_mean(&tweets::read(folder.path(), None).unwrap());
    assert!((0.02..0.4).contains(&error), "{error}, by chance 0.96");
}

#[test]
fn generated_spoken_digits() {
    let folder = tempfile::tempdir().unwrap();
    spoken_digits::write_synthetic(folder.path(), 3, 14).unwrap();
    let error = error_of_nearest_mean(&spoken_digits::read(folder.path()).unwrap());
    assert!((0.05..0.7).contains(&error), "{error}, by chance 0.9");
}

#[test]
fn generated_timit() {
    let folder = tempfile::tempdir().unwrap();
    let speakers = timit::Speakers { train: 8, validation: 1, test: 3 };
    timit::write_synthetic(folder.path(), speakers).unwrap();
    let error = error_of_nearest_mean(&timit::read(folder.path()).unwrap());
    assert!((0.05..0.7).contains(&error), "{error}, by chance 0.7 or more");
}
