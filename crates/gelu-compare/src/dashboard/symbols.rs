use super::colours::colour_of;
use ratatui::style::Style;
use ratatui::text::Span;

/// One symbol an activation, so that curves are told apart without colours too.
const SYMBOLS: [char; 7] = ['●', '▲', '■', '◆', '✚', '○', '△'];

/// The symbol of the activation at this position of a comparison.
pub(super) fn symbol(position: usize) -> char {
    SYMBOLS[position % SYMBOLS.len()]
}

/// The symbol of an activation in its colour, for the table.
pub(super) fn key(position: usize) -> Span<'static> {
    Span::styled(symbol(position).to_string(), Style::new().fg(colour_of(position)))
}
