//! Draws a [`Forest`] as SVG, narrow enough for a phone: a row's words are above its bar, not next to it. Verdicts over
//! tasks at several settings are a [grid](super::forest_grid) instead.

use super::draw::{FAINT, FONT, INK, decimals, finished, font, lines, units};
use super::forest::{Forest, ForestPanel, ForestRow};
use crate::comparison::colour;
use plotters::element::DashedPathElement;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Sizes in pixels.
const WIDTH: u32 = 440;
const MIDDLE: i32 = WIDTH as i32 / 2;
const ROW: i32 = 46;
/// The additional height of a row whose words need their own line.
const LINE: i32 = 17;
/// The height of an axis with its numbers.
const AXIS: i32 = 30;
const PANEL_TITLE: i32 = 22;
/// The space to the left and right of the rows.
const MARGIN: i32 = 14;
pub(super) const GREY: RGBColor = RGBColor(90, 90, 90);

pub(super) type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;
pub(super) type Drawn = Result<(), DrawingAreaErrorKind<std::io::Error>>;

/// Returns the forest plot as an SVG document.
pub(crate) fn svg(forest: &Forest) -> String {
    if let Some(grid) = super::forest_grid::svg(forest) {
        return grid;
    }
    let (title, caption) =
        (lines(&forest.title, units(WIDTH), 8.5), lines(&forest.caption, units(WIDTH), 5.8));
    let axis = lines(&forest.axis, units(WIDTH), 6.6);
    let head = 12 + 20 * title.len() as i32;
    let body: i32 = forest.panels.iter().map(height).sum();
    let foot = 17 * axis.len() as i32 + 15 * caption.len() as i32 + 14;
    let size = (WIDTH, (head + body + foot) as u32);
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, (units(size.0), units(size.1)));
        let root = root.into_drawing_area();
        let draw = || -> Drawn {
            root.fill(&WHITE)?;
            let mut y = 18;
            for line in title {
                centred(&root, line, [MIDDLE, y], font(17))?;
                y += 20;
            }
            let mut top = head;
            for panel in &forest.panels {
                draw_panel(panel, top, &root)?;
                top += height(panel);
            }
            let mut y = top + 6;
            for line in axis {
                centred(&root, line, [MIDDLE, y], font(13))?;
                y += 17;
            }
            for line in caption {
                centred(&root, line, [MIDDLE, y + 2], font(12).color(&GREY))?;
                y += 15;
            }
            Ok(())
        };
        draw().expect("drawing into a string cannot fail");
    }
    finished(&text, size)
}

fn height(panel: &ForestPanel) -> i32 {
    let title = if panel.title.is_empty() { 0 } else { PANEL_TITLE };
    title + panel.rows.iter().map(row_height).sum::<i32>() + AXIS
}

fn row_height(row: &ForestRow) -> i32 {
    if is_crowded(row) { ROW + LINE } else { ROW }
}

/// Returns whether label and words do not fit into one line, by the average letter widths of their fonts.
fn is_crowded(row: &ForestRow) -> bool {
    let width = |text: &str, letter: f64| text.chars().count() as f64 * letter;
    let gap = 10.0;
    width(&row.label, 6.8) + gap + width(&row.words, 6.2) > f64::from(WIDTH as i32 - 2 * MARGIN)
}

pub(super) fn centred(
    root: &Area<'_>,
    line: String,
    [x, y]: [i32; 2],
    style: TextStyle<'_>,
) -> Drawn {
    let centre = Pos::new(HPos::Center, VPos::Center);
    root.draw(&Text::new(line, (units(x), units(y)), style.pos(centre)))
}

