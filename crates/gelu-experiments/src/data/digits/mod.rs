//! The built-in digits: drawn by this program, so that it can be tried with no data and no
//! network. 28×28 grey, ten classes, deterministic.
//!
//! A digit is a few pen strokes (`glyphs`). Every picture bends them differently (`pen`): the
//! control points wander, a smooth field displaces them, an affine map turns, slants, squeezes and
//! shifts them, the pen is thick or thin and sometimes runs dry, stray ink and noise come on top.
//! Picture `i` is a function of `i` alone, whatever the size of the set, and uses only arithmetic
//! that is the same on every machine.
//!
//! These are synthetic data, hard enough that networks differ, and say nothing about MNIST.

mod glyphs;
mod pen;

use super::{ImageSet, Images};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Raised when other pictures are drawn.
pub const VERSION: u32 = 1;
/// Training pictures of the built-in set (validation is taken from them).
pub const TRAIN: usize = 6_000;
/// Test pictures of the built-in set.
pub const TEST: usize = 2_000;
/// Number of classes.
pub const CLASSES: usize = 10;
/// Rows and columns of a picture.
pub const SIDE: usize = 28;

/// There is one set of built-in digits; this is where its numbers start.
const SEED: u64 = 160_608_415;
/// Test pictures are drawn from other streams than training pictures ever reach.
const FIRST_TEST: u64 = 1 << 40;

/// The first `train` training and `test` test pictures.
pub fn generate(train: usize, test: usize) -> ImageSet {
    let (train, test) = (draw(0, train), draw(FIRST_TEST, test));
    ImageSet::new("digits", None, true, CLASSES, train, test)
        .expect("both parts are drawn in the same size")
}

fn draw(first: u64, count: usize) -> Images {
    let mut pixels = Vec::with_capacity(count * SIDE * SIDE);
    let mut labels = Vec::with_capacity(count);
    for index in 0..count as u64 {
        let mut rng = ChaCha8Rng::seed_from_u64(SEED);
        rng.set_stream(first + index);
        let label = rng.random_range(0..CLASSES);
        pixels.extend(pen::draw(glyphs::strokes(label, &mut rng), &mut rng));
        labels.push(label as u8);
    }
    Images { pixels, channels: 1, height: SIDE, width: SIDE, labels }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_set_begins_with_the_smaller_one() {
        let (small, large) = (generate(15, 6), generate(40, 9));
        assert_eq!(small.train.pixels[..], large.train.pixels[..small.train.pixels.len()]);
        assert_eq!(small.test.labels[..], large.test.labels[..6]);
    }

    #[test]
    fn train_and_test_share_no_picture() {
        let set = generate(200, 200);
        let pictures = |images: &Images| -> Vec<Vec<u8>> {
            images.pixels.chunks(SIDE * SIDE).map(<[u8]>::to_vec).collect()
        };
        let train = pictures(&set.train);
        assert!(pictures(&set.test).iter().all(|picture| !train.contains(picture)));
    }

    #[test]
    fn the_bytes_are_the_same_on_every_machine() {
        // Recorded on x86-64 Linux; a difference elsewhere is a portability bug.
        assert_eq!(generate(100, 20).source.fingerprint, FINGERPRINT);
    }

    const FINGERPRINT: &str = "b4d348a1543f84440e4b73640be0e62bb4324c0b2bd4d3e62fc123c81fa9b4ae";

    #[test]
    fn classes_are_balanced_and_pictures_have_ink_and_paper() {
        let set = generate(2_000, 1);
        for class in 0..CLASSES as u8 {
            let count = set.train.labels.iter().filter(|&&label| label == class).count();
            assert!((140..=260).contains(&count), "{count} pictures of {class}");
        }
        for picture in set.train.pixels.chunks(SIDE * SIDE) {
            let ink = picture.iter().filter(|&&pixel| pixel > 128).count();
            assert!((10..400).contains(&ink), "{ink} dark pixels");
        }
    }
}
