//! The forest plot of a comparison.

use super::captions::data_of;
use super::{Forest, ForestEntry};
use crate::comparison::differences;
use crate::runs::Snapshot;

/// The name of the figure's file.
pub(super) const NAME: &str = "forest";

/// Returns the forest plot of a comparison, or `None` before a pair is complete.
pub fn forest(snapshot: &Snapshot) -> Option<Forest> {
    let wording = snapshot.wording();
    let differences = differences(snapshot);
    let several = differences.iter().any(|other| other.context != differences[0].context);
    let mut compared = Vec::new();
    for difference in &differences {
        let context = difference.context.context(&snapshot.design.axes);
        let panel = if several { context } else { String::new() };
        let position = snapshot.position(&difference.arm);
        compared.push(ForestEntry { panel, position, finding: &difference.finding });
    }
    Forest::of(
        format!("{}: verdicts", snapshot.design.title),
        &data_of(snapshot),
        &compared,
        &wording,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{example, without_epochs};

    #[test]
    fn every_comparison_is_a_row_with_its_seeds_and_its_verdict() {
        let snapshot = example();
        let forest = forest(&snapshot).unwrap();
        let titles: Vec<&str> = forest.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["dropout 0", "dropout 0.5"]);
        let row = &forest.panels[0].rows[0];
        let difference = &differences(&snapshot)[0];
        assert_eq!((row.label.as_str(), row.dots.len(), row.decided), ("ReLU", 3, false));
        assert_eq!(row.mean, difference.finding.mean.map(|mean| mean * 100.0));
        assert!(row.words.starts_with("undecided: 0.26"), "{}", row.words);
        assert!(row.words.ends_with(", 3 seeds"), "{}", row.words);
        assert!(forest.axis.contains("test error − that of GELU, points; left: better"));
        assert!(forest.caption.contains("SYNTHETIC DATA"));
        assert!((forest.panels[0].margin - 0.1).abs() < 1e-12);
    }

    #[test]
    fn before_a_pair_there_is_none() {
        assert_eq!(forest(&without_epochs()), None);
    }
}
