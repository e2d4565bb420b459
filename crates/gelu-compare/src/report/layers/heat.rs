//! Layers × epochs as a colour each: a row a measure, a column an arm.

use super::table::NAME;
use crate::comparison::{ArmLayers, layers};
use crate::measure::LayerMeasure;
use crate::report::captions::runs_and_data;
use crate::report::draw::{FAINT, FONT, INK, finished, lines, units};
use crate::runs::ComparisonSnapshot;
use crate::setting::Setting;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// What is drawn, top to bottom, and whether by its logarithm.
const ROWS: [(LayerMeasure, bool); 4] = [
    (LayerMeasure::Dead, false),
    (LayerMeasure::Deviation, true),
    (LayerMeasure::Gradient, true),
    (LayerMeasure::Rank, true),
];

/// In pixels.
const MAP: [i32; 2] = [190, 96];
const LEFT: i32 = 34;
const GAP: i32 = 14;
/// Of the scale of colours, with its numbers.
const SCALE: i32 = 92;
const ROW_TITLE: i32 = 22;
/// Columns of a map at most: more cannot be told apart.
const COLUMNS: usize = 60;
/// Colours that are told apart; equal ones next to each other are one rectangle.
const SHADES: f64 = 40.0;

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// A figure a context, as names of files with SVG documents; none where no run was probed.
pub(in super::super) fn pictures(snapshot: &ComparisonSnapshot) -> Vec<(String, String)> {
    let all = layers(snapshot);
    let mut contexts: Vec<&Setting> = all.iter().map(|arm| &arm.context).collect();
    contexts.dedup();
    let several = contexts.len() > 1;
    let picture = |(index, context): (usize, &&Setting)| {
        let arms: Vec<&ArmLayers> = all.iter().filter(|arm| arm.context == **context).collect();
        let what =
            if several { format!(", {}", context.context(&snapshot.axes)) } else { String::new() };
        let title = format!("{}: what the layers do{what}", snapshot.title);
        let name = if several { format!("{NAME}-{}", index + 1) } else { NAME.to_owned() };
        (name, svg(snapshot, &arms, &title))
    };
    contexts.iter().enumerate().map(picture).collect()
}

