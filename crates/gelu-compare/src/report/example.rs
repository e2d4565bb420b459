//! A forest plot for tests: one arm with three seeds, in two contexts.

use super::{Forest, ForestEntry};
use crate::comparison::statistics::Schedule;
use crate::comparison::{Finding, Rule, Scores, Wording};
use crate::measure::Measure;

fn finding(differences: [f64; 3], negligible: f64, wording: &Wording) -> Finding {
    let rule = Rule {
        comparisons: 1,
        schedule: Schedule::fixed(3),
        alpha: 0.5,
        negligible,
        judgement: None,
    };
    let by_seed = (1..).zip(differences.map(|d| [0.02 + d, 0.02])).collect();
    Finding::of(Scores::new("ReLU", "GELU", by_seed), &rule, wording)
}

pub(super) fn forest() -> Forest {
    forest_with(0.001)
}

/// Returns the same with another margin, below which differences count as none.
pub(super) fn forest_with(negligible: f64) -> Forest {
    let wording = Wording::of(&Measure::test_error());
    let [first, second] =
        [[0.002, 0.003, 0.0028], [0.001, -0.002, 0.004]].map(|d| finding(d, negligible, &wording));
    let row = |panel: &str, finding| ForestEntry { panel: panel.to_owned(), position: 1, finding };
    let compared = [row("dropout 0", &first), row("dropout 0.5", &second)];
    let forest = Forest::of("Digits: verdicts".to_owned(), "built-in digits", &compared, &wording);
    forest.unwrap()
}

/// Returns the numbers of an attribute in all elements of an SVG that begin with `element`.
pub(super) fn numbers(svg: &str, element: &str, attribute: &str) -> Vec<f64> {
    let number = |rest: &str| {
        let head = rest.split('>').next()?;
        let (_, value) = head.split_once(&format!(" {attribute}=\""))?;
        value.split('"').next()?.parse().ok()
    };
    svg.split(element).skip(1).filter_map(number).collect()
}
