//! The verdicts as a picture: the first that a reader of a comparison looks at.

use super::figure::data_of;
use crate::comparison::{Difference, Verdict, Wording, differences, label};
use crate::runs::ComparisonSnapshot;

/// Name of the figure's file.
pub(super) const NAME: &str = "forest";

/// A forest plot: a row a comparison, with the paired differences as dots, the interval of their mean as
/// a bar, and ±δ around zero. What is drawn, not how.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// Above everything.
    pub title: String,
    /// Below everything.
    pub caption: String,
    /// Text of the axes.
    pub axis: String,
    /// From top to bottom, each with an axis of its own.
    pub panels: Vec<ForestPanel>,
}

/// Comparisons that share an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestPanel {
    /// Above its rows; may be empty.
    pub title: String,
    /// δ, in the unit of the axis.
    pub margin: f64,
    /// From top to bottom.
    pub rows: Vec<ForestRow>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// What is compared with the baseline.
    pub label: String,
    /// The verdict in words: `worse by 12.70 (8.82 to 16.58)`.
    pub words: String,
    /// Whether the verdict is more than *undecided*.
    pub decided: bool,
    /// Its place among the colours.
    pub position: usize,
    /// The paired differences; those that are not finite have no place.
    pub dots: Vec<f64>,
    /// Their mean.
    pub mean: Option<f64>,
    /// The interval of the mean.
    pub interval: Option<[f64; 2]>,
    /// The interval for new test examples.
    pub new_examples: Option<[f64; 2]>,
}

impl ForestPanel {
    /// What its axis has to span: zero, all intervals and differences, and ±δ unless that would hide
    /// them.
    pub(crate) fn range(&self) -> [f64; 2] {
        let of = |row: &ForestRow| {
            let intervals = row.interval.into_iter().chain(row.new_examples);
            let ends = intervals.flatten().chain(row.mean);
            ends.chain(row.dots.iter().copied()).collect::<Vec<f64>>()
        };
        let values: Vec<f64> =
            self.rows.iter().flat_map(of).filter(|value| value.is_finite()).collect();
        let (low, high) =
            values.iter().fold((0.0f64, 0.0f64), |(l, h), value| (l.min(*value), h.max(*value)));
        let span = high - low;
        let margin = if self.margin <= 2.0 * span || span == 0.0 { self.margin } else { 0.0 };
        let (low, high) = (low.min(-margin), high.max(margin));
        let room = (0.04 * (high - low)).max(f64::MIN_POSITIVE);
        [low - room, high + room]
    }
}

/// What a row is made of: the title of its panel, its place among the colours, and what it shows.
pub(crate) struct Compared<'a> {
    pub(crate) panel: String,
    pub(crate) position: usize,
    pub(crate) difference: &'a Difference,
}

