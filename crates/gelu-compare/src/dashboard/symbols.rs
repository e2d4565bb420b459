use super::colours::colour_of;
use ratatui::style::Style;
use ratatui::text::Span;

/// One symbol per arm, so that curves differ even without colours.
const SYMBOLS: [char; 7] = ['●', '▲', '■', '◆', '✚', '○', '△'];

/// Returns the symbol of the arm at this position of a comparison.
pub(super) fn symbol(position: usize) -> char {
    SYMBOLS[position % SYMBOLS.len()]
}

/// Returns the symbol of an arm in its colour, for the table.
pub(super) fn key(position: usize) -> Span<'static> {
    Span::styled(symbol(position).to_string(), Style::new().fg(colour_of(position)))
}
