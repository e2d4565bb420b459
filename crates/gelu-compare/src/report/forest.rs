//! The forest plot: an overview of a comparison's verdicts.

use crate::comparison::{Finding, OverTasks, TaskEffect, Verdict, Wording};
use crate::measure::Scale;
use std::collections::BTreeMap;

/// A forest plot: the content, not the drawing. Each comparison has a row with the paired differences as dots, the
/// interval of their mean as a bar, and ±δ around zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    /// The title, above everything.
    pub title: String,
    /// The caption, below everything.
    pub caption: String,
    /// The label of the axes.
    pub axis: String,
    /// The panels, from top to bottom, each with its own axis.
    pub panels: Vec<ForestPanel>,
    /// Whether a panel's rows are tasks, and the last one all of them.
    pub over_tasks: bool,
}

/// Comparisons that share an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestPanel {
    /// The title above the rows; may be empty.
    pub title: String,
    /// δ, in the unit of the axis.
    pub margin: f64,
    /// The rows, from top to bottom.
    pub rows: Vec<ForestRow>,
}

/// One comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct ForestRow {
    /// The name of the setting that is compared with the baseline.
    pub label: String,
    /// The verdict in words: `worse by 12.70 (8.82 to 16.58)`.
    pub words: String,
    /// Whether there is a verdict other than *undecided*.
    pub decided: bool,
    /// The index of its colour.
    pub position: usize,
    /// The paired differences. Those that are not finite are not drawn.
    pub dots: Vec<f64>,
    /// The mean of the differences.
    pub mean: Option<f64>,
    /// The differences that the test does not rule out; ±∞ on a side where the test rules out none.
    pub interval: Option<[f64; 2]>,
    /// The interval for more than new seeds, such as for new test examples.
    pub wider: Option<[f64; 2]>,
}

/// A row that reaches this many times as far from zero as the median row does not widen the axis. Otherwise the other
/// rows would be too small to read.
const FAR: f64 = 8.0;

impl ForestPanel {
    /// Returns the range of the axis. It contains zero, the intervals and differences of all rows that are not far
    /// beyond the others, and ±δ unless that would make them too small.
    pub fn range(&self) -> [f64; 2] {
        let mut reaches: Vec<f64> = self.rows.iter().map(ForestRow::reach).collect();
        reaches.sort_by(f64::total_cmp);
        let far = reaches.get(reaches.len() / 2).map_or(0.0, |middle| FAR * middle);
        let near = |row: &&ForestRow| far == 0.0 || row.reach() <= far;
        let values = self.rows.iter().filter(near).flat_map(ForestRow::values);
        let (low, high) =
            values.fold((0.0f64, 0.0f64), |(l, h), value| (l.min(value), h.max(value)));
        let span = high - low;
        let margin = if self.margin <= 2.0 * span || span == 0.0 { self.margin } else { 0.0 };
        let (low, high) = (low.min(-margin), high.max(margin));
        let room = (0.04 * (high - low)).max(f64::MIN_POSITIVE);
        [low - room, high + room]
    }
}

impl ForestRow {
    /// Returns all finite values to draw.
    fn values(&self) -> impl Iterator<Item = f64> + use<'_> {
        let intervals = self.interval.into_iter().chain(self.wider).flatten();
        let ends = intervals.chain(self.mean);
        ends.chain(self.dots.iter().copied()).filter(|value| value.is_finite())
    }

    /// Returns the largest distance from zero.
    fn reach(&self) -> f64 {
        self.values().fold(0.0, |reach, value| reach.max(value.abs()))
    }

    /// Returns whether the row has values to the left and to the right of an axis.
    pub fn beyond(&self, [low, high]: [f64; 2]) -> [bool; 2] {
        [self.values().any(|value| value < low), self.values().any(|value| value > high)]
    }
}

/// The input for a row.
#[derive(Clone, Debug)]
pub struct ForestEntry<'a> {
    /// The title of the row's panel; may be empty.
    pub panel: String,
    /// The index of the row's colour.
    pub position: usize,
    /// The finding to show.
    pub finding: &'a Finding,
}

