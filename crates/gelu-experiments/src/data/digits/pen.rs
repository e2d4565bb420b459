//! Bends strokes and draws them.

use super::SIDE;
use super::glyphs::{Point, Stroke};
use libm::{cos, sin};
use rand::{Rng, RngExt};

/// The largest movement of a control point, in unit squares.
const WANDER: f64 = 0.045;
/// The amplitude of the smooth displacement's waves, in unit squares.
const WAVE: f64 = 0.05;
/// The side of a digit before it is squeezed, in pixels.
const SIZE: f64 = 19.0;
/// Number of curve points per control point.
const STEPS: usize = 6;

/// Draws strokes as an image of `SIDE × SIDE` bytes; 255 is ink.
pub(super) fn draw(mut strokes: Vec<Stroke>, rng: &mut impl Rng) -> Vec<u8> {
    let hand = Hand::new(rng);
    wander(&mut strokes, rng);
    let mut segments = Vec::new();
    for stroke in &strokes {
        let points: Vec<Point> = smooth(stroke).into_iter().map(|p| hand.place(p)).collect();
        segments.extend(points.windows(2).map(|pair| (pair[0], pair[1])));
    }
    if rng.random_bool(0.15) {
        run_dry(&mut segments, rng);
    }
    if rng.random_bool(0.2) {
        segments.push(stray(rng));
    }
    let noise = rng.random_range(0.0..0.22);
    let radius = rng.random_range(0.6..1.55);
    let mut picture = Vec::with_capacity(SIDE * SIDE);
    for row in 0..SIDE {
        for column in 0..SIDE {
            let pixel = [column as f64 + 0.5, row as f64 + 0.5];
            let squared = |&(a, b): &(Point, Point)| squared_distance(pixel, a, b);
            let nearest = segments.iter().map(squared).fold(f64::INFINITY, f64::min).sqrt();
            // The edge from full ink to paper is one pixel wide.
            let ink = (radius + 0.5 - nearest).clamp(0.0, 1.0);
            let speck = noise * rng.random_range(-1.0..1.0);
            picture.push(((ink + speck).clamp(0.0, 1.0) * 255.0).round() as u8);
        }
    }
    picture
}

/// Moves control points a little; a point shared by two strokes moves in both.
fn wander(strokes: &mut [Stroke], rng: &mut impl Rng) {
    let mut moved: Vec<(Point, Point)> = Vec::new();
    for point in strokes.iter_mut().flatten() {
        let target = match moved.iter().find(|(from, _)| from == point) {
            Some((_, to)) => *to,
            None => point.map(|c| c + rng.random_range(-WANDER..WANDER)),
        };
        moved.push((*point, target));
        *point = target;
    }
}

/// Returns a curve through all points of a stroke (Catmull & Rom, 1974).
fn smooth(stroke: &[Point]) -> Vec<Point> {
    let at = |index: isize| stroke[index.clamp(0, stroke.len() as isize - 1) as usize];
    let mut curve = vec![stroke[0]];
    for index in 0..stroke.len() as isize - 1 {
        let [before, from, to, after] = [-1, 0, 1, 2].map(|offset| at(index + offset));
        for step in 1..=STEPS {
            let t = step as f64 / STEPS as f64;
            let along = |axis: usize| {
                let [p, q, r, s] = [before[axis], from[axis], to[axis], after[axis]];
                let cubic = 3.0 * (q - r) + s - p;
                let square = 2.0 * p - 5.0 * q + 4.0 * r - s;
                0.5 * (2.0 * q + t * (r - p + t * (square + t * cubic)))
            };
            curve.push([along(0), along(1)]);
        }
    }
    curve
}

/// One handwriting: an affine map after a smooth displacement.
struct Hand {
    matrix: [[f64; 2]; 2],
    centre: Point,
    /// Two waves per axis: amplitude, direction and phase.
    waves: [[f64; 4]; 4],
}

impl Hand {
    fn new(rng: &mut impl Rng) -> Self {
        let angle: f64 = rng.random_range(-0.35..0.35);
        let slant: f64 = rng.random_range(-0.35..0.35);
        let (wide, high) = (rng.random_range(0.65..1.15), rng.random_range(0.75..1.15));
        let (s, c) = (sin(angle), cos(angle));
        let matrix = [
            [SIZE * wide * c, SIZE * high * (c * slant - s)],
            [SIZE * wide * s, SIZE * high * (s * slant + c)],
        ];
        let middle = SIDE as f64 / 2.0;
        let centre = [middle + rng.random_range(-2.5..2.5), middle + rng.random_range(-2.5..2.5)];
        let waves = std::array::from_fn(|_| {
            [
                rng.random_range(-WAVE..WAVE),
                rng.random_range(-5.0..5.0),
                rng.random_range(-5.0..5.0),
                rng.random_range(0.0..std::f64::consts::TAU),
            ]
        });
        Self { matrix, centre, waves }
    }

    /// Maps a point from the unit square to pixels.
    fn place(&self, [x, y]: Point) -> Point {
        let wave = |[height, u, v, phase]: [f64; 4]| height * sin(u * x + v * y + phase);
        let [a, b, c, d] = self.waves.map(wave);
        let (x, y) = (x - 0.5 + a + b, y - 0.5 + c + d);
        let [[xx, xy], [yx, yy]] = self.matrix;
        [self.centre[0] + xx * x + xy * y, self.centre[1] + yx * x + yy * y]
    }
}

/// Removes a short piece of the line.
fn run_dry(segments: &mut Vec<(Point, Point)>, rng: &mut impl Rng) {
    let gap = rng.random_range(2..5);
    if segments.len() > 3 * gap {
        let start = rng.random_range(0..segments.len() - gap);
        segments.drain(start..start + gap);
    }
}

/// Returns a short line that does not belong to a digit.
fn stray(rng: &mut impl Rng) -> (Point, Point) {
    let side = SIDE as f64;
    let from: Point = std::array::from_fn(|_| rng.random_range(0.0..side));
    (from, from.map(|c| c + rng.random_range(-4.0..4.0)))
}

fn squared_distance(point: Point, from: Point, to: Point) -> f64 {
    let along = [to[0] - from[0], to[1] - from[1]];
    let offset = [point[0] - from[0], point[1] - from[1]];
    let length = along[0] * along[0] + along[1] * along[1];
    let dot = offset[0] * along[0] + offset[1] * along[1];
    let t = if length > 0.0 { (dot / length).clamp(0.0, 1.0) } else { 0.0 };
    let (dx, dy) = (offset[0] - t * along[0], offset[1] - t * along[1]);
    dx * dx + dy * dy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curve_passes_through_every_control_point() {
        let stroke = vec![[0.0, 0.0], [0.3, 0.8], [0.9, 0.1]];
        let curve = smooth(&stroke);
        assert_eq!(curve.len(), 2 * STEPS + 1);
        for (index, point) in stroke.iter().enumerate() {
            let passed = curve[index * STEPS];
            assert!((passed[0] - point[0]).abs() < 1e-12 && (passed[1] - point[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn distance_is_to_the_segment_not_the_line() {
        assert_eq!(squared_distance([0.5, 2.0], [0.0, 0.0], [1.0, 0.0]), 4.0);
        assert_eq!(squared_distance([4.0, 0.0], [0.0, 0.0], [1.0, 0.0]), 9.0);
        assert_eq!(squared_distance([3.0, 4.0], [0.0, 0.0], [0.0, 0.0]), 25.0);
    }
}