impl Forest {
    /// The forest plot of comparisons with one baseline, those of a panel one after the other; `None`
    /// before a pair is complete.
    pub(crate) fn of(
        title: String,
        data: &str,
        compared: &[Compared<'_>],
        wording: &Wording,
    ) -> Option<Self> {
        let mut panels: Vec<ForestPanel> = Vec::new();
        let shown = |c: &&Compared<'_>| !c.difference.ruling.pairs.is_empty();
        for Compared { panel, position, difference } in compared.iter().filter(shown) {
            if panels.last().is_none_or(|last| last.title != *panel) {
                let margin = wording.scaled(difference.rules.negligible);
                panels.push(ForestPanel { title: panel.clone(), margin, rows: Vec::new() });
            }
            if let Some(last) = panels.last_mut() {
                last.rows.push(row(difference, wording, *position));
            }
        }
        let baseline = label(&compared.first()?.difference.baseline);
        let margin = match panels.first()?.margin > 0.0 {
            true => "dashed: ±δ, too small to care about; ",
            false => "",
        };
        let rows = || panels.iter().flat_map(|panel: &ForestPanel| &panel.rows);
        let thin = match rows().any(|row| row.new_examples.is_some()) {
            true => "thin: for new test examples; ",
            false => "",
        };
        let side = if wording.higher_is_better() { "right" } else { "left" };
        let unit = match wording.unit().trim_start() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        Some(Self {
            title,
            caption: format!(
                "dot: a seed; bar: interval of the mean over all comparisons and looks; {thin}{margin}{data}"
            ),
            axis: format!("{} − that of {baseline}{unit}; {side}: better", wording.measure()),
            panels,
        })
    }
}

/// The forest plot of a comparison; `None` before a pair is complete.
pub fn forest(snapshot: &ComparisonSnapshot) -> Option<Forest> {
    let wording = Wording::of(snapshot);
    let activations = snapshot.activations();
    let position = |name: &str| activations.iter().position(|other| *other == name).unwrap_or(0);
    let differences = differences(snapshot);
    let several = differences.iter().any(|other| other.dropout != differences[0].dropout);
    let mut compared = Vec::new();
    for difference in &differences {
        let panel = if several { format!("dropout {}", difference.dropout) } else { String::new() };
        compared.push(Compared { panel, position: position(&difference.activation), difference });
    }
    Forest::of(format!("{}: verdicts", snapshot.title), &data_of(snapshot), &compared, &wording)
}

fn row(difference: &Difference, wording: &Wording, position: usize) -> ForestRow {
    let ruling = &difference.ruling;
    let drawn = |cost: f64| wording.scaled(wording.of_measure(cost));
    let ends = |ends| wording.ends_of_measure(ends).map(|end| wording.scaled(end));
    ForestRow {
        label: label(&difference.activation),
        words: words(difference, wording),
        decided: ruling.verdict != Verdict::Undecided,
        position,
        dots: ruling.pairs.differences().into_iter().map(drawn).collect(),
        mean: difference.mean().map(|mean| drawn(mean.mean)),
        interval: difference.interval().map(ends),
        new_examples: difference.new_examples().map(|found| ends([found.low, found.high])),
    }
}

/// `worse by 12.70 (8.82 to 16.58), 12 seeds`.
fn words(difference: &Difference, wording: &Wording) -> String {
    let ruling = &difference.ruling;
    let count = ruling.pairs.len();
    let seeds = match (ruling.next, count) {
        (Some(look), _) => format!("{count} of {} seeds", look.seeds),
        (None, 1) => "1 seed".to_owned(),
        (None, _) => format!("{count} seeds"),
    };
    let (Some(mean), Some(interval)) = (difference.mean(), difference.interval()) else {
        return format!("{}, {seeds}", ruling.verdict);
    };
    let (by, size, ends) = match ruling.verdict {
        Verdict::Better => (" by", -mean.mean, [-interval[1], -interval[0]]),
        Verdict::Worse => (" by", mean.mean, interval),
        _ => (":", wording.of_measure(mean.mean), wording.ends_of_measure(interval)),
    };
    let size = wording.number(size, (ends[1] - ends[0]) / 2.0);
    format!("{}{by} {size} ({}), {seeds}", ruling.verdict, wording.interval(ends))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{example, without_epochs};

    #[test]
    fn every_comparison_is_a_row_with_its_seeds_and_its_verdict() {
        let snapshot = example();
        let forest = forest(&snapshot).unwrap();
        let titles: Vec<&str> = forest.panels.iter().map(|panel| panel.title.as_str()).collect();
        assert_eq!(titles, ["dropout 0", "dropout 0.5"]);
        let row = &forest.panels[0].rows[0];
        let difference = &differences(&snapshot)[0];
        assert_eq!((row.label.as_str(), row.dots.len(), row.decided), ("ReLU", 3, false));
        assert_eq!(row.mean, difference.mean().map(|mean| mean.mean * 100.0));
        assert!(row.words.starts_with("undecided: 0.26"), "{}", row.words);
        assert!(row.words.ends_with("), 3 seeds"), "{}", row.words);
        assert!(forest.axis.contains("test error − that of GELU, points; left: better"));
        assert!(forest.caption.contains("SYNTHETIC DATA"));
        assert!((forest.panels[0].margin - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_axis_spans_zero_all_dots_and_a_margin_that_hides_nothing() {
        let mut panel = forest(&example()).unwrap().panels.remove(0);
        panel.rows[0].dots.push(f64::INFINITY);
        let [low, high] = panel.range();
        assert!(low < -0.1 && high > 0.27 && high < 1.0, "{low} {high}");
        panel.margin = 50.0;
        let [low, high] = panel.range();
        assert!(low > -0.1 && high < 1.0, "{low} {high}");
        panel.rows.clear();
        assert!(panel.range()[1] > 50.0);
    }

    #[test]
    fn before_a_pair_there_is_none() {
        assert_eq!(forest(&without_epochs()), None);
    }
}
