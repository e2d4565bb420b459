//! Draws a [`Figure`] as SVG, with plotters.

use super::Figure;
use super::figure::{Curve, Panel};
use super::legend::{self, Axes, Corner};
use crate::comparison::Rgb;
use crate::names::is_obeyed;
use plotters::coord::ranged1d::ValueFormatter;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Sizes in pixels.
const PANEL_WIDTH: u32 = 460;
const HEIGHT: u32 = 400;
/// The height of every further row of panels.
const ROW_HEIGHT: u32 = 360;
/// The number of panels per row. More would be too small to read on a page.
const MOST_BESIDE: usize = 4;
/// The number of drawing units per pixel. Plotters rounds every position to whole units; with one unit per pixel,
/// curves would look like stairs.
const UNITS: u32 = 10;
/// The name under which the embedded font for PNG is registered.
pub(super) const FONT: &str = "sans-serif";
pub(super) const INK: RGBColor = RGBColor(40, 40, 40);
pub(super) const FAINT: RGBColor = RGBColor(225, 225, 225);

/// Returns the figure as an SVG document.
pub fn svg(figure: &Figure) -> String {
    let (rows, columns) = grid(figure);
    let width = PANEL_WIDTH * columns as u32 + legend::beside(figure).width;
    let height = HEIGHT + ROW_HEIGHT * (rows as u32 - 1);
    let mut text = String::new();
    {
        let size = (units(width), units(height));
        let root = SVGBackend::with_string(&mut text, size).into_drawing_area();
        draw(figure, &root).expect("drawing into a string cannot fail");
    }
    finished(&text, (width, height))
}

/// Returns the numbers of rows and columns of panels: as few rows as possible, filled evenly.
fn grid(figure: &Figure) -> (usize, usize) {
    let panels = figure.panels.len().max(1);
    let rows = panels.div_ceil(MOST_BESIDE);
    (rows, panels.div_ceil(rows))
}

/// Turns a document drawn in units into one of `width` × `height` pixels.
pub(super) fn finished(text: &str, (width, height): (u32, u32)) -> String {
    let size = |width: u32, height: u32| format!(r#"width="{width}" height="{height}""#);
    let text = text.replacen(&size(units(width), units(height)), &size(width, height), 1);
    text.replace(|c| !is_xml(c) || c != '\n' && is_obeyed(c), "\u{fffd}")
}

/// Returns whether XML 1.0 allows a character. It forbids most control characters, which a title may contain.
fn is_xml(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | '\u{20}'..='\u{fffd}' | '\u{10000}'..)
}

/// Converts pixels to drawing units.
pub(super) fn units<T: std::ops::Mul<Output = T> + From<u16>>(pixels: T) -> T {
    pixels * T::from(UNITS as u16)
}

fn draw<B: DrawingBackend>(
    figure: &Figure,
    root: &DrawingArea<B, plotters::coord::Shift>,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    root.fill(&WHITE)?;
    let (width, height) = root.dim_in_pixel();
    let centred = Pos::new(HPos::Center, VPos::Center);
    let (middle, bottom) = (width as i32 / 2, height as i32 - units(12));
    let (title, caption) = (lines(&figure.title, width, 8.5), lines(&figure.caption, width, 5.8));
    let (over, under) = (title.len() as i32 - 1, caption.len() as i32 - 1);
    for (line, row) in title.into_iter().zip(0..) {
        root.draw(&Text::new(line, (middle, units(18 + 20 * row)), font(17).pos(centred)))?;
    }
    let grey = font(12).color(&RGBColor(90, 90, 90)).pos(centred);
    for (line, row) in caption.into_iter().zip(0..) {
        let y = bottom - units(15 * (under - row));
        root.draw(&Text::new(line, (middle, y), grey.clone()))?;
    }
    let body = root.margin(units(32 + 20 * over), units(24 + 15 * under), units(6), units(10));
    let beside = legend::beside(figure);
    let (room, _) = body.dim_in_pixel();
    let (panels, right) = body.split_horizontally(room - units(beside.width));
    for (area, panel) in panels.split_evenly(grid(figure)).iter().zip(&figure.panels) {
        // A gap between a panel's title and the axis above.
        let gap = if grid(figure).0 > 1 { units(10) } else { 0 };
        draw_panel(figure, panel, &area.margin(gap, 0, 0, 0))?;
    }
    for (curve, row) in beside.curves.into_iter().zip(1..) {
        let (x, y) = (units(8), units(20 * row));
        right.draw(&PathElement::new([(x, y), (x + units(18), y)], line(curve)))?;
        let label = curve.label.as_deref().unwrap_or_default();
        let centred = Pos::new(HPos::Left, VPos::Center);
        right.draw(&Text::new(label, (x + units(24), y), font(13).pos(centred)))?;
    }
    Ok(())
}

