//! Coloured shapes and textures in the size of CIFAR's images.
//!
//! There are ten kinds of drawings (disc, ring, square, triangle, cross, three directions of stripes, checks, dots),
//! at a random position, size, rotation and pair of colours, with noise. With ten classes, the kind is the class and
//! the colours are random; with a hundred, class `10·hue + kind` also determines the hue of the drawing.

use super::super::cifar::{CHANNELS, Cifar, SIDE};
use super::super::{ImageSet, Images};
use super::{FIRST_TEST, generator};
use libm::{cos, fabs, floor, hypot, sin};
use rand::{Rng, RngExt};
use std::f64::consts::PI;

/// Number of kinds of drawings.
const KINDS: usize = 10;
const SEED: u64 = 0xc1fa;

type Colour = [f64; CHANNELS];

/// Returns the first `train` training and `test` test images.
pub fn generate(cifar: Cifar, train: usize, test: usize) -> ImageSet {
    let name = match cifar {
        Cifar::Ten => "shapes10",
        Cifar::Hundred => "shapes100",
    };
    let (train, test) = (draw_all(cifar, 0, train), draw_all(cifar, FIRST_TEST, test));
    ImageSet::new(name, None, true, cifar.classes(), train, test)
        .expect("both parts are drawn in the same size")
}

fn draw_all(cifar: Cifar, first: u64, count: usize) -> Images {
    let (mut pixels, mut labels) = (Vec::new(), Vec::new());
    for index in first..first + count as u64 {
        let mut rng = generator(SEED, index);
        let class = rng.random_range(0..cifar.classes());
        let hue = match cifar {
            Cifar::Ten => rng.random_range(0.0..1.0),
            Cifar::Hundred => (class / KINDS) as f64 / 10.0 + rng.random_range(-0.03..0.03),
        };
        pixels.extend(draw(class % KINDS, hue, &mut rng));
        labels.push(class as u8);
    }
    Images { pixels, channels: CHANNELS, height: SIDE, width: SIDE, labels }
}

/// Draws an image, plane by plane.
fn draw(kind: usize, hue: f64, rng: &mut impl Rng) -> Vec<u8> {
    let front = colour(hue, rng.random_range(0.5..1.0), rng.random_range(0.65..1.0));
    let ground = colour(rng.random(), rng.random_range(0.0..0.6), rng.random_range(0.05..0.5));
    let middle = [rng.random_range(11.0..21.0), rng.random_range(11.0..21.0)];
    let size: f64 = rng.random_range(6.0..11.0);
    let turn: f64 = rng.random_range(-0.3..0.3);
    let noise = rng.random_range(0.02..0.15);
    let mut planes = vec![0; CHANNELS * SIDE * SIDE];
    for row in 0..SIDE {
        for column in 0..SIDE {
            let (x, y) = (column as f64 + 0.5 - middle[0], row as f64 + 0.5 - middle[1]);
            let turned = (x * cos(turn) + y * sin(turn), y * cos(turn) - x * sin(turn));
            let inside = is_inside(kind, turned.0 / size, turned.1 / size);
            let paint = if inside { front } else { ground };
            for (channel, value) in paint.into_iter().enumerate() {
                let value = value + noise * rng.random_range(-1.0..1.0);
                planes[(channel * SIDE + row) * SIDE + column] =
                    (value.clamp(0.0, 1.0) * 255.0) as u8;
            }
        }
    }
    planes
}

/// Returns whether a point is on the drawing, which has a radius of about 1 around the origin.
fn is_inside(kind: usize, x: f64, y: f64) -> bool {
    let radius = hypot(x, y);
    let stripe = |position: f64| position - floor(position) < 0.5;
    match kind {
        0 => radius < 1.0,
        1 => radius < 1.1 && radius > 0.6,
        2 => fabs(x) < 0.85 && fabs(y) < 0.85,
        3 => y < 0.8 && y > 1.9 * fabs(x) - 1.0,
        4 => radius < 1.2 && (fabs(x) < 0.28 || fabs(y) < 0.28),
        5 => stripe(y * 1.4),
        6 => stripe(x * 1.4),
        7 => stripe(x + y),
        8 => stripe(x) != stripe(y),
        _ => hypot(x - floor(x) - 0.5, y - floor(y) - 0.5) < 0.3,
    }
}

/// Returns a colour of the hue circle (0 to 1, red at 0); saturation 0 is grey, value 0 black.
fn colour(hue: f64, saturation: f64, value: f64) -> Colour {
    [0.0, 1.0, 2.0].map(|third| {
        let wave = 0.5 + 0.5 * cos(2.0 * PI * (hue - third / 3.0));
        value * (1.0 - saturation + saturation * wave)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn larger_sets_begin_with_smaller_ones_and_share_no_test_picture() {
        let (small, large) = (generate(Cifar::Ten, 5, 2), generate(Cifar::Ten, 50, 9));
        assert_eq!(small.train.pixels[..], large.train.pixels[..small.train.pixels.len()]);
        assert_eq!(small.test.labels[..], large.test.labels[..2]);
        let size = large.train.features();
        let train: BTreeSet<&[u8]> = large.train.pixels.chunks(size).collect();
        assert!(large.test.pixels.chunks(size).all(|picture| !train.contains(picture)));
    }

    #[test]
    fn the_bytes_are_the_same_on_every_machine() {
        // Recorded on x86-64 Linux; a difference elsewhere is a portability bug.
        let fingerprint = "558d9f1c23ced2dca8a235dbe975684abbdcdd8145f744812e8a15aea3211b71";
        assert_eq!(generate(Cifar::Ten, 20, 5).source.fingerprint, fingerprint);
    }

    #[test]
    fn every_class_occurs_and_every_kind_shows_its_drawing() {
        let set = generate(Cifar::Hundred, 3_000, 1).train;
        assert_eq!(set.labels.iter().collect::<BTreeSet<_>>().len(), 100);
        for kind in 0..KINDS {
            let cells = (0..400).map(|i| ((i % 20) as f64 / 10.0 - 1.0, i as f64 / 200.0 - 1.0));
            let inside = cells.filter(|&(x, y)| is_inside(kind, x, y)).count();
            assert!((60..340).contains(&inside), "{kind} covers {inside} of 400");
        }
    }
}
