//! The built-in digits. This program draws them, so you can try it without data and without a network connection.
//! 28×28 grey, ten classes, deterministic.
//!
//! A digit is a few pen strokes (`glyphs`). Every image bends them differently (`pen`): the control points move a
//! little, a smooth field displaces them, an affine map rotates, slants, squeezes and shifts them, the pen is thick
//! or thin and sometimes runs dry, and stray ink and noise are added. Image `i` depends only on `i`, whatever the
//! size of the set, and only uses arithmetic that is the same on every machine.
//!
//! These data are synthetic. They are hard enough for networks to differ, but results on them say nothing about
//! MNIST.

mod glyphs;
mod pen;

use super::{ImageSet, Images};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Version of the drawing; increase it when the images change.
pub const VERSION: u32 = 1;
/// Number of training images of the built-in set (validation images are taken from them).
pub const TRAIN: usize = 6_000;
/// Number of test images of the built-in set.
pub const TEST: usize = 2_000;
/// Number of classes.
pub const CLASSES: usize = 10;
/// Rows and columns of an image.
pub const SIDE: usize = 28;

/// The seed of the one set of built-in digits.
const SEED: u64 = 160_608_415;
/// The first stream of the test images, beyond all streams of training images.
const FIRST_TEST: u64 = 1 << 40;

/// Returns the first `train` training and `test` test images.
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
            assert!((140..=260).contains(&count), "{count} images of {class}");
        }
        for picture in set.train.pixels.chunks(SIDE * SIDE) {
            let ink = picture.iter().filter(|&&pixel| pixel > 128).count();
            assert!((10..400).contains(&ink), "{ink} dark pixels");
        }
    }
}