/// Breaks a text into lines of at most `width` units. `letter` is the average width of a letter in pixels. Returns at
/// least one line.
pub(super) fn lines(text: &str, width: u32, letter: f64) -> Vec<String> {
    let letters = f64::from(width / UNITS) / letter;
    textwrap::wrap(text, letters as usize).into_iter().map(|line| line.into_owned()).collect()
}

fn draw_panel<B: DrawingBackend>(
    figure: &Figure,
    panel: &Panel,
    area: &DrawingArea<B, plotters::coord::Shift>,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let (x, y) = ranges(figure, panel);
    let mut builder = ChartBuilder::on(area);
    builder.margin_right(units(8)).x_label_area_size(units(42)).y_label_area_size(units(62));
    if !panel.title.is_empty() {
        builder.caption(&panel.title, font(14));
    }
    // The two axis types need separate code.
    if figure.logarithmic {
        let mut chart = builder.build_cartesian_2d(x.0..x.1, (y.0..y.1).log_scale())?;
        let digits = |value: &f64| format!("{value:.0e}");
        mesh(figure, panel, &mut chart, &digits)?;
        curves(figure, panel, &mut chart)
    } else {
        let mut chart = builder.build_cartesian_2d(x.0..x.1, y.0..y.1)?;
        let decimals = decimals(y.1 - y.0);
        mesh(figure, panel, &mut chart, &|value: &f64| format!("{value:.decimals$}"))?;
        curves(figure, panel, &mut chart)
    }
}

type Chart<'a, B, Y> = ChartContext<'a, B, Cartesian2d<RangedCoordf64, Y>>;

fn mesh<B: DrawingBackend, Y: Ranged<ValueType = f64> + ValueFormatter<f64>>(
    figure: &Figure,
    panel: &Panel,
    chart: &mut Chart<'_, B, Y>,
    format: &dyn Fn(&f64) -> String,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    // Epochs are whole numbers from 1; other arguments are not.
    let x = chart.x_range();
    let span = x.end - x.start;
    let (x_labels, x_decimals) = match x.start < 1.0 {
        true => (8, usize::from(span < 8.0)),
        false => (8.min(span as usize + 1), 0),
    };
    chart
        .configure_mesh()
        .disable_x_mesh()
        .bold_line_style(FAINT.stroke_width(units(1)))
        .light_line_style(TRANSPARENT)
        .axis_style(INK.stroke_width(units(1)))
        .set_all_tick_mark_size(units(5))
        .x_labels(x_labels)
        .y_labels(7)
        .x_label_formatter(&|x| format!("{x:.x_decimals$}"))
        .y_label_formatter(&format)
        .x_desc(figure.x_axis.as_str())
        .y_desc(panel.y_axis.as_str())
        .label_style(font(12))
        .axis_desc_style(font(14))
        .draw()
}

