use super::colours::colour_of;
use super::symbols::symbol;
use super::view::{ChartView, Series};
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
        // Lines below symbols: a symbol says more than the piece of line it covers. The first
        // activation on top.
        let series = || self.series.iter().rev();
        let datasets = series().map(line).chain(series().map(symbols_of));
        Chart::new(datasets.collect())
            .block(block)
            .x_axis(Axis::default().bounds(x).labels(labels(x, &|epoch| format!("{epoch:.0}"))))
            .y_axis(Axis::default().bounds(y).labels(labels(y, &|value| self.value(value))))
            .legend_position(None)
            .render(area, buffer);
    }
}

impl ChartView {
    /// What the axes span.
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
        // What is never negative needs no axis below 0.
        let floor = if self.logarithmic || low < 0.0 { f64::NEG_INFINITY } else { 0.0 };
        ([first, last.max(first + 1.0)], [(low - room).max(floor), high + room])
    }

    fn value(&self, value: f64) -> String {
        let value = if self.logarithmic { 10f64.powf(value) } else { value };
        if let Some(unit) = self.unit.as_ref().filter(|unit| !unit.sign.is_empty()) {
            return unit.shown(value);
        }
        match value.abs() {
            size if size >= 100.0 => format!("{value:.0}"),
            size if size >= 0.01 || size == 0.0 => format!("{value:.3}"),
            _ => format!("{value:.1e}"),
        }
    }
}

/// Three labels: the chart widget misplaces more.
fn labels(bounds: [f64; 2], format: &dyn Fn(f64) -> String) -> Vec<String> {
    let [low, high] = bounds;
    [low, low + (high - low) / 2.0, high].map(format).to_vec()
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
