//! Splits rows into training, validation and test rows.

use super::sheet::Sheet;
use super::{Error, Place, Result, Target};
use crate::randomness::{generator, split};
use rand::seq::SliceRandom;

/// Usual names of the training, validation and test splits, in small letters.
const NAMES: [&[&str]; 3] = [
    &["train", "training", "trn", "tr", "learn"],
    &["valid", "validation", "val", "dev", "development", "tune"],
    &["test", "testing", "tst", "te", "holdout", "eval", "evaluation"],
];
/// Usual names of a column that determines the splits, in small letters.
const COLUMNS: [&str; 7] = ["split", "part", "partition", "subset", "set", "fold", "usage"];
/// Of this many rows, one is for validation and one for test.
const SHARES: usize = 5;

/// Returns the number of the split that `name` usually means.
pub(in crate::data) fn part_of(name: &str) -> Option<usize> {
    let small = name.to_ascii_lowercase();
    NAMES.iter().position(|names| names.contains(&small.as_str()))
}

/// The splits that the table itself determines.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Given {
    /// The split of each row.
    pub(super) of_row: Vec<u8>,
    /// Whether there are validation rows; otherwise they are taken from the training rows.
    pub(super) has_validation: bool,
}

impl Sheet<'_> {
    /// Returns the column that determines the split of each row, by its name and cells.
    pub(super) fn find_split(&self) -> Option<usize> {
        let says = |column: &usize| {
            let parts: Option<Vec<usize>> = self.cells(*column).map(part_of).collect();
            parts.is_some_and(|parts| parts.contains(&0) && parts.contains(&2))
        };
        let named =
            |column: &usize| COLUMNS.contains(&self.names[*column].to_ascii_lowercase().as_str());
        (0..self.names.len()).filter(named).find(says)
    }

    /// Reads the splits from a column.
    pub(super) fn given(&self, column: usize) -> Result<Given> {
        let mut of_row = Vec::with_capacity(self.rows.len());
        for row in 0..self.rows.len() {
            match part_of(self.cell(row, column)) {
                Some(part) => of_row.push(part as u8),
                None => return self.refuse(row, column, "it has to be train, valid or test"),
            }
        }
        for (part, purpose) in [(0, "train on"), (2, "report on")] {
            if !of_row.contains(&part) {
                let problem = format!("there is no row to {purpose}");
                let advice = "the column that says the parts has to have rows of train and of test";
                return Err(Error::data(self.path, Place::File, problem, advice));
            }
        }
        Ok(Given { has_validation: of_row.contains(&1), of_row })
    }
}

/// Returns the rows of each split in an order that depends on the seed. If the table does not determine the splits,
/// they depend on the seed as well.
pub(super) fn parts(
    target: &Target,
    rows: usize,
    given: Option<&Given>,
    seed: u64,
) -> [Vec<usize>; 3] {
    let mut mixed: Vec<usize> = (0..rows).collect();
    mixed.shuffle(&mut generator(seed, split()));
    let mut part_of: Vec<usize> = match given {
        Some(given) => given.of_row.iter().map(|&part| part.into()).collect(),
        None => vec![0; rows],
    };
    let free: Vec<usize> = mixed.iter().copied().filter(|&row| part_of[row] == 0).collect();
    let taken: &[usize] = match given {
        None => &[1, 2],
        Some(given) if !given.has_validation => &[1],
        Some(_) => &[],
    };
    for class in by_class(target, free) {
        // Rounded, so that a class of three rows has one in each split, and a class of two rows is only trained on.
        let share = (class.len() + SHARES / 2) / SHARES;
        for (part, rows) in taken.iter().zip(class.chunks(share.max(1))).filter(|_| share > 0) {
            rows.iter().for_each(|&row| part_of[row] = *part);
        }
    }
    let mut parts = [const { Vec::new() }; 3];
    mixed.into_iter().for_each(|row| parts[part_of[row]].push(row));
    parts
}

/// Returns the rows of each class; all rows together if there are no classes.
fn by_class(target: &Target, rows: Vec<usize>) -> Vec<Vec<usize>> {
    match target {
        Target::Numbers(_) => vec![rows],
        Target::Classes { names, labels } => {
            let mut classes = vec![Vec::new(); names.len()];
            rows.into_iter().for_each(|row| classes[usize::from(labels[row])].push(row));
            classes
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(sizes: &[usize]) -> Target {
        let labels = (0..).zip(sizes).flat_map(|(class, &size)| vec![class; size]).collect();
        Target::Classes { names: vec![String::new(); sizes.len()], labels }
    }

    #[test]
    fn each_part_has_a_fifth_of_every_class_and_seeds_differ() {
        let sizes = [97, 20, 3, 2, 1];
        let target = classes(&sizes);
        let of_seed = |seed| parts(&target, 123, None, seed);
        let Target::Classes { labels, .. } = &target else { unreachable!() };
        for seed in 1..4 {
            let parts = of_seed(seed);
            let mut all = parts.concat();
            all.sort_unstable();
            assert_eq!(all, (0..123).collect::<Vec<_>>());
            let count = |part: usize, class: usize| {
                parts[part].iter().filter(|&&row| usize::from(labels[row]) == class).count()
            };
            let counts: Vec<[usize; 3]> =
                (0..5).map(|class| [0, 1, 2].map(|part| count(part, class))).collect();
            assert_eq!(counts, [[59, 19, 19], [12, 4, 4], [1, 1, 1], [2, 0, 0], [1, 0, 0]]);
            assert!(parts.iter().all(|part| !part.is_sorted() || part.len() < 3), "rows are mixed");
        }
        assert_eq!(of_seed(1), of_seed(1));
        assert_ne!(of_seed(1)[2], of_seed(2)[2]);
        let numbers = parts(&Target::Numbers(vec![0.0; 50]), 50, None, 1);
        assert_eq!(numbers.map(|part| part.len()), [30, 10, 10]);
    }

    #[test]
    fn parts_that_a_table_brings_stay_and_validation_comes_from_train() {
        let target = classes(&[40, 10]);
        let of_row: Vec<u8> = (0..50).map(|row| if row % 5 == 0 { 2 } else { 0 }).collect();
        let given = Given { of_row: of_row.clone(), has_validation: false };
        let mut tests = Vec::new();
        for seed in 1..3 {
            let [train, valid, mut test] = parts(&target, 50, Some(&given), seed);
            assert_eq!((train.len(), valid.len(), test.len()), (32, 8, 10));
            test.sort_unstable();
            tests.push(test);
        }
        assert_eq!(tests[0], (0..50).step_by(5).collect::<Vec<_>>());
        assert_eq!(tests[0], tests[1]);
        let whole = Given { of_row: (0..50).map(|row| row % 3).collect(), has_validation: true };
        assert_eq!(parts(&target, 50, Some(&whole), 1).map(|part| part.len()), [17, 17, 16]);
    }

    #[test]
    fn people_call_parts_by_many_names() {
        for (name, part) in [("Train", 0), ("TRAINING", 0), ("val", 1), ("dev", 1), ("Testing", 2)]
        {
            assert_eq!(part_of(name), Some(part), "{name}");
        }
        assert_eq!(part_of("tulip"), None);
    }
}
