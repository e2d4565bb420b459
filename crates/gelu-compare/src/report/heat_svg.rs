//! A [heat map](HeatMap) as SVG.

use super::draw::{FAINT, FONT, INK, finished, lines, units};
use super::heat::{HeatMap, HeatRow};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Sizes in pixels.
const MAP: [i32; 2] = [190, 96];
const LEFT: i32 = 34;
const GAP: i32 = 14;
/// The width of the colour scale with its numbers.
const SCALE: i32 = 92;
const ROW_TITLE: i32 = 22;
/// The maximum number of columns in a map. The eye cannot distinguish more.
const COLUMNS: usize = 60;
/// The number of different colours. Equal colours next to each other become one rectangle.
const SHADES: f64 = 40.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Draws heat maps as an SVG document. Leaves out rows whose values are all equal.
pub fn svg(map: &HeatMap) -> String {
    let width = LEFT + (MAP[0] + GAP) * map.columns.len() as i32 + SCALE;
    let pixels = units(width as u32);
    let (title, caption) = (lines(&map.title, pixels, 8.5), lines(&map.caption, pixels, 5.8));
    let top = 12 + 20 * title.len() as i32;
    let rows: Vec<Row<'_>> = map.rows.iter().filter_map(Row::of).collect();
    let body = 20 + rows.len() as i32 * (ROW_TITLE + MAP[1] + GAP);
    let size = (width as u32, (top + body + 15 * caption.len() as i32 + 12) as u32);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (units(size.0), units(size.1)));
        let root = root.into_drawing_area();
        let draw = || -> Drawn {
            root.fill(&WHITE)?;
            for (line, index) in title.iter().zip(0..) {
                write(&root, line, [width / 2, 18 + 20 * index], font(17), HPos::Center)?;
            }
            for (column, index) in map.columns.iter().zip(0..) {
                let x = LEFT + index * (MAP[0] + GAP) + MAP[0] / 2;
                write(&root, column, [x, top + 10], font(14), HPos::Center)?;
            }
            for (row, index) in rows.iter().zip(0..) {
                row.draw(top + 20 + index * (ROW_TITLE + MAP[1] + GAP), &root)?;
            }
            let grey = RGBColor(90, 90, 90);
            for (line, index) in caption.iter().zip(0..) {
                let at = [width / 2, top + body + 8 + 15 * index];
                write(&root, line, at, font(12).color(&grey), HPos::Center)?;
            }
            Ok(())
        };
        draw().expect("drawing into a string cannot fail");
    }
    finished(&text, size)
}

fn font(size: u32) -> TextStyle<'static> {
    (FONT, units(size)).into_font().color(&INK)
}

fn write(root: &Area<'_>, text: &str, [x, y]: [i32; 2], style: TextStyle<'_>, side: HPos) -> Drawn {
    let style = style.pos(Pos::new(side, VPos::Center));
    root.draw(&Text::new(text, (units(x), units(y)), style))
}

/// A row with the ends of its scale.
struct Row<'a> {
    row: &'a HeatRow,
    low: f64,
    high: f64,
}

impl<'a> Row<'a> {
    /// `None` where there is nothing to tell apart.
    fn of(row: &'a HeatRow) -> Option<Self> {
        let values = row.fields.iter().flatten().flatten().flatten().copied();
        let values: Vec<f64> = values.filter(|value| !row.logarithmic || *value > 0.0).collect();
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        (low < high).then_some(Self { row, low, high })
    }

    /// Where a value lies on the scale, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let on = |value: f64| if self.row.logarithmic { value.max(self.low).ln() } else { value };
        ((on(value) - on(self.low)) / (on(self.high) - on(self.low))).clamp(0.0, 1.0)
    }

    fn draw(&self, top: i32, root: &Area<'_>) -> Drawn {
        let by = if self.row.logarithmic { " (logarithmic)" } else { "" };
        write(root, &format!("{}{by}", self.row.title), [LEFT, top + 11], font(13), HPos::Left)?;
        let top = top + ROW_TITLE;
        for (field, index) in self.row.fields.iter().zip(0..) {
            self.field(field, [LEFT + index * (MAP[0] + GAP), top], root)?;
        }
        let count = self.row.fields.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let height = f64::from(MAP[1]) / count as f64;
        for line in [1, count] {
            let y = f64::from(top) + height * (line as f64 - 0.5);
            write(root, &line.to_string(), [LEFT - 5, y as i32], font(12), HPos::Right)?;
            if count == 1 {
                break;
            }
        }
        self.scale([LEFT + self.row.fields.len() as i32 * (MAP[0] + GAP), top], root)
    }

    /// A rectangle per value, as far as neighbours differ.
    fn field(&self, field: &[Vec<Option<f64>>], [left, top]: [i32; 2], root: &Area<'_>) -> Drawn {
        let length = field.iter().map(Vec::len).max().unwrap_or(0);
        let columns = length.min(COLUMNS);
        let x = |column: usize| units(left) + units(MAP[0]) * column as i32 / columns as i32;
        let y = |line: usize| units(top) + units(MAP[1]) * line as i32 / field.len() as i32;
        let place = |column: usize| ((column + 1) * length).div_ceil(columns) - 1;
        let shade = |line: usize, column: usize| {
            let value = field[line].get(place(column)).copied().flatten()?;
            Some((self.place(value) * SHADES).round() / SHADES)
        };
        for line in 0..field.len() {
            let mut begin = 0;
            for end in 1..=columns {
                let same = end < columns && shade(line, end) == shade(line, begin);
                if same {
                    continue;
                }
                let colour = shade(line, begin).map_or(FAINT, colour);
                // Each reaches under the next, or the paper would shine through between them.
                let under = |end: i32, most: i32| (end + units(1)).min(units(most));
                let (right, bottom) = (left + MAP[0], top + MAP[1]);
                let corners =
                    [(x(begin), y(line)), (under(x(end), right), under(y(line + 1), bottom))];
                root.draw(&Rectangle::new(corners, colour.filled()))?;
                begin = end;
            }
        }
        let frame = [(units(left), units(top)), (units(left + MAP[0]), units(top + MAP[1]))];
        root.draw(&Rectangle::new(frame, INK.stroke_width(units(1))))
    }

    fn scale(&self, [left, top]: [i32; 2], root: &Area<'_>) -> Drawn {
        let steps = SHADES as i32;
        let y = |step: i32| units(top + MAP[1]) - units(MAP[1]) * step / steps;
        for step in 0..steps {
            let above = (y(step + 1) - units(1)).max(units(top));
            let corners = [(units(left), above), (units(left + 10), y(step))];
            let shade = colour((f64::from(step) + 0.5) / SHADES);
            root.draw(&Rectangle::new(corners, shade.filled()))?;
        }
        for (value, y) in [(self.high, top + 6), (self.low, top + MAP[1] - 6)] {
            let shown = self.row.unit.shown(value).replace('-', "−");
            write(root, &shown, [left + 15, y], font(12), HPos::Left)?;
        }
        Ok(())
    }
}

