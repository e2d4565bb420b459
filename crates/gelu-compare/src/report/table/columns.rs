//! The choice of a table's measures, and of the ones to drop on a narrow terminal.

use crate::measure::{Measure, Split};
use crate::report::Document;

/// Returns the measures to show in a table.
pub(super) fn columns(document: &Document) -> Vec<&Measure> {
    // The error on training examples adds little to the loss on them.
    let wanted = |m: &&Measure| {
        let fraction = m.unit.factor != 1.0;
        m.name == document.criterion.primary || !(m.split == Some(Split::Train) && fraction)
    };
    let has = |m: &&Measure| {
        let mut arms = document.arms.iter();
        arms.any(|arm| arm.reported(document.reported).get(&m.column).is_some())
    };
    let mut shown: Vec<&Measure> = document.measures.iter().filter(wanted).filter(has).collect();
    // Sorted by split; measures without a split come last.
    shown.sort_by_key(|m| match m.split {
        Some(Split::Train) => 0,
        Some(Split::Valid) => 1,
        Some(Split::Test) => 2,
        None => 3,
    });
    shown
}

/// Returns columns in the order in which to drop them if the terminal is too narrow. Never drops the primary measure,
/// nor the fraction on test examples.
pub(super) fn leaving<'a>(document: &Document, shown: &[&'a Measure]) -> Vec<&'a str> {
    let decides = &document.criterion.primary;
    let fraction = |m: &&Measure| m.unit.factor != 1.0;
    let stays = |m: &&Measure| m.name == *decides || fraction(m) && m.split == Some(Split::Test);
    let rank = |m: &&Measure| match (m.split, fraction(m)) {
        (Some(Split::Train), _) => 0,
        (Some(Split::Valid), true) => 1,
        (Some(Split::Valid), false) => 2,
        (None, _) => 3,
        (Some(Split::Test), false) => 4,
        (Some(Split::Test), true) => 5,
    };
    let mut leaving: Vec<&Measure> = shown.iter().copied().filter(|m| !stays(m)).collect();
    leaving.sort_by_key(rank);
    leaving.into_iter().map(|m| m.column.as_str()).collect()
}