impl Forest {
    /// Creates the forest plot of comparisons with one baseline. `compared` must list the rows of each panel one
    /// after the other. Returns `None` before a pair is complete.
    pub fn of(
        title: String,
        data: &str,
        compared: &[ForestEntry<'_>],
        wording: &Wording,
    ) -> Option<Self> {
        let mut panels: Vec<ForestPanel> = Vec::new();
        let shown = |c: &&ForestEntry<'_>| c.finding.runs() != [0, 0];
        for ForestEntry { panel, position, finding } in compared.iter().filter(shown) {
            if let Some(over) = &finding.over {
                panels.push(over_tasks(panel, *position, finding, over, wording));
                continue;
            }
            if panels.last().is_none_or(|last| last.title != *panel) {
                let margin =
                    wording.scaled(finding.rule.as_ref().map_or(0.0, |rule| rule.negligible));
                panels.push(ForestPanel { title: panel.clone(), margin, rows: Vec::new() });
            }
            if let Some(last) = panels.last_mut() {
                last.rows.push(row(finding, wording, *position));
            }
        }
        let baseline = &compared.first()?.finding.baseline;
        let margin = (panels.first()?.margin > 0.0).then_some("dashed: ±δ, negligible");
        let thin = compared.iter().find_map(|c| c.finding.wider_interval.as_ref());
        let thin = thin.map(|wider| format!("thin: for {}", wider.of));
        let scale = compared.first()?.finding.over.as_ref().map(|over| over.scale);
        let wording = scale.map_or_else(|| wording.clone(), |scale| wording.on_scale(scale));
        let dot = if scale.is_some() { "dot: a task" } else { "dot: a seed" };
        let bar = "bar: what the test does not rule out";
        let data = (!data.is_empty()).then_some(data);
        let caption: Vec<&str> =
            [Some(dot), Some(bar), thin.as_deref(), margin, data].into_iter().flatten().collect();
        if scale.is_some() {
            let sign = if wording.higher_is_better() { -1.0 } else { 1.0 };
            arrange(&mut panels, sign, compared.iter().any(|entry| !entry.panel.is_empty()));
        }
        let side = if wording.higher_is_better() { "right" } else { "left" };
        let unit = match wording.unit().trim_start() {
            "" => String::new(),
            unit => format!(", {unit}"),
        };
        Some(Self {
            title,
            caption: caption.join("; "),
            axis: format!("{} − that of {baseline}{unit}; {side}: better", wording.metric()),
            panels,
            over_tasks: scale.is_some(),
        })
    }
}

/// Sorts the tasks of all panels alike, those first at which settings do best on average; and panels by their verdicts'
/// means, unless they belong to several contexts.
fn arrange(panels: &mut [ForestPanel], sign: f64, has_contexts: bool) {
    let cost = |row: &ForestRow| row.mean.map_or(f64::INFINITY, |mean| sign * mean);
    let mut costs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in panels.iter().flat_map(|panel| &panel.rows) {
        costs.entry(row.label.clone()).or_default().push(cost(row));
    }
    let mean = |label: &str| {
        let costs = &costs[label];
        costs.iter().sum::<f64>() / costs.len() as f64
    };
    for panel in panels.iter_mut() {
        if let [tasks @ .., _] = panel.rows.as_mut_slice() {
            tasks.sort_by(|a, b| mean(&a.label).total_cmp(&mean(&b.label)));
        }
    }
    if !has_contexts {
        panels.sort_by(|a, b| {
            let [a, b] = [a, b].map(|panel| panel.rows.last().map_or(f64::INFINITY, cost));
            a.total_cmp(&b)
        });
    }
}

/// Returns a panel with a row for each task, and the verdict below.
fn over_tasks(
    panel: &str,
    position: usize,
    finding: &Finding,
    over: &OverTasks,
    wording: &Wording,
) -> ForestPanel {
    let scaled = wording.on_scale(over.scale);
    let title = match panel.is_empty() {
        true => finding.arm.clone(),
        false => format!("{panel}: {}", finding.arm),
    };
    let task = |effect: &TaskEffect| {
        // The factor that brings this task to the common scale; ranks have no intervals.
        let factor = match (over.scale, effect.on_scale, effect.mean) {
            (Scale::Ranks, _, _) => None,
            (_, Some(on_scale), Some(mean)) if mean != 0.0 => Some(on_scale / mean),
            _ => None,
        };
        let ends = effect.interval.map(|interval| interval.ends());
        let words = effect.words(wording);
        ForestRow {
            label: effect.task.clone(),
            words: words.strip_prefix(&format!("{}: ", effect.task)).unwrap_or(&words).to_owned(),
            decided: false,
            position,
            dots: Vec::new(),
            mean: effect.on_scale.map(|mean| scaled.scaled(mean)),
            interval: factor.and_then(|by| Some(ends?.map(|end| scaled.scaled(by * end)))),
            wider: None,
        }
    };
    let whole = ForestRow {
        label: format!("all {}", finding.counted()),
        ..row(finding, &scaled, position)
    };
    let margin = scaled.scaled(finding.rule.as_ref().map_or(0.0, |rule| rule.negligible));
    ForestPanel { title, margin, rows: over.tasks.iter().map(task).chain([whole]).collect() }
}

fn row(finding: &Finding, wording: &Wording, position: usize) -> ForestRow {
    let drawn = |cost: f64| wording.scaled(wording.of_measure(cost));
    let ends = |ends: [f64; 2]| ends.map(|end| wording.scaled(end));
    ForestRow {
        label: finding.arm.clone(),
        words: words(finding, wording),
        decided: finding.verdict != Verdict::Undecided,
        position,
        dots: finding.pairs.differences().into_iter().map(drawn).collect(),
        mean: finding.mean.map(|mean| wording.scaled(mean)),
        interval: finding.interval.map(|interval| ends(interval.ends())),
        wider: finding.wider_interval.as_ref().map(|wider| ends([wider.low, wider.high])),
    }
}

/// Returns the verdict in words: `worse by 12.70 (8.82 to 16.58), 12 seeds`.
fn words(finding: &Finding, wording: &Wording) -> String {
    let (count, planned) = (finding.seeds, finding.planned_seeds);
    let waits = finding.is_open() && (1..planned).contains(&(count as u64));
    let seeds = match (waits, finding.until_decided) {
        (true, true) => format!("{count} of at most {planned} seeds"),
        (true, false) => format!("{count} of {planned} seeds"),
        (false, _) => finding.counted(),
    };
    let Some(mean) = finding.mean else {
        return format!("{}, {seeds}", finding.verdict);
    };
    let turned = |[low, high]: [f64; 2]| if mean < 0.0 { [-high, -low] } else { [low, high] };
    let is_decided = matches!(finding.verdict, Verdict::Better | Verdict::Worse);
    let (by, size) = if is_decided { (" by", mean.abs()) } else { (":", mean) };
    let size = wording.number(size, finding.resolution());
    let interval = finding.interval.map_or_else(String::new, |interval| {
        let ends = if is_decided { turned(interval.ends()) } else { interval.ends() };
        format!(" ({})", wording.interval(ends))
    });
    format!("{}{by} {size}{interval}, {seeds}", finding.verdict)
}

#[cfg(test)]
mod tests {
    use super::{ForestPanel, ForestRow, arrange};
    use crate::report::example::{forest, forest_with};

