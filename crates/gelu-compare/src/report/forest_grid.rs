//! Draws the [`Forest`] of verdicts over tasks: tasks × settings, each with its difference and its interval, on one axis.

use super::draw::{FAINT, FONT, INK, decimals, finished, font, lines, units};
use super::forest::{Forest, ForestPanel, ForestRow};
use super::forest_svg::{Area, Drawn, GREY, centred, marks, step};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Sizes in pixels.
const COLUMN: i32 = 118;
const GAP: i32 = 12;
const ROW: i32 = 19;
/// The height of the row of all tasks.
const WHOLE: i32 = 30;
const LINE: i32 = 15;
const AXIS: i32 = 24;
const MARGIN: i32 = 14;
/// The sizes of marks, next to those of a figure with few rows.
const SCALE: f64 = 0.6;

/// Returns the forest plot as an SVG document, or `None` if its panels are not the same tasks at several settings.
pub(super) fn svg(forest: &Forest) -> Option<String> {
    let tasks = tasks(forest)?;
    let widest = tasks.iter().map(|task| task.chars().count()).max().unwrap_or(0) as f64;
    let left = MARGIN + (widest * 7.0) as i32 + GAP;
    let width = left + forest.panels.len() as i32 * (COLUMN + GAP) - GAP + MARGIN;
    let wrapped = |text: &str, letter: f64| lines(text, units(COLUMN as u32), letter);
    let names: Vec<Vec<String>> =
        forest.panels.iter().map(|panel| wrapped(&panel.title, 7.6)).collect();
    let verdicts: Vec<Vec<String>> = forest
        .panels
        .iter()
        .map(|panel| panel.rows.last().map_or_else(Vec::new, |row| wrapped(&row.words, 6.2)))
        .collect();
    let most = |texts: &[Vec<String>]| texts.iter().map(Vec::len).max().unwrap_or(0) as i32;
    let [title, axis, caption] =
        [(&forest.title, 8.5), (&forest.axis, 6.6), (&forest.caption, 5.8)]
            .map(|(text, letter)| lines(text, units(width as u32), letter));
    let top = 14 + 20 * title.len() as i32 + LINE * most(&names);
    let bottom = top + ROW * tasks.len() as i32 + WHOLE;
    let foot = bottom + AXIS + LINE * most(&verdicts) + 14;
    let height = foot + 17 * axis.len() as i32 + 15 * caption.len() as i32 + 6;
    let size = (width as u32, height as u32);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (units(size.0), units(size.1)));
        let root = root.into_drawing_area();
        let draw = || -> Drawn {
            root.fill(&WHITE)?;
            for (line, y) in title.into_iter().zip((18..).step_by(20)) {
                centred(&root, line, [width / 2, y], font(17))?;
            }
            let right = Pos::new(HPos::Right, VPos::Center);
            let labels = tasks.iter().copied().zip((top + ROW / 2..).step_by(ROW as usize));
            for (label, y) in labels.chain([(whole(forest), bottom - WHOLE / 2)]) {
                let at = (units(left - GAP), units(y));
                root.draw(&Text::new(label, at, font(13).pos(right)))?;
            }
            let range = range(forest);
            for ((panel, index), texts) in
                forest.panels.iter().zip(0..).zip(names.into_iter().zip(verdicts))
            {
                let column = Column { x: left + index * (COLUMN + GAP), top, bottom, range };
                column.draw(panel, texts, &root)?;
            }
            for (line, y) in axis.into_iter().zip((foot..).step_by(17)) {
                centred(&root, line, [width / 2, y], font(13))?;
            }
            let below = height - 15 * caption.len() as i32;
            for (line, y) in caption.into_iter().zip((below..).step_by(15)) {
                centred(&root, line, [width / 2, y], font(12).color(&GREY))?;
            }
            Ok(())
        };
        draw().expect("drawing into a string cannot fail");
    }
    Some(finished(&text, size))
}

/// Returns the tasks, if all panels have the same in one order.
fn tasks(forest: &Forest) -> Option<Vec<&str>> {
    let of = |panel: &'_ ForestPanel| -> Vec<String> {
        panel.rows.iter().map(|row| row.label.clone()).collect()
    };
    let [first, others @ ..] = forest.panels.as_slice() else { return None };
    let is_grid = forest.over_tasks
        && !others.is_empty()
        && others.iter().all(|panel| of(panel) == of(first));
    let (_, tasks) = first.rows.split_last().filter(|_| is_grid)?;
    Some(tasks.iter().map(|row| row.label.as_str()).collect())
}

/// Returns the label of the row of all tasks.
fn whole(forest: &Forest) -> &str {
    forest.panels.iter().find_map(|panel| panel.rows.last()).map_or("", |row| &row.label)
}

/// Returns the range of the axis that all columns share.
fn range(forest: &Forest) -> [f64; 2] {
    let rows = forest.panels.iter().flat_map(|panel| panel.rows.iter().cloned());
    let margin = forest.panels.first().map_or(0.0, |panel| panel.margin);
    ForestPanel { title: String::new(), margin, rows: rows.collect() }.range()
}

/// The place of a setting in the figure.
struct Column {
    x: i32,
    top: i32,
    bottom: i32,
    range: [f64; 2],
}

