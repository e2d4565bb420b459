//! Metrics of how well scores rank examples of a class before the others.

/// Returns pairs of a score and whether the example is of the class, by decreasing score.
fn ranked(rows: &[Vec<f64>]) -> Vec<(f64, bool)> {
    let pair = |row: &Vec<f64>| match row.as_slice() {
        [score, class] => (*score, *class > 0.5),
        _ => panic!("a row is a score and a class, 1 or 0, and this one has {} numbers", row.len()),
    };
    let mut pairs: Vec<(f64, bool)> = rows.iter().map(pair).collect();
    pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
    pairs
}

/// Returns the area under the ROC curve of `rows`, each a score and the class, 1 or 0. The area is the share of pairs
/// of an example of the class and another example in which the example of the class has the higher score; a tie
/// counts half. NaN if all examples are of one class.
///
/// # Panics
///
/// If a row does not have two numbers.
pub fn auroc(rows: &[Vec<f64>]) -> f64 {
    let pairs = ranked(rows);
    let positives = pairs.iter().filter(|(_, class)| *class).count() as f64;
    let negatives = pairs.len() as f64 - positives;
    let (mut above, mut area) = (0.0, 0.0);
    for tied in pairs.chunk_by(|a, b| a.0 == b.0) {
        let hits = tied.iter().filter(|(_, class)| *class).count() as f64;
        let misses = tied.len() as f64 - hits;
        area += misses * (above + hits / 2.0);
        above += hits;
    }
    area / (positives * negatives)
}

/// Returns the average precision of `rows`, each a score and the class, 1 or 0: `Σ (Rₙ − Rₙ₋₁)·Pₙ` over the different
/// scores, highest first, with precision `P` and recall `R` at each score, like scikit-learn's
/// `average_precision_score`. NaN if no example is of the class.
///
/// # Panics
///
/// If a row does not have two numbers.
pub fn average_precision(rows: &[Vec<f64>]) -> f64 {
    let pairs = ranked(rows);
    let positives = pairs.iter().filter(|(_, class)| *class).count() as f64;
    let (mut hits, mut seen, mut sum) = (0.0, 0.0, 0.0);
    for tied in pairs.chunk_by(|a, b| a.0 == b.0) {
        let new = tied.iter().filter(|(_, class)| *class).count() as f64;
        (hits, seen) = (hits + new, seen + tied.len() as f64);
        sum += new / positives * hits / seen;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(scores: &[f64], classes: &[u8]) -> Vec<Vec<f64>> {
        scores.iter().zip(classes).map(|(&score, &class)| vec![score, f64::from(class)]).collect()
    }

    /// The example in scikit-learn's documentation of `roc_auc_score` and `average_precision_score`: 0.75 and 0.83….
    #[test]
    fn rankings_are_those_of_scikit_learn() {
        let example = rows(&[0.1, 0.4, 0.35, 0.8], &[0, 0, 1, 1]);
        assert_eq!(auroc(&example), 0.75);
        assert!((average_precision(&example) - 5.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn ties_count_half_and_one_class_has_no_area() {
        assert_eq!(auroc(&rows(&[0.5, 0.5, 0.5], &[1, 0, 1])), 0.5);
        assert_eq!(average_precision(&rows(&[0.5, 0.5, 0.5, 0.5], &[1, 0, 1, 0])), 0.5);
        assert!(auroc(&rows(&[0.5, 0.1], &[1, 1])).is_nan());
        assert!(average_precision(&rows(&[0.5, 0.1], &[0, 0])).is_nan());
    }
}