fn curves<'a, B: DrawingBackend + 'a, Y: Ranged<ValueType = f64>>(
    figure: &Figure,
    panel: &Panel,
    chart: &mut Chart<'a, B, Y>,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    // The second split comes below the first, because the stronger line is the one to read.
    let (first, second): (Vec<_>, Vec<_>) = panel.curves.iter().partition(|c| c.label.is_some());
    for curve in &panel.curves {
        for stretch in curve
            .band
            .split(|&(_, low, high)| !is_drawable(figure, low) || !is_drawable(figure, high))
        {
            let upper = stretch.iter().map(|&(x, _, high)| (x, high));
            let lower = stretch.iter().rev().map(|&(x, low, _)| (x, low));
            let outline: Vec<(f64, f64)> = upper.chain(lower).collect();
            if stretch.len() > 1 {
                chart.draw_series([Polygon::new(outline, line(curve).color.mix(0.16))])?;
            }
        }
    }
    for curve in second.into_iter().chain(first) {
        let style = line(curve);
        for run in unbroken(figure, &curve.points) {
            if let [point] = run {
                chart.draw_series([Circle::new(*point, units(2), style.filled())])?;
            } else if curve.dashed {
                chart.draw_series(DashedLineSeries::new(
                    run.iter().copied(),
                    units(6),
                    units(4),
                    style,
                ))?;
            } else {
                chart.draw_series(LineSeries::new(run.iter().copied(), style))?;
            }
        }
        if let Some(label) = &curve.label {
            chart
                .draw_series(std::iter::empty::<PathElement<(f64, f64)>>())?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + units(18), y)], style));
        }
    }
    if legend::beside(figure).width > 0 {
        return Ok(());
    }
    let position = legend_position(figure, panel, chart);
    chart
        .configure_series_labels()
        .position(position)
        .background_style(WHITE.mix(0.85))
        .border_style(FAINT.stroke_width(units(1)))
        .label_font(font(13))
        .legend_area_size(units(30))
        .margin(units(8))
        .draw()
}

/// Returns the position where the legend covers the least of the curves.
fn legend_position<B: DrawingBackend, Y: Ranged<ValueType = f64>>(
    figure: &Figure,
    panel: &Panel,
    chart: &Chart<'_, B, Y>,
) -> SeriesLabelPosition {
    let [width, height] = legend::size(panel).map(units);
    let (panel_width, panel_height) = chart.plotting_area().dim_in_pixel();
    let share = |part: u32, of: u32| f64::from(part) / f64::from(of.max(1));
    let size = [share(width, panel_width), share(height, panel_height)];
    let axes = Axes { x: chart.x_range(), y: chart.y_range(), logarithmic: figure.logarithmic };
    let curves = panel.curves.iter().flat_map(|curve| unbroken(figure, &curve.points));
    match axes.emptiest_corner(curves, size) {
        Corner::UpperRight => SeriesLabelPosition::UpperRight,
        Corner::UpperLeft => SeriesLabelPosition::UpperLeft,
        Corner::LowerLeft => SeriesLabelPosition::LowerLeft,
        Corner::LowerRight => SeriesLabelPosition::LowerRight,
    }
}

pub(super) fn font(size: u32) -> TextStyle<'static> {
    (FONT, units(size)).into_font().color(&INK)
}

fn line(curve: &Curve) -> ShapeStyle {
    let Curve { colour: [red, green, blue], .. } = *curve;
    let colour: Rgb = [red, green, blue];
    RGBColor(colour[0], colour[1], colour[2]).stroke_width(units(2))
}

/// The limit for values in a figure. Larger values say nothing, and axes that span them cannot be divided.
const LARGEST: f64 = 1e9;

/// Returns whether a figure can show a value.
fn is_drawable(figure: &Figure, y: f64) -> bool {
    y.abs() <= LARGEST && (!figure.logarithmic || y >= 1.0 / LARGEST)
}

/// Returns the stretches of a curve between values that cannot be drawn.
fn unbroken<'a>(
    figure: &'a Figure,
    points: &'a [(f64, f64)],
) -> impl Iterator<Item = &'a [(f64, f64)]> {
    points.split(|&(_, y)| !is_drawable(figure, y)).filter(|run| !run.is_empty())
}

