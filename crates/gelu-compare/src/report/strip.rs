//! Draws a row of a [`Forest`](super::Forest) in characters, for terminals.

use super::forest::{Forest, ForestPanel, ForestRow};

/// One position of a strip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing.
    Blank,
    /// ±δ.
    Margin,
    /// Zero.
    Zero,
    /// A seed's difference.
    Dot,
    /// The interval for more than new seeds, such as for new test examples.
    Thin,
    /// The interval of the test.
    Bar,
    /// The mean.
    Mean,
    /// A value to the left of the axis.
    Left,
    /// A value to the right of the axis.
    Right,
}

impl Mark {
    /// Returns the mark's character.
    pub(crate) fn symbol(self) -> char {
        match self {
            Self::Blank => ' ',
            Self::Margin => '┊',
            Self::Zero => '│',
            Self::Dot => '·',
            Self::Thin => '─',
            Self::Bar => '━',
            Self::Mean => '●',
            Self::Left => '◀',
            Self::Right => '▶',
        }
    }
}

/// Returns the row as `places` marks, on the axis of its panel. The interval covers the seeds' marks, and the mean
/// covers both.
pub(crate) fn strip(panel: &ForestPanel, row: &ForestRow, places: usize) -> Vec<Mark> {
    let mut marks = vec![Mark::Blank; places];
    let [low, high] = panel.range();
    let last = places.saturating_sub(1);
    let place = |value: f64| {
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        (share * last as f64).round() as usize
    };
    let mut mark = |from: usize, to: usize, mark: Mark| {
        marks.iter_mut().take(to + 1).skip(from).for_each(|there| *there = mark);
    };
    let within = |value: &f64| (low..=high).contains(value);
    for margin in [-panel.margin, panel.margin].into_iter().filter(within) {
        mark(place(margin), place(margin), Mark::Margin);
    }
    mark(place(0.0), place(0.0), Mark::Zero);
    for dot in row.dots.iter().copied().filter(within) {
        mark(place(dot), place(dot), Mark::Dot);
    }
    if let Some([from, to]) = row.wider {
        mark(place(from), place(to), Mark::Thin);
    }
    if let Some([from, to]) = row.interval {
        mark(place(from), place(to), Mark::Bar);
    }
    if let Some(mean) = row.mean.filter(within) {
        mark(place(mean), place(mean), Mark::Mean);
    }
    let [left, right] = row.beyond([low, high]);
    if left {
        mark(0, 0, Mark::Left);
    }
    if right {
        mark(last, last, Mark::Right);
    }
    marks
}

/// Returns the forest plot in lines of `width` characters. Each line has a label, a strip and the verdict in words.
pub(crate) fn strips(forest: &Forest, width: usize) -> String {
    let rows = || forest.panels.iter().flat_map(|panel| &panel.rows);
    let widest =
        |of: fn(&ForestRow) -> &str| rows().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (label, words) = (widest(|row| &row.label), widest(|row| &row.words));
    let places = width.saturating_sub(label + words + 4).max(8);
    let mut lines = String::new();
    for panel in &forest.panels {
        if !panel.title.is_empty() {
            lines += &format!("{}\n", panel.title);
        }
        for row in &panel.rows {
            let marks: String = strip(panel, row, places).into_iter().map(Mark::symbol).collect();
            let line = format!("{:label$}  {marks}  {}", row.label, row.words);
            lines += &format!("{}\n", line.trim_end());
        }
    }
    lines + &format!("{}\n", forest.axis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(row: &ForestRow, margin: f64, places: usize) -> String {
        let panel = ForestPanel { title: String::new(), margin, rows: vec![row.clone()] };
        strip(&panel, row, places).into_iter().map(Mark::symbol).collect()
    }

    fn row() -> ForestRow {
        ForestRow {
            label: "ReLU".into(),
            words: String::new(),
            decided: true,
            position: 1,
            dots: vec![1.0, 5.0, 9.0],
            mean: Some(5.0),
            interval: Some([3.0, 7.0]),
            wider: None,
        }
    }

    #[test]
    fn seeds_interval_and_mean_stand_in_their_order() {
        assert_eq!(drawn(&row(), 0.0, 23), " │ ·    ━━━━●━━━━━   · ");
        // The interval for new examples is wider on both sides.
        let new = ForestRow { wider: Some([2.0, 8.0]), ..row() };
        assert_eq!(drawn(&new, 0.0, 23), " │ · ───━━━━●━━━━━── · ");
        let margin = drawn(&row(), 2.0, 40);
        assert_eq!(margin.matches('┊').count(), 2, "{margin}");
    }

    #[test]
    fn a_forest_is_a_line_a_comparison() {
        let text = strips(&crate::report::example::forest(), 100);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines.len(), lines[0], lines[2]), (5, "dropout 0", "dropout 0.5"));
        assert!(lines[1].starts_with("ReLU  ") && lines[1].contains('●'), "{text}");
        assert!(lines[1].ends_with("3 seeds") && lines[1].chars().count() <= 100, "{text}");
    }

    #[test]
    fn any_row_fits_any_width() {
        let mut lost = row();
        (lost.dots, lost.mean, lost.interval) = (vec![f64::INFINITY], None, None);
        for places in [0, 1, 2, 80] {
            for row in [&row(), &lost] {
                assert_eq!(drawn(row, 0.0, places).chars().count(), places);
            }
        }
    }
}
