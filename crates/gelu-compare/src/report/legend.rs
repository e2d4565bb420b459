//! The position of the legend: in the corner of a panel where it covers the least of the curves, or next to the
//! panels.

use super::figure::{Curve, Figure, Panel};
use std::ops::Range;

/// A legend with too many entries for the panels. It has the first panel's entries and is drawn next to the last
/// panel.
pub(super) struct Beside<'a> {
    pub(super) curves: Vec<&'a Curve>,
    /// The width in pixels; 0 if there is no such legend.
    pub(super) width: u32,
}

pub(super) fn beside(figure: &Figure) -> Beside<'_> {
    /// The limit for entries within a panel. More would cover a third of it.
    const MOST_WITHIN: usize = 6;
    let curves = figure.panels.first().map(labelled).unwrap_or_default();
    match curves.len() > MOST_WITHIN {
        true => Beside { width: 44 + widest_label(&curves), curves },
        false => Beside { width: 0, curves: Vec::new() },
    }
}

/// Returns the width and height of a legend within a panel, in pixels.
pub(super) fn size(panel: &Panel) -> [u32; 2] {
    let curves = labelled(panel);
    [50 + widest_label(&curves), 16 + 17 * curves.len() as u32]
}

fn labelled(panel: &Panel) -> Vec<&Curve> {
    panel.curves.iter().filter(|curve| curve.label.is_some()).collect()
}

/// Returns the width of the widest label in pixels, by the average width of a letter.
fn widest_label(curves: &[&Curve]) -> u32 {
    const LETTER: u32 = 7;
    let lengths = curves.iter().filter_map(|curve| Some(curve.label.as_ref()?.chars().count()));
    LETTER * lengths.max().unwrap_or(0) as u32
}

/// A corner of a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Corner {
    UpperRight,
    UpperLeft,
    LowerLeft,
    LowerRight,
}

/// The ranges of a panel's axes.
#[derive(Clone, Debug)]
pub(super) struct Axes {
    pub(super) x: Range<f64>,
    pub(super) y: Range<f64>,
    pub(super) logarithmic: bool,
}

/// The number of steps along the width of a panel at which curves are evaluated.
const PLACES: usize = 200;

impl Axes {
    /// Returns the corner where a legend covers the least of the curves. `width` and `height` are shares of the
    /// panel's. If several are equal, returns the first in the order of [`Corner`].
    pub(super) fn emptiest_corner<'a>(
        &self,
        curves: impl IntoIterator<Item = &'a [(f64, f64)]>,
        [width, height]: [f64; 2],
    ) -> Corner {
        let corners =
            [Corner::UpperRight, Corner::UpperLeft, Corner::LowerLeft, Corner::LowerRight];
        let mut covered = [0; 4];
        for (x, y) in curves.into_iter().flat_map(|curve| self.places(curve)) {
            let (left, right) = (x < width, x > 1.0 - width);
            let (lower, upper) = (y < height, y > 1.0 - height);
            let inside = [upper && right, upper && left, lower && left, lower && right];
            for (covered, inside) in covered.iter_mut().zip(inside) {
                *covered += usize::from(inside);
            }
        }
        let least = covered.iter().min();
        let place = covered.iter().position(|covered| Some(covered) == least);
        place.map_or(Corner::UpperRight, |place| corners[place])
    }

    /// Returns points of a curve at equal distances along the panel's width, as shares of its width and height.
    fn places(&self, curve: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let share = |at: f64, range: &Range<f64>| (at - range.start) / (range.end - range.start);
        let y = |y: f64| match self.logarithmic {
            true => share(y.ln(), &(self.y.start.ln()..self.y.end.ln())),
            false => share(y, &self.y),
        };
        let places: Vec<(f64, f64)> =
            curve.iter().map(|point| (share(point.0, &self.x), y(point.1))).collect();
        let between = |pair: &[(f64, f64)]| {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let count = ((to_x - x) * PLACES as f64).ceil().clamp(1.0, PLACES as f64) as usize;
            let at = move |step: usize| step as f64 / count as f64;
            (0..count).map(move |step| (x + (to_x - x) * at(step), y + (to_y - y) * at(step)))
        };
        places.windows(2).flat_map(between).chain(places.last().copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corner(logarithmic: bool, curves: &[&[(f64, f64)]]) -> Corner {
        let axes = Axes { x: 1.0..11.0, y: 0.01..1.0, logarithmic };
        axes.emptiest_corner(curves.iter().copied(), [0.2, 0.2])
    }

    #[test]
    fn the_legend_of_many_curves_stands_beside_the_panels() {
        let figure = |count: usize| {
            let curve = |index: usize| Curve {
                label: (index < count).then(|| format!("curve {index}")),
                colour: [0; 3],
                dashed: false,
                points: vec![(1.0, 1.0), (2.0, 0.5)],
                band: Vec::new(),
            };
            let curves = (0..count + 2).map(curve).collect();
            let panel = Panel { title: String::new(), y_axis: "loss".into(), curves };
            Figure {
                title: "T".into(),
                caption: "C".into(),
                x_axis: "Epochs".into(),
                logarithmic: false,
                panels: vec![panel.clone(), panel],
            }
        };
        assert_eq!(beside(&figure(6)).width, 0);
        assert_eq!(beside(&figure(7)).curves.len(), 7);
        for (count, times) in [(6, 2), (7, 1)] {
            let svg = crate::report::svg(&figure(count));
            assert_eq!(svg.matches("curve 5").count(), times, "{count}");
        }
    }

    #[test]
    fn the_legend_goes_where_no_curve_is() {
        assert_eq!(corner(false, &[]), Corner::UpperRight);
        let falling: &[_] = &[(1.0, 1.0), (11.0, 0.01)];
        let rising: &[_] = &[(1.0, 0.01), (11.0, 1.0)];
        assert_eq!(corner(false, &[falling]), Corner::UpperRight);
        assert_eq!(corner(false, &[rising]), Corner::UpperLeft);
        // The points are outside the corners; only the lines between them are inside.
        assert_eq!(corner(false, &[&[(1.0, 0.95), (11.0, 0.95)]]), Corner::LowerLeft);
        assert_eq!(corner(false, &[&[(1.0, 0.95), (11.0, 0.95)], rising]), Corner::LowerRight);
    }

    #[test]
    fn heights_are_those_of_the_axis() {
        // 0.1 is in the middle of the logarithmic axis, and low on the linear one.
        let level: &[_] = &[(1.0, 0.1), (11.0, 0.1)];
        let top: &[_] = &[(1.0, 0.99), (11.0, 0.99)];
        assert_eq!(corner(true, &[level, top]), Corner::LowerLeft);
        assert_eq!(corner(false, &[level, top]), Corner::UpperRight);
    }
}