/// Returns the ranges of the axes: all epochs, and all drawable values with a margin.
fn ranges(figure: &Figure, panel: &Panel) -> ((f64, f64), (f64, f64)) {
    let all = panel.curves.iter().flat_map(|curve| {
        let band = curve.band.iter().flat_map(|&(x, low, high)| [(x, low), (x, high)]);
        curve.points.iter().copied().chain(band)
    });
    let points: Vec<(f64, f64)> = all.filter(|&(_, y)| is_drawable(figure, y)).collect();
    let x_start = points.iter().map(|p| p.0).fold(1.0, f64::min);
    let x_end = points.iter().map(|p| p.0).fold(x_start + 1.0, f64::max);
    let values = points.iter().map(|p| p.1);
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
    let y = match (low <= high, figure.logarithmic) {
        (false, true) => (0.1, 1.0),
        (false, false) => (0.0, 1.0),
        (true, true) => (low / 1.15, high * 1.15),
        (true, false) => {
            let room = ((high - low) * 0.05).max(high.abs() * 1e-3).max(1e-9);
            // Losses and errors are not negative, so no axis needs to show values below 0.
            ((low - room).max(if low >= 0.0 { 0.0 } else { f64::MIN }), high + room)
        }
    };
    ((x_start, x_end), y)
}