    #[test]
    fn a_row_says_what_was_found_in_the_unit_of_the_axis() {
        let forest = forest();
        let row = &forest.panels[0].rows[0];
        assert_eq!((row.label.as_str(), row.dots.len(), row.decided), ("ReLU", 3, true));
        assert!((row.mean.unwrap() - 0.26).abs() < 1e-12);
        assert!(row.words.starts_with("worse by 0.26"), "{}", row.words);
        assert!(row.words.ends_with("), 3 seeds"), "{}", row.words);
        assert_eq!(forest.axis, "test error − that of GELU, points; left: better");
        assert!((forest.panels[0].margin - 0.1).abs() < 1e-12);
    }

    #[test]
    fn the_axis_spans_zero_all_dots_and_a_margin_that_hides_nothing() {
        let mut panel = forest().panels.remove(0);
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
    fn tasks_have_one_order_and_the_best_setting_comes_first() {
        let panels = |has_contexts| {
            let pattern = forest().panels.remove(0);
            let row = |(label, mean): (&str, f64)| ForestRow {
                label: label.to_owned(),
                mean: Some(mean),
                ..pattern.rows[0].clone()
            };
            let panel = |title: &str, means: [f64; 3]| ForestPanel {
                title: title.to_owned(),
                rows: ["iris", "wine", "all 2 tasks"].into_iter().zip(means).map(row).collect(),
                ..pattern.clone()
            };
            let mut panels = [panel("relu", [0.3, 0.1, 0.2]), panel("silu", [-0.2, -0.1, -0.15])];
            arrange(&mut panels, 1.0, has_contexts);
            panels
        };
        let titles = |panels: [ForestPanel; 2]| panels.map(|panel| panel.title);
        assert_eq!(titles(panels(false)), ["silu", "relu"]);
        assert_eq!(titles(panels(true)), ["relu", "silu"], "contexts stay together");
        for panel in panels(false) {
            let labels: Vec<&str> = panel.rows.iter().map(|row| row.label.as_str()).collect();
            assert_eq!(labels, ["wine", "iris", "all 2 tasks"], "0.0 on average, and 0.05");
        }
    }

    #[test]
    fn a_margin_is_explained_where_there_is_one() {
        let has_margin = |negligible| forest_with(negligible).caption.contains("dashed: ±δ");
        assert_eq!([0.0, 1e-9, 0.001].map(has_margin), [false, true, true]);
    }
}
