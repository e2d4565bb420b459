//! The dashboard as an SVG image, drawn from the same cells as on a terminal.

use super::app::{App, Mode};
use super::clock::Clock;
use super::view::View;
use crate::runs::Snapshot;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};
use std::fmt::Write;

const COLUMNS: u16 = 100;
const ROWS: u16 = 30;
/// Size of a cell in the image's units.
const CELL: (f64, f64) = (8.4, 18.0);
const PAPER: &str = "#16181d";
const INK: &str = "#d6d8dc";

/// Returns the dashboard of a comparison as an SVG document of 100×30 cells.
pub fn picture(snapshot: &Snapshot) -> String {
    let area = Rect::new(0, 0, COLUMNS, ROWS);
    let mut buffer = Buffer::empty(area);
    View::of(&App::new(Mode::Watching), snapshot, Clock::start().read(snapshot))
        .render_to(area, &mut buffer);
    svg(&buffer)
}

fn svg(buffer: &Buffer) -> String {
    let area = buffer.area();
    let (width, height) = (f64::from(area.width) * CELL.0, f64::from(area.height) * CELL.1);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"-12 -12 {} {}\" font-family=\"\
         ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\">\n\
         <rect x=\"-12\" y=\"-12\" width=\"100%\" height=\"100%\" rx=\"8\" fill=\"{PAPER}\"/>\n",
        width + 24.0,
        height + 24.0
    );
    for row in 0..area.height {
        for column in 0..area.width {
            if let Some(cell) = buffer.cell((column, row)) {
                draw(cell, f64::from(column) * CELL.0, f64::from(row) * CELL.1, &mut text);
            }
        }
    }
    text.push_str("</svg>\n");
    text
}

fn draw(cell: &Cell, x: f64, y: f64, text: &mut String) {
    let reversed = cell.modifier.contains(Modifier::REVERSED);
    let (ink, paper) = (hex(cell.fg).unwrap_or(INK.into()), hex(cell.bg));
    let (ink, paper) = match reversed {
        true => (paper.unwrap_or(PAPER.into()), Some(ink)),
        false => (ink, paper),
    };
    if let Some(paper) = paper {
        let (width, height) = (CELL.0 + 0.2, CELL.1 + 0.2);
        put(
            text,
            format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width}\" height=\"{height}\" fill=\"{paper}\"/>\n"
            ),
        );
    }
    let opacity = if cell.modifier.contains(Modifier::DIM) { 0.6 } else { 1.0 };
    let symbol = cell.symbol().chars().next().unwrap_or(' ');
    match symbol {
        ' ' => {}
        '\u{2800}'..='\u{28ff}' => braille(symbol, x, y, &ink, text),
        '█' => put(
            text,
            format_args!(
                "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{0}\" height=\"{1}\" fill=\"{ink}\"/>\n",
                CELL.0 + 0.2,
                CELL.1 + 0.2
            ),
        ),
        '─' | '│' | '┌' | '┐' | '└' | '┘' => frame(symbol, x, y, &ink, text),
        _ => {
            let weight =
                if cell.modifier.contains(Modifier::BOLD) { " font-weight=\"bold\"" } else { "" };
            let (x, y) = (x + CELL.0 / 2.0, y + 13.5);
            let symbol = match symbol {
                '<' => "&lt;".to_owned(),
                '&' => "&amp;".to_owned(),
                other => other.to_string(),
            };
            put(
                text,
                format_args!(
                    "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"middle\" fill=\"{ink}\" opacity=\"{opacity}\"{weight}>{symbol}</text>\n"
                ),
            );
        }
    }
}

/// Draws a Braille character as dots, so that curves need no font.
fn braille(symbol: char, x: f64, y: f64, ink: &str, text: &mut String) {
    const DOTS: [(u32, f64, f64); 8] = [
        (0x01, 0.25, 0.125),
        (0x02, 0.25, 0.375),
        (0x04, 0.25, 0.625),
        (0x08, 0.75, 0.125),
        (0x10, 0.75, 0.375),
        (0x20, 0.75, 0.625),
        (0x40, 0.25, 0.875),
        (0x80, 0.75, 0.875),
    ];
    let pattern = u32::from(symbol) - 0x2800;
    for (_, right, down) in DOTS.into_iter().filter(|dot| pattern & dot.0 != 0) {
        let (cx, cy) = (x + right * CELL.0, y + down * CELL.1);
        put(
            text,
            format_args!("<circle cx=\"{cx:.1}\" cy=\"{cy:.1}\" r=\"1.7\" fill=\"{ink}\"/>\n"),
        );
    }
}

/// Draws a box-drawing character as lines from the middle of the cell to the sides that the character reaches.
fn frame(symbol: char, x: f64, y: f64, ink: &str, text: &mut String) {
    let (left, right, up, down) = match symbol {
        '─' => (true, true, false, false),
        '│' => (false, false, true, true),
        '┌' => (false, true, false, true),
        '┐' => (true, false, false, true),
        '└' => (false, true, true, false),
        _ => (true, false, true, false),
    };
    let (middle, centre) = (x + CELL.0 / 2.0, y + CELL.1 / 2.0);
    let ends = [
        (left, x, centre),
        (right, x + CELL.0, centre),
        (up, middle, y),
        (down, middle, y + CELL.1),
    ];
    for (_, to_x, to_y) in ends.into_iter().filter(|end| end.0) {
        put(
            text,
            format_args!(
                "<path d=\"M{middle:.1} {centre:.1}L{to_x:.1} {to_y:.1}\" stroke=\"{ink}\" opacity=\"0.6\"/>\n"
            ),
        );
    }
}

fn put(text: &mut String, element: std::fmt::Arguments<'_>) {
    text.write_fmt(element).expect("writing to memory cannot fail");
}

/// Returns a terminal's colour as hexadecimal text; `None` for the terminal's default colour.
fn hex(colour: Color) -> Option<String> {
    let [red, green, blue] = match colour {
        Color::White => [255, 255, 255],
        Color::Rgb(red, green, blue) => [red, green, blue],
        // The colour cube and the greys of the 256 colours.
        Color::Indexed(index @ 16..=231) => {
            let level = |step: u8| if step == 0 { 0 } else { 55 + 40 * step };
            let index = index - 16;
            [level(index / 36), level(index / 6 % 6), level(index % 6)]
        }
        Color::Indexed(index @ 232..) => [8 + 10 * (index - 232); 3],
        _ => return None,
    };
    Some(format!("#{red:02x}{green:02x}{blue:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::example;

    #[test]
    fn picture_is_an_svg_with_the_curves_and_the_words() {
        let text = picture(&example());
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"));
        assert!(text.matches("<circle").count() > 100, "curves are dots");
        assert!(crate::report::png(&text).is_ok());
    }

    #[test]
    fn indexed_colours_are_those_of_terminals() {
        assert_eq!(hex(Color::Indexed(33)).as_deref(), Some("#0087ff"));
        assert_eq!(hex(Color::Indexed(238)).as_deref(), Some("#444444"));
        assert_eq!(hex(Color::Reset), None);
    }
}