/// Returns the number of decimals that distinguish seven labels over this span.
pub(super) fn decimals(span: f64) -> usize {
    (1.0 - span.log10().floor()).clamp(0.0, 6.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(points: Vec<(f64, f64)>, logarithmic: bool) -> Figure {
        let band = points.iter().map(|&(x, y)| (x, y - 1.0, y + 1.0)).collect();
        let curve = Curve {
            label: Some("GELU".into()),
            colour: [0, 114, 178],
            dashed: false,
            points,
            band,
        };
        Figure {
            title: "T".into(),
            caption: "C".into(),
            x_axis: "Epochs".into(),
            logarithmic,
            panels: vec![Panel {
                title: "dropout 0".into(),
                y_axis: "loss".into(),
                curves: vec![curve],
            }],
        }
    }

    #[test]
    fn a_long_caption_is_broken_into_lines() {
        let mut figure = figure(vec![(1.0, 0.3)], false);
        assert_eq!(lines("", 4600, 5.8), [""]);
        figure.caption = "some words of a caption that go on ".repeat(4);
        let text = svg(&figure);
        assert!(!text.contains(figure.caption.trim()), "{text}");
        assert_eq!(text.matches("caption").count(), 4, "no word is lost");
    }

    #[test]
    fn any_curve_can_be_drawn() {
        let awkward = [
            vec![],
            vec![(1.0, 0.3)],
            vec![(1.0, f64::INFINITY)],
            vec![(1.0, 0.0), (2.0, 0.0)],
            vec![(1.0, 1e300), (2.0, f64::NAN), (3.0, 1e-300), (4.0, f64::INFINITY)],
        ];
        for points in awkward {
            for logarithmic in [false, true] {
                let text = svg(&figure(points.clone(), logarithmic));
                assert!(text.starts_with("<svg") && text.contains("GELU"), "{points:?}");
                assert!(!text.contains("NaN") && !text.contains("inf"), "{points:?}");
            }
        }
    }

    #[test]
    fn many_panels_stand_in_rows_of_four_at_most() {
        let mut figure = figure(vec![(1.0, 0.3), (2.0, 0.2)], false);
        let panel = figure.panels.remove(0);
        for (panels, size) in
            [(1, (460, 400)), (4, (1840, 400)), (5, (1380, 760)), (10, (1840, 1120))]
        {
            let titled = |number| Panel { title: format!("panel {number}"), ..panel.clone() };
            figure.panels = (0..panels).map(titled).collect();
            let text = svg(&figure);
            let (width, height) = size;
            assert!(text.contains(&format!(r#"width="{width}" height="{height}""#)), "{panels}");
            assert!((0..panels).all(|number| text.contains(&format!("panel {number}"))));
        }
    }

    #[test]
    fn panels_end_where_the_last_label_of_the_axis_has_room() {
        let mut figure = figure(vec![(1.0, 0.3), (10.0, 0.2)], false);
        for curves in [1, 9] {
            let curve = figure.panels[0].curves[0].clone();
            figure.panels[0].curves = vec![curve; curves];
            let text = svg(&figure);
            let points = text.split("points=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let right = points.flat_map(str::split_whitespace).filter_map(|point| {
                let (x, _) = point.split_once(',')?;
                x.parse::<f64>().ok()
            });
            let width = units(PANEL_WIDTH + legend::beside(&figure).width);
            let right = right.fold(0.0, f64::max);
            assert!(right > f64::from(width) / 2.0, "{text}");
            assert!(right <= f64::from(width - units(16)), "{curves}: {right} of {width}");
        }
    }

    #[test]
    fn a_control_character_in_a_title_leaves_the_picture_a_picture() {
        let mut figure = figure(vec![(1.0, 0.3), (2.0, 0.2)], false);
        figure.title = "bell \u{7} and <tag> & \u{0}\u{9b}\u{202e}".to_owned();
        let text = svg(&figure);
        assert!(
            text.contains("bell \u{fffd} and &lt;tag&gt; &amp; \u{fffd}\u{fffd}\u{fffd}"),
            "{text}"
        );
        assert!(crate::report::png(&text).is_ok());
    }

    #[test]
    fn same_figure_is_drawn_to_the_same_bytes() {
        let figure = figure(vec![(1.0, 0.3), (2.0, 0.2)], false);
        assert_eq!(svg(&figure), svg(&figure));
    }

    #[test]
    fn axes_span_what_can_be_drawn_with_a_margin() {
        let spanned = |points: &[(f64, f64)], logarithmic| {
            let mut figure = figure(points.to_vec(), logarithmic);
            figure.panels[0].curves[0].band.clear();
            ranges(&figure, &figure.panels[0])
        };
        // A twentieth of the span, and no value below 0 where there is none.
        let points = [(1.0, 10.0), (4.0, 30.0), (9.0, f64::INFINITY)];
        assert_eq!(spanned(&points, false), ((1.0, 4.0), (9.0, 31.0)));
        assert_eq!(spanned(&[(1.0, 1.0), (3.0, 41.0)], false), ((1.0, 3.0), (0.0, 43.0)));
        assert_eq!(spanned(&[(-2.0, -10.0), (2.0, 10.0)], false), ((-2.0, 2.0), (-11.0, 11.0)));
        assert_eq!(spanned(&[(1.0, 0.5)], false), ((1.0, 2.0), (0.4995, 0.5005)));
        let ((start, end), (low, high)) = spanned(&points, true);
        assert_eq!((start, end), (1.0, 4.0));
        assert!((low - 10.0 / 1.15).abs() < 1e-12 && (high - 34.5).abs() < 1e-12, "{low} {high}");
        assert_eq!(spanned(&[], false), ((1.0, 2.0), (0.0, 1.0)));
        assert_eq!(spanned(&[], true), ((1.0, 2.0), (0.1, 1.0)));
    }

    #[test]
    fn a_band_breaks_where_either_edge_cannot_be_drawn() {
        let mut figure = figure((1..=6).map(|x| (f64::from(x), 2.0)).collect(), false);
        for (edges, bands) in [((1.0, 3.0), 1), ((f64::NEG_INFINITY, 3.0), 2), ((1.0, 1e300), 2)] {
            figure.panels[0].curves[0].band[2] = (3.0, edges.0, edges.1);
            let text = svg(&figure);
            assert_eq!(text.matches("<polygon").count(), bands, "{edges:?}: {text}");
        }
    }

    #[test]
    fn curve_breaks_where_it_is_not_finite() {
        let points = [(1.0, 1.0), (2.0, 2.0), (3.0, f64::INFINITY), (4.0, 1.0)];
        let figure = figure(Vec::new(), false);
        let runs: Vec<usize> = unbroken(&figure, &points).map(<[_]>::len).collect();
        assert_eq!(runs, [2, 1]);
    }
}
