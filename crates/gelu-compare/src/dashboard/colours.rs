use ratatui::style::Color;

/// The colours of `comparison::colour` among the 256 colours of terminals, readable on dark and on light backgrounds.
const COLOURS: [u8; 11] = [33, 166, 36, 175, 178, 74, 142, 99, 125, 244, 130];

/// Returns the colour of the arm at this position of a comparison.
pub(super) fn colour_of(position: usize) -> Color {
    Color::Indexed(COLOURS[position % COLOURS.len()])
}