fn draw_panel(panel: &ForestPanel, top: i32, root: &Area<'_>) -> Drawn {
    let [low, high] = panel.range();
    let place = |value: f64| {
        let (left, room) = (f64::from(MARGIN), f64::from(WIDTH as i32 - 2 * MARGIN));
        let share = ((value - low) / (high - low)).clamp(0.0, 1.0);
        (f64::from(units(1)) * (left + room * share)) as i32
    };
    let mut first = top;
    if !panel.title.is_empty() {
        let at = (units(MARGIN), units(top + 8));
        let left = Pos::new(HPos::Left, VPos::Center);
        root.draw(&Text::new(panel.title.as_str(), at, font(14).color(&GREY).pos(left)))?;
        first += PANEL_TITLE;
    }
    let bottom = first + panel.rows.iter().map(row_height).sum::<i32>();
    let upright = |x: i32| [(x, units(first)), (x, units(bottom))];
    for margin in [-panel.margin, panel.margin].into_iter().filter(|m| low <= *m && *m <= high) {
        root.draw(&DashedPathElement::new(
            upright(place(margin)),
            units(4),
            units(3),
            GREY.stroke_width(units(1)),
        ))?;
    }
    root.draw(&PathElement::new(upright(place(0.0)), INK.stroke_width(units(1))))?;
    let mut y = first;
    for row in &panel.rows {
        draw_row(row, y, [low, high], &place, root)?;
        y += row_height(row);
    }
    // Drawn after the rows, so that their white backgrounds do not cover it.
    let mut y = first;
    for row in &panel.rows {
        y += row_height(row);
        let ends = [(units(MARGIN), units(y)), (units(WIDTH as i32 - MARGIN), units(y))];
        root.draw(&PathElement::new(ends, FAINT.stroke_width(units(1))))?;
    }
    let ends = [(units(MARGIN), units(bottom)), (units(WIDTH as i32 - MARGIN), units(bottom))];
    root.draw(&PathElement::new(ends, INK.stroke_width(units(1))))?;
    let below = Pos::new(HPos::Center, VPos::Top);
    let step = step(high - low);
    let digits = decimals(6.0 * step);
    let mut tick = (low / step).ceil();
    while tick * step <= high {
        let x = place(tick * step);
        let mark = [(x, units(bottom)), (x, units(bottom + 4))];
        root.draw(&PathElement::new(mark, INK.stroke_width(units(1))))?;
        // Adding 0.0 avoids −0.
        let number = format!("{:.digits$}", tick * step + 0.0).replace('-', "−");
        root.draw(&Text::new(number, (x, units(bottom + 7)), font(12).pos(below)))?;
        tick += 1.0;
    }
    Ok(())
}

/// Returns a distance for about six numbers on an axis: 1, 2 or 5 times a power of ten.
pub(super) fn step(span: f64) -> f64 {
    let least = span / 6.0;
    // The number is parsed rather than computed, because computed powers differ in their last digits between systems.
    let power: f64 = format!("1e{}", least.log10().floor()).parse().unwrap_or(1.0);
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|times| times * power)
        .find(|s| *s >= least)
        .unwrap_or(power)
}

fn draw_row(
    row: &ForestRow,
    y: i32,
    range: [f64; 2],
    place: &dyn Fn(f64) -> i32,
    root: &Area<'_>,
) -> Drawn {
    let words = match row.decided {
        true => (FONT, units(13u32), FontStyle::Bold).into_font().color(&INK),
        false => font(13).color(&GREY),
    };
    let below = row_height(row) - ROW;
    let (text, middle) = (units(y + 12), units(y + 32 + below));
    let (left, right) = (Pos::new(HPos::Left, VPos::Center), Pos::new(HPos::Right, VPos::Center));
    // The background hides the zero line and the margins behind the words.
    let background =
        [(units(MARGIN), units(y)), (units(WIDTH as i32 - MARGIN), units(y + 21 + below))];
    root.draw(&Rectangle::new(background, WHITE.filled()))?;
    root.draw(&Text::new(row.label.as_str(), (units(MARGIN), text), font(14).pos(left)))?;
    let end = (units(WIDTH as i32 - MARGIN), units(y + 12 + below));
    root.draw(&Text::new(row.words.as_str(), end, words.pos(right)))?;
    marks(row, middle, 1.0, range, place, root)
}