/// From dark blue over green to yellow, as light as the share is high: told apart without colours too.
fn colour(share: f64) -> RGBColor {
    const STOPS: [[f64; 3]; 5] = [
        [68.0, 1.0, 84.0],
        [59.0, 82.0, 139.0],
        [33.0, 145.0, 140.0],
        [94.0, 201.0, 98.0],
        [253.0, 231.0, 37.0],
    ];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let below = (place as usize).min(STOPS.len() - 2);
    let part = place - below as f64;
    let mix = |channel: usize| {
        let (from, to) = (STOPS[below][channel], STOPS[below + 1][channel]);
        (from + (to - from) * part).round() as u8
    };
    RGBColor(mix(0), mix(1), mix(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Unit;
    use crate::report::example::numbers;

    fn map(values: [f64; 500]) -> HeatMap {
        let row = |title: &str, logarithmic, value: f64| HeatRow {
            title: title.to_owned(),
            unit: Unit::own(0),
            logarithmic,
            fields: vec![vec![values.map(|v| Some(v * value)).to_vec(), vec![None; 500]]; 2],
        };
        HeatMap {
            title: "Digits".to_owned(),
            caption: "across: epochs".to_owned(),
            columns: vec!["GELU".to_owned(), "ReLU".to_owned()],
            rows: vec![
                row("Dead units", false, 1.0),
                row("Norm", true, 0.5),
                row("Equal", true, 0.0),
            ],
        }
    }

    #[test]
    fn every_column_and_row_is_named_and_rows_without_differences_are_left_out() {
        let picture = svg(&map(std::array::from_fn(|epoch| 1.0 + epoch as f64)));
        for said in ["Digits", "GELU", "ReLU", "Dead units", "Norm (logarithmic)", "250"] {
            assert!(picture.contains(said), "{said}");
        }
        assert!(!picture.contains("Equal"));
        let [height] = numbers(&picture, "<svg", "height")[..] else { panic!("no height") };
        let caption = *numbers(&picture, "<text", "y").last().unwrap();
        let tops = numbers(&picture, "<rect", "y");
        let maps = tops.iter().copied().fold(0.0, f64::max);
        assert!(maps < caption && caption < units(height), "{maps} {caption} {height}");
    }

    #[test]
    fn equal_neighbours_are_one_rectangle() {
        let mut values = [1.0; 500];
        values[0] = 2.0;
        let picture = svg(&map(values));
        assert!(picture.len() < 60_000, "{} bytes", picture.len());
    }

    #[test]
    fn colours_go_from_dark_to_light() {
        let light = |share: f64| {
            let RGBColor(r, g, b) = colour(share);
            0.3 * f64::from(r) + 0.6 * f64::from(g) + 0.1 * f64::from(b)
        };
        let all: Vec<f64> = (0..=20).map(|step| light(f64::from(step) / 20.0)).collect();
        assert!(all.is_sorted(), "{all:?}");
        assert_eq!((colour(0.0), colour(2.0)), (RGBColor(68, 1, 84), RGBColor(253, 231, 37)));
    }

    #[test]
    fn a_layer_has_its_share_of_the_height() {
        let picture = svg(&map(std::array::from_fn(|epoch| 1.0 + epoch as f64)));
        let heights = numbers(&picture, "<rect", "height");
        // Each field has two layers, one of them with many shades.
        let half = f64::from(units(MAP[1] / 2));
        let layers = heights.iter().filter(|&&height| (half..1.2 * half).contains(&height)).count();
        assert!(layers > 4 * 20, "{layers} of {heights:?}");
    }
}
