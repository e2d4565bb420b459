use super::colours::colour_of;
use super::symbols::symbol;
use super::view::{ChartView, Series};
use crate::measure::Unit;
use ratatui::buffer::Buffer;
use ratatui::layout::{Alignment, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph, Widget};

impl Widget for &ChartView {
    fn render(self, area: Rect, buffer: &mut Buffer) {
        let key = match &self.drawn {
            [Some(lines), Some(symbols)] => format!(" lines: {lines}   symbols: {symbols} "),
            [Some(one), None] => format!(" lines: {one} "),
            [None, Some(one)] => format!(" symbols: {one} "),
            [None, None] => String::new(),
        };
        let block = Block::bordered().title_bottom(Line::from(key).right_aligned());
        if let Some(message) = &self.message {
            let text = Paragraph::new(message.as_str()).alignment(Alignment::Center).block(block);
            return text.render(area, buffer);
        }
        let (x, y) = self.bounds();
        // Symbols are drawn over lines, because a symbol says more than the piece of line that it covers. The first
        // arm is drawn last, on top.
        let series = || self.series.iter().rev();
        let datasets = series().map(line).chain(series().map(symbols_of));
        Chart::new(datasets.collect())
            .block(block)
            .x_axis(Axis::default().bounds(x).labels(epochs(x)))
            .y_axis(Axis::default().bounds(y).labels(self.values(y)))
            .legend_position(None)
            .render(area, buffer);
    }
}

impl ChartView {
    /// Returns the ranges of both axes.
    fn bounds(&self) -> ([f64; 2], [f64; 2]) {
        let all = || self.series.iter().flat_map(|s| s.line.iter().chain(&s.symbols));
        let span = |values: &mut dyn Iterator<Item = f64>| {
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| {
                [low.min(v), high.max(v)]
            })
        };
        let [first, last] = span(&mut all().map(|point| point.0));
        let [low, high] = span(&mut all().map(|point| point.1));
        let room = ((high - low) * 0.05).max(high.abs() * 1e-3).max(1e-9);
        // If no value is negative, the axis needs nothing below 0; for a share, it needs nothing above 100 %.
        let floor = if self.logarithmic || low < 0.0 { f64::NEG_INFINITY } else { 0.0 };
        let whole = if self.logarithmic { 0.0 } else { 1.0 };
        let is_share = self.unit.as_ref().is_some_and(|unit| *unit == Unit::points());
        let ceiling = if is_share && high <= whole { whole } else { f64::INFINITY };
        ([first, last.max(first + 1.0)], [(low - room).max(floor), (high + room).min(ceiling)])
    }

    /// Returns the labels of the vertical axis, with enough decimals to tell them apart.
    fn values(&self, [low, high]: [f64; 2]) -> Vec<String> {
        let ends = [low, f64::midpoint(low, high), high];
        let values = ends.map(|value| if self.logarithmic { 10f64.powf(value) } else { value });
        let step = (values[1] - values[0]).min(values[2] - values[1]);
        let needed = (-step.log10()).ceil().clamp(0.0, 9.0) as usize;
        values.map(|value| self.value(value, needed)).to_vec()
    }

    fn value(&self, value: f64, decimals: usize) -> String {
        if let Some(unit) = self.unit.as_ref().filter(|unit| !unit.sign.is_empty()) {
            return unit.shown(value);
        }
        match value.abs() {
            size if size >= 100.0 => format!("{value:.decimals$}"),
            size if size >= 0.01 || size == 0.0 => format!("{value:.0$}", decimals.max(3)),
            _ => format!("{value:.1e}"),
        }
    }
}

/// Returns the labels of the first epoch, the last one, and the one in the middle if there is one. The chart widget
/// misplaces more than three labels.
fn epochs([first, last]: [f64; 2]) -> Vec<String> {
    let middle = f64::midpoint(first, last);
    let between = (middle.fract() == 0.0 || last - first > 20.0).then_some(middle);
    let all = [Some(first), between, Some(last)].into_iter().flatten();
    all.map(|epoch| format!("{epoch:.0}")).collect()
}

fn style(series: &Series) -> Style {
    let style = Style::new().fg(colour_of(series.position));
    if series.running { style.add_modifier(Modifier::BOLD) } else { style }
}

fn line(series: &Series) -> Dataset<'_> {
    Dataset::default()
        .marker(Marker::Braille)
        .graph_type(GraphType::Line)
        .style(style(series))
        .data(&series.line)
}

fn symbols_of(series: &Series) -> Dataset<'_> {
    Dataset::default()
        .marker(Marker::Custom(symbol(series.position)))
        .graph_type(GraphType::Scatter)
        .style(style(series))
        .data(&series.symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(values: &[f64], unit: Unit, logarithmic: bool) -> ChartView {
        let height = |value: &f64| if logarithmic { value.log10() } else { *value };
        let line = (1..).zip(values).map(|(x, y)| (f64::from(x), height(y))).collect();
        let series = Series { position: 0, running: false, line, symbols: Vec::new() };
        ChartView {
            unit: Some(unit),
            logarithmic,
            drawn: [None, None],
            series: vec![series],
            message: None,
        }
    }

    #[test]
    fn no_axis_of_a_share_reaches_beyond_100_percent() {
        for logarithmic in [false, true] {
            let labels = |values: &[f64]| {
                let chart = chart(values, Unit::points(), logarithmic);
                chart.values(chart.bounds().1)
            };
            assert_eq!(labels(&[0.9, 0.01]).len(), 3);
            assert_eq!(labels(&[1.0, 0.01])[2], "100.00 %");
            // A share above 100 % is shown nevertheless.
            assert_ne!(labels(&[1.2, 0.01])[2], "100.00 %");
        }
    }

    #[test]
    fn labels_differ_and_stand_where_they_say() {
        assert_eq!(epochs([1.0, 2.0]), ["1", "2"]);
        assert_eq!(epochs([1.0, 3.0]), ["1", "2", "3"]);
        assert_eq!(epochs([1.0, 4.0]), ["1", "4"], "no epoch is in the middle");
        for values in [[100.0, 101.0], [0.5, 0.5004], [1.0, 1.00001]] {
            let chart = chart(&values, Unit::own(0), false);
            let mut labels = chart.values(chart.bounds().1);
            labels.dedup();
            assert_eq!(labels.len(), 3, "{labels:?}");
        }
    }

    #[test]
    fn an_epoch_in_the_middle_is_named_where_it_is_one_or_nearly_one() {
        for (ends, named) in [
            ([1.0, 9.0], &["1", "5", "9"][..]),
            ([1.0, 10.0], &["1", "10"]),
            ([90.0, 101.0], &["90", "101"]),
            ([1.0, 22.0], &["1", "12", "22"]),
        ] {
            assert_eq!(epochs(ends), named);
        }
    }
}