/// Draws the bar, the dots, the mean and the arrows of a row at the height `middle`, in sizes times `scale`.
pub(super) fn marks(
    row: &ForestRow,
    middle: i32,
    scale: f64,
    range: [f64; 2],
    place: &dyn Fn(f64) -> i32,
    root: &Area<'_>,
) -> Drawn {
    let within = |value: &f64| (range[0]..=range[1]).contains(value);
    let [red, green, blue] = colour(row.position);
    let colour = RGBColor(red, green, blue);
    let sized = |pixels: i32| (f64::from(units(pixels)) * scale) as i32;
    if let Some([low, high]) = row.wider {
        let thin = [(place(low), middle), (place(high), middle)];
        root.draw(&PathElement::new(thin, colour.stroke_width(sized(2) as u32)))?;
    }
    if let Some([low, high]) = row.interval {
        let bar = [(place(low), middle), (place(high), middle)];
        root.draw(&PathElement::new(bar, colour.mix(0.55).stroke_width(sized(7) as u32)))?;
    }
    for dot in row.dots.iter().copied().filter(within) {
        let at = (place(dot), middle);
        root.draw(&Circle::new(at, sized(3), INK.mix(0.45).filled()))?;
    }
    if let Some(mean) = row.mean.filter(within) {
        let x = place(mean);
        let mark = [(x, middle - sized(8)), (x, middle + sized(8))];
        root.draw(&PathElement::new(mark, colour.stroke_width(sized(3) as u32)))?;
    }
    for ((beyond, end), inwards) in row.beyond(range).into_iter().zip(range).zip([1, -1]) {
        if beyond {
            let (tip, back) = (place(end), place(end) + inwards * sized(9));
            let arrow = [(tip, middle), (back, middle - sized(6)), (back, middle + sized(6))];
            root.draw(&Polygon::new(arrow, colour.filled()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::example::{forest, numbers};

    #[test]
    fn every_row_is_drawn_with_its_label_its_words_and_its_dots() {
        let forest = forest();
        let text = svg(&forest);
        assert_eq!(text.matches("ReLU").count(), 2);
        assert_eq!(text.matches("<circle").count(), 6);
        for row in forest.panels.iter().flat_map(|panel| &panel.rows) {
            assert!(text.contains(&row.words), "{}", row.words);
        }
        let [height] = numbers(&text, "<svg", "height")[..] else { panic!("{text}") };
        let (height, row) = (units(height), f64::from(units(ROW)));
        let [dots, names] = [numbers(&text, "<circle", "cy"), numbers(&text, "<text", "y")];
        assert!(dots.iter().chain(&names).all(|&y| 0.0 < y && y < height), "{dots:?} {names:?}");
        assert!(height - names.last().unwrap() < row, "the caption ends the figure");
        let of_rows: Vec<f64> = dots.iter().step_by(3).copied().collect();
        assert!(of_rows.is_sorted_by(|a, b| a + row / 2.0 < *b), "{of_rows:?}");
        assert!(crate::report::png(&text).is_ok());
    }

    #[test]
    fn no_upright_line_strikes_through_a_name() {
        let text = svg(&forest());
        let names: Vec<&str> = text.split("\nReLU\n").collect();
        assert_eq!(names.len(), 3);
        for before in &names[..2] {
            let [line, paper] = ["<polyline", "<rect"].map(|what| before.rfind(what).unwrap());
            let paper = (line < paper).then(|| &before[paper..]).expect("paper below the name");
            assert!(paper.contains(r##"opacity="1" fill="#FFFFFF""##), "{paper}");
        }
    }

    #[test]
    fn what_holds_for_wider_is_a_thinner_and_longer_line() {
        let mut forest = forest();
        let lines = |forest: &Forest| svg(forest).matches("<polyline").count();
        let without = lines(&forest);
        let row = &mut forest.panels[0].rows[0];
        // The wider interval equals the bar, so that the axis keeps its number of ticks.
        row.wider = row.interval;
        assert_eq!(lines(&forest), without + 1);
        let [low, high] = forest.panels[0].rows[0].interval.unwrap();
        forest.panels[0].rows[0].wider = Some([low - 0.1, high + 0.1]);
        let [from, to] = forest.panels[0].range();
        assert!(from < low - 0.1 && to > high + 0.1, "the axis has room for it: {from} {to}");
    }

    #[test]
    fn rows_of_diverged_or_equal_runs_can_be_drawn() {
        let mut forest = forest();
        let row = &mut forest.panels[0].rows[0];
        (row.dots, row.mean, row.interval) = (vec![f64::INFINITY, f64::NEG_INFINITY], None, None);
        let row = &mut forest.panels[1].rows[0];
        (row.dots, row.mean, row.interval) = (vec![0.0; 3], Some(0.0), Some([0.0, 0.0]));
        forest.panels[1].margin = 0.0;
        let text = svg(&forest);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    }

    #[test]
    fn a_row_far_beyond_the_others_is_an_arrow_and_leaves_them_their_axis() {
        let mut panel = forest().panels.remove(0);
        let mut row = panel.rows.remove(0);
        (row.dots, row.mean, row.interval) = (vec![-0.1, 0.3], Some(0.1), Some([-0.2, 0.4]));
        let far = ForestRow {
            dots: vec![80.0, 84.0, f64::INFINITY],
            mean: None,
            interval: None,
            ..row.clone()
        };
        panel.rows = vec![row.clone(), row.clone(), far.clone()];
        let range = panel.range();
        assert!(range[1] < 1.0, "{range:?}");
        assert_eq!(far.beyond(range), [false, true]);
        assert_eq!(row.beyond(range), [false, false]);
        let whole = forest();
        let text = svg(&Forest { panels: vec![panel.clone()], ..whole });
        assert_eq!((text.matches("<circle").count(), text.matches("<polygon").count()), (4, 1));
        // With two rows, neither is an outlier.
        panel.rows = vec![row, far];
        assert!(panel.range()[1] > 84.0);
    }

    #[test]
    fn a_long_label_has_its_words_below_it() {
        let mut forest = forest();
        let heights = |forest: &Forest| -> i32 { forest.panels.iter().map(height).sum() };
        let before = heights(&forest);
        let row = &mut forest.panels[0].rows[0];
        row.words = "better by 0.00333 (0.00262 to 0.00403), 12 seeds".into();
        row.label = "squared ReLU".into();
        assert_eq!(heights(&forest), before);
        forest.panels[0].rows[0].label = "smooth squared ReLU".into();
        assert_eq!(heights(&forest), before + LINE);
        let text = svg(&forest);
        // The vertical positions of the label and of the words, which end at the margin.
        let at = |what: &str| -> i32 {
            let before = text.split(what).next().unwrap();
            let start = before.rfind(" y=\"").unwrap() + 4;
            before[start..].split('"').next().unwrap().parse().unwrap()
        };
        assert_eq!(at("better by 0.00333") - at("smooth squared ReLU"), units(LINE));
    }

    #[test]
    fn numbers_on_an_axis_are_round() {
        assert_eq!([step(6.0), step(7.0), step(20.0), step(0.0375)], [1.0, 2.0, 5.0, 0.01]);
    }

    #[test]
    fn the_title_is_in_the_middle_and_a_background_has_the_height_of_its_text() {
        let mut forest = forest();
        let text = svg(&forest);
        let title = text.split("Digits: verdicts").next().unwrap();
        let [.., middle] = numbers(title, "<text", "x")[..] else { panic!("{title}") };
        assert_eq!(middle, f64::from(units(WIDTH)) / 2.0);
        let heights = |forest: &Forest| {
            let text = svg(forest);
            let papers = text.split("<rect").filter(|rect| rect.contains(r##"fill="#FFFFFF""##));
            let papers: String = papers.map(|paper| format!("<rect{paper}")).collect();
            // The first one is below the whole figure.
            numbers(&papers, "<rect", "height")[1..].to_vec()
        };
        assert_eq!(heights(&forest), [f64::from(units(21)); 2]);
        forest.panels[0].rows[0].label = "a name that leaves no room for words beside it".into();
        assert_eq!(heights(&forest), [f64::from(units(21 + LINE)), f64::from(units(21))]);
    }
}
