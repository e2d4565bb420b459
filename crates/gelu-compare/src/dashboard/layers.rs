use super::colours::colour_of;
use crate::comparison::layers;
use crate::measure::LayerMeasure;
use crate::runs::ComparisonSnapshot;
use crate::setting::Setting;
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Table, Widget};

/// What is shown, one after the other.
pub(super) const SHOWN: [LayerMeasure; 5] = [
    LayerMeasure::Dead,
    LayerMeasure::Zeros,
    LayerMeasure::Deviation,
    LayerMeasure::Gradient,
    LayerMeasure::Rank,
];

/// Cells of a bar.
const BAR: usize = 10;

/// What the layers do in the context shown: a row a layer, a column an arm.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LayersView {
    heading: String,
    /// Position and name.
    arms: Vec<(usize, String)>,
    rows: Vec<Vec<LayerCell>>,
}

/// A layer of an arm.
#[derive(Clone, Debug, PartialEq)]
struct LayerCell {
    position: usize,
    value: String,
    /// Of the largest of all.
    share: f64,
}

impl LayersView {
    pub(super) fn of(
        snapshot: &ComparisonSnapshot,
        context: Option<&Setting>,
        measure: LayerMeasure,
    ) -> Self {
        let all = layers(snapshot);
        let shown: Vec<_> = all.iter().filter(|arm| Some(&arm.context) == context).collect();
        let count = shown.iter().map(|arm| arm.layers).max().unwrap_or(0);
        let last = |layer| shown.iter().filter_map(move |arm| arm.last(measure, layer));
        // A share is one of all units, whatever the largest is.
        let largest = match measure {
            LayerMeasure::Dead | LayerMeasure::Zeros => 1.0,
            _ => (1..=count).flat_map(last).map(f64::abs).fold(0.0, f64::max),
        };
        let cell = |arm: &&crate::comparison::ArmLayers, layer| {
            let value = arm.last(measure, layer);
            LayerCell {
                position: snapshot.position(&arm.arm),
                value: value.map_or_else(|| "–".to_owned(), |value| measure.unit().shown(value)),
                share: value.map_or(0.0, |value| value.abs() / largest.max(f64::MIN_POSITIVE)),
            }
        };
        let arm = |arm: &&crate::comparison::ArmLayers| {
            (snapshot.position(&arm.arm), snapshot.label(&arm.arm))
        };
        Self {
            heading: format!("{} by layer, after the last epoch", measure.heading()),
            arms: shown.iter().map(arm).collect(),
            rows: (1..=count)
                .map(|layer| shown.iter().map(|arm| cell(arm, layer)).collect())
                .collect(),
        }
    }

    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer) {
        let [heading, body] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
        Line::from(self.heading.as_str()).render(heading, buffer);
        if self.rows.is_empty() {
            let message = "No run has been probed: layers are measured with --probe.";
            Paragraph::new(message).dim().render(body, buffer);
            return;
        }
        let mut header = vec![Cell::from("layer").dim()];
        header.extend(self.arms.iter().map(|(position, name)| {
            Cell::from(Span::styled(name.as_str(), Style::new().fg(colour_of(*position)).bold()))
        }));
        let widths = std::iter::once(Constraint::Length(5))
            .chain(self.arms.iter().map(|_| Constraint::Length(BAR as u16 + 12)));
        let rows = self.rows.iter().zip(1..).map(|(cells, layer): (_, usize)| {
            let cells = cells.iter().map(|cell| Cell::from(bar(cell)));
            std::iter::once(Cell::from(format!("{layer:>5}"))).chain(cells).collect()
        });
        let table: Table<'_> = Table::new(
            rows.collect::<Vec<ratatui::widgets::Row<'_>>>(),
            widths.collect::<Vec<_>>(),
        );
        Widget::render(table.header(header.into_iter().collect()), body, buffer);
    }
}

/// `██████▌    61.2 %`
fn bar(cell: &LayerCell) -> Line<'_> {
    let halves = (cell.share.clamp(0.0, 1.0) * 2.0 * BAR as f64).round() as usize;
    let mut drawn = "█".repeat(halves / 2);
    if halves % 2 == 1 {
        drawn.push('▌');
    }
    let drawn = format!("{drawn:<BAR$} ");
    Line::from(vec![
        Span::styled(drawn, Style::new().fg(colour_of(cell.position))),
        Span::from(cell.value.as_str()),
    ])
}