impl Column {
    fn draw(
        &self,
        panel: &ForestPanel,
        (name, verdict): (Vec<String>, Vec<String>),
        root: &Area<'_>,
    ) -> Drawn {
        let Self { x, top, bottom, range: [low, high] } = *self;
        let place = |value: f64| {
            let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
            (f64::from(units(1)) * (f64::from(x) + f64::from(COLUMN) * share)) as i32
        };
        let middle = x + COLUMN / 2;
        let above = top - LINE * name.len() as i32;
        for (line, y) in name.into_iter().zip((above..).step_by(LINE as usize)) {
            centred(root, line, [middle, y + LINE / 2], font(14))?;
        }
        let across = |y: i32| [(units(x), units(y)), (units(x + COLUMN), units(y))];
        for y in [top, bottom - WHOLE] {
            root.draw(&PathElement::new(across(y), FAINT.stroke_width(units(1))))?;
        }
        root.draw(&PathElement::new(across(bottom), INK.stroke_width(units(1))))?;
        let upright = |x: i32| [(x, units(top)), (x, units(bottom))];
        root.draw(&PathElement::new(upright(place(0.0)), INK.stroke_width(units(1))))?;
        let heights = (top + ROW / 2..bottom - WHOLE).step_by(ROW as usize);
        for (row, y) in panel.rows.iter().zip(heights.chain([bottom - WHOLE / 2])) {
            marks(row, units(y), SCALE, self.range, &place, root)?;
        }
        self.numbers(&place, root)?;
        let is_decided = panel.rows.last().is_some_and(|row: &ForestRow| row.decided);
        for (line, y) in verdict.into_iter().zip((bottom + AXIS..).step_by(LINE as usize)) {
            let style = match is_decided {
                true => (FONT, units(12u32), FontStyle::Bold).into_font().color(&INK),
                false => font(12).color(&GREY),
            };
            centred(root, line, [middle, y + LINE / 2], style)?;
        }
        Ok(())
    }

    /// Draws about four numbers on the axis.
    fn numbers(&self, place: &dyn Fn(f64) -> i32, root: &Area<'_>) -> Drawn {
        let [low, high] = self.range;
        let step = step(1.5 * (high - low));
        let digits = decimals(6.0 * step);
        let below = Pos::new(HPos::Center, VPos::Top);
        let mut tick = (low / step).ceil();
        while tick * step <= high {
            let x = place(tick * step);
            let mark = [(x, units(self.bottom)), (x, units(self.bottom + 3))];
            root.draw(&PathElement::new(mark, INK.stroke_width(units(1))))?;
            // Adding 0.0 avoids −0.
            let number = format!("{:.digits$}", tick * step + 0.0).replace('-', "−");
            root.draw(&Text::new(number, (x, units(self.bottom + 5)), font(11).pos(below)))?;
            tick += 1.0;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{forest, numbers};

    /// Returns two settings at the same tasks.
    fn grid() -> Forest {
        let mut forest = forest();
        forest.over_tasks = true;
        for (panel, position) in forest.panels.iter_mut().zip(1..) {
            let all = panel.rows[0].clone();
            let task = |(label, mean): (&str, f64)| ForestRow {
                label: label.to_owned(),
                mean: Some(mean * f64::from(position)),
                interval: Some([mean - 0.1, mean + 0.1]),
                dots: Vec::new(),
                decided: false,
                ..all.clone()
            };
            let tasks = [("wine", -0.1), ("glass", 0.1), ("iris", 0.2)].map(task);
            let whole = ForestRow { label: "all 3 tasks".to_owned(), ..all.clone() };
            panel.rows = tasks.into_iter().chain([whole]).collect();
            panel.title = format!("setting {position}");
        }
        forest
    }

    #[test]
    fn every_task_is_a_row_and_every_setting_a_column() {
        let forest = grid();
        let text = svg(&forest).unwrap();
        let at = |what: &str, which: &str| {
            let before = text.split(&format!(">\n{what}\n")).next().unwrap();
            numbers(&before[before.rfind("<text").unwrap()..], "<text", which)[0]
        };
        let heights = ["wine", "glass", "iris", "all 3 tasks"].map(|label| at(label, "y"));
        assert!(heights.is_sorted_by(|a, b| a < b), "{heights:?}");
        assert!(at("setting 1", "x") < at("setting 2", "x"));
        // Of each setting a bar and a mean for three tasks and for all, and three dots for all.
        assert_eq!(text.matches("<circle").count(), 6);
        let [dot, ..] = numbers(&text, "<circle", "cy")[..] else { panic!("{text}") };
        assert!((dot - at("all 3 tasks", "y")).abs() < f64::from(units(ROW)) / 2.0);
        assert!(text.contains("worse by 0.26"), "{text}");
        assert!(crate::report::png(&text).is_ok());
    }

    #[test]
    fn other_forests_are_no_grid() {
        assert_eq!(svg(&forest()), None);
        let mut one = grid();
        one.panels.truncate(1);
        assert_eq!(svg(&one), None, "one setting has room for words");
        let mut lacking = grid();
        lacking.panels[0].rows.remove(0);
        assert_eq!(svg(&lacking), None, "a task is missing");
    }
}
