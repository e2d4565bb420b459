//! Draws the tables of bars that extensions provide.

use super::colours::colour_of;
use crate::extension::{BarCell, BarTable, DashboardBars};
use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Style, Stylize};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Cell, Paragraph, Table, Widget};

/// Number of cells of a bar.
const BAR: usize = 10;

/// One table of bars.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct BarsView {
    table: BarTable,
    /// The heading of the rows.
    row: &'static str,
    nothing: &'static str,
}

impl BarsView {
    /// Returns the table at `place`; `None` if there is no such table.
    pub(super) fn of(bars: &DashboardBars, place: usize) -> Option<Self> {
        let table = bars.tables.get(place)?.clone();
        Some(Self { table, row: bars.row, nothing: bars.nothing })
    }

    pub(super) fn render(&self, area: Rect, buffer: &mut Buffer) {
        let [heading, body] =
            Layout::vertical([Constraint::Length(1), Constraint::Fill(1)]).areas(area);
        Line::from(self.table.heading.as_str()).render(heading, buffer);
        if self.table.rows.is_empty() {
            Paragraph::new(self.nothing).dim().render(body, buffer);
            return;
        }
        let mut header = vec![Cell::from(self.row).dim()];
        header.extend(self.table.columns.iter().map(|(position, name)| {
            Cell::from(Span::styled(name.as_str(), Style::new().fg(colour_of(*position)).bold()))
        }));
        let width = self.row.chars().count();
        let widths = std::iter::once(Constraint::Length(width as u16))
            .chain(self.table.columns.iter().map(|_| Constraint::Length(BAR as u16 + 12)));
        let rows = self.table.rows.iter().zip(1..).map(|(cells, row): (_, usize)| {
            let cells = cells.iter().zip(&self.table.columns);
            let cells = cells.map(|(cell, (position, _))| Cell::from(bar(cell, *position)));
            std::iter::once(Cell::from(format!("{row:>width$}"))).chain(cells).collect()
        });
        let table: Table<'_> = Table::new(
            rows.collect::<Vec<ratatui::widgets::Row<'_>>>(),
            widths.collect::<Vec<_>>(),
        );
        Widget::render(table.header(header.into_iter().collect()), body, buffer);
    }
}

/// Returns a bar with its value: `██████▌    61.2 %`.
fn bar(cell: &BarCell, position: usize) -> Line<'_> {
    let halves = (cell.share.clamp(0.0, 1.0) * 2.0 * BAR as f64).round() as usize;
    let mut drawn = "█".repeat(halves / 2);
    if halves % 2 == 1 {
        drawn.push('▌');
    }
    let drawn = format!("{drawn:<BAR$} ");
    Line::from(vec![
        Span::styled(drawn, Style::new().fg(colour_of(position))),
        Span::from(cell.value.as_str()),
    ])
}