fn svg(snapshot: &ComparisonSnapshot, arms: &[&ArmLayers], title: &str) -> String {
    let width = LEFT + (MAP[0] + GAP) * arms.len() as i32 + SCALE;
    let caption =
        format!("across: epochs; down: layers from input to output; {}", runs_and_data(snapshot));
    let pixels = units(width as u32);
    let (title, caption) = (lines(title, pixels, 8.5), lines(&caption, pixels, 5.8));
    let top = 12 + 20 * title.len() as i32;
    let rows: Vec<Row> = ROWS.iter().filter_map(|&(m, log)| Row::of(arms, m, log)).collect();
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
            for (arm, index) in arms.iter().zip(0..) {
                let x = LEFT + index * (MAP[0] + GAP) + MAP[0] / 2;
                write(&root, &snapshot.label(&arm.arm), [x, top + 10], font(14), HPos::Center)?;
            }
            for (row, index) in rows.iter().zip(0..) {
                row.draw(arms, top + 20 + index * (ROW_TITLE + MAP[1] + GAP), &root)?;
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

/// A measure of all arms, on one scale.
struct Row {
    measure: LayerMeasure,
    logarithmic: bool,
    low: f64,
    high: f64,
}

impl Row {
    /// `None` where there is nothing to tell apart.
    fn of(arms: &[&ArmLayers], measure: LayerMeasure, logarithmic: bool) -> Option<Self> {
        let values = arms.iter().flat_map(|arm| arm.values(measure));
        let values: Vec<f64> = values.filter(|value| !logarithmic || *value > 0.0).collect();
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        (low < high).then_some(Self { measure, logarithmic, low, high })
    }

    /// Where a value lies on the scale, from 0 to 1.
    fn place(&self, value: f64) -> f64 {
        let on = |value: f64| if self.logarithmic { value.max(self.low).ln() } else { value };
        ((on(value) - on(self.low)) / (on(self.high) - on(self.low))).clamp(0.0, 1.0)
    }

    fn draw(&self, arms: &[&ArmLayers], top: i32, root: &Area<'_>) -> Drawn {
        let by = if self.logarithmic { " (logarithmic)" } else { "" };
        let title = format!("{}{by}", capital(self.measure.heading()));
        write(root, &title, [LEFT, top + 11], font(13), HPos::Left)?;
        let top = top + ROW_TITLE;
        for (arm, index) in arms.iter().zip(0..) {
            self.map(arm, [LEFT + index * (MAP[0] + GAP), top], root)?;
        }
        let layers = arms.iter().map(|arm| arm.layers).max().unwrap_or(1);
        let height = f64::from(MAP[1]) / layers as f64;
        for layer in [1, layers] {
            let y = f64::from(top) + height * (layer as f64 - 0.5);
            write(root, &layer.to_string(), [LEFT - 5, y as i32], font(12), HPos::Right)?;
            if layers == 1 {
                break;
            }
        }
        self.scale([LEFT + arms.len() as i32 * (MAP[0] + GAP), top], root)
    }

    /// A rectangle a layer and epoch, as far as neighbours differ.
    fn map(&self, arm: &ArmLayers, [left, top]: [i32; 2], root: &Area<'_>) -> Drawn {
        let columns = arm.epochs.min(COLUMNS);
        let x = |column: usize| units(left) + units(MAP[0]) * column as i32 / columns as i32;
        let y = |layer: usize| units(top) + units(MAP[1]) * layer as i32 / arm.layers as i32;
        let epoch = |column: usize| ((column + 1) * arm.epochs).div_ceil(columns);
        let shade = |layer: usize, column: usize| {
            let value = arm.at(self.measure, layer, epoch(column))?;
            Some((self.place(value) * SHADES).round() / SHADES)
        };
        for layer in 1..=arm.layers {
            let mut begin = 0;
            for end in 1..=columns {
                let same = end < columns && shade(layer, end) == shade(layer, begin);
                if same {
                    continue;
                }
                let colour = shade(layer, begin).map_or(FAINT, colour);
                // Each reaches under the next, or the paper would shine through between them.
                let under = |end: i32, most: i32| (end + units(1)).min(units(most));
                let (right, bottom) = (left + MAP[0], top + MAP[1]);
                let corners =
                    [(x(begin), y(layer - 1)), (under(x(end), right), under(y(layer), bottom))];
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
            let shown = self.measure.unit().shown(value).replace('-', "−");
            write(root, &shown, [left + 15, y], font(12), HPos::Left)?;
        }
        Ok(())
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first: String = letters.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    first + letters.as_str()
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
    use crate::report::snapshot_example::{example, probed};

    #[test]
    fn there_is_a_figure_a_context_with_every_arm_and_measure() {
        let pictures = pictures(&probed());
        let names: Vec<&str> = pictures.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["layers-1", "layers-2"]);
        for said in ["GELU", "ReLU", "Dead units", "Norm of the gradient (logarithmic)", "0.5\n"] {
            assert!(pictures[1].1.contains(said), "{said}");
        }
        // The same for every layer and epoch: there is nothing to see.
        assert!(!pictures[0].1.contains("Deviation of"));
        assert!(super::pictures(&example()).is_empty());
    }

    #[test]
    fn equal_neighbours_are_one_rectangle() {
        let mut snapshot = probed();
        for run in &mut snapshot.runs {
            let last = run.epochs.last().unwrap().clone();
            run.epochs = (1..=500)
                .map(|epoch| crate::measure::EpochMetrics { epoch, ..last.clone() })
                .collect();
        }
        let picture = &pictures(&snapshot)[0].1;
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
}
