//! A forest plot for tests: one arm, three seeds, at two values of something.

use super::{Compared, Forest};
use crate::comparison::{Contrast, Found, Rules, Wording};
use crate::measure::{Looks, Measure};

fn found(differences: [f64; 3]) -> Found {
    let rules = Rules { comparisons: 2, looks: Looks::once(3), negligible: 0.001 };
    let by_seed = (1..).zip(differences.map(|d| [0.02 + d, 0.02])).collect();
    Found::of_scores("ReLU", "GELU", &Contrast { by_seed }, &rules)
}

pub(super) fn forest() -> Forest {
    let [first, second] = [found([0.002, 0.003, 0.0028]), found([0.001, -0.002, 0.004])];
    let row = |panel: &str, found| Compared { panel: panel.to_owned(), position: 1, found };
    let compared = [row("dropout 0", &first), row("dropout 0.5", &second)];
    let wording = Wording::of(&Measure::test_error());
    let forest = Forest::of("Digits: verdicts".to_owned(), "built-in digits", &compared, &wording);
    forest.unwrap()
}
