//! Folders of PNG files, `train/CLASS/*.png` and `test/CLASS/*.png`; the classes may lie in folders
//! of coarse ones.

use super::kind::{CHANNELS, Cifar, PICTURE, SIDE, no_images};
use crate::data::idx::read_bytes;
use crate::data::{ImageSet, Images, synthetic};
use crate::error::Place;
use crate::{Error, Result};
use png::{BitDepth, ColorType, Decoder, Limits, Transformations};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use std::io::Cursor;
use std::path::{Path, PathBuf};

const PARTS: [&str; 2] = ["train", "test"];

/// Of the order in which the pictures stand, the folders being sorted by class.
const ORDER_SEED: u64 = 10;

/// Far more than a picture of 32×32 needs to be decoded.
const MEMORY_LIMIT: usize = 1 << 20;

/// Where the parts are: in `folder`, or in the folder of the set's name below it.
pub(super) fn find(cifar: Cifar, folder: &Path) -> Option<PathBuf> {
    let places = [folder.to_path_buf(), folder.join(cifar.name())];
    places.into_iter().find(|place| PARTS.iter().all(|part| place.join(part).is_dir()))
}

/// Reads the pictures below `folder`. Classes are numbered by their names' order, as in the binary
/// version; the pictures of a part come in an order that is mixed, and always the same, so that any
/// stretch of them holds all classes.
///
/// # Errors
///
/// When there are more or fewer classes than the set has, the test pictures are of another class,
/// a class has no picture, or a file is no PNG of 32×32.
pub(super) fn read(cifar: Cifar, folder: &Path) -> Result<ImageSet> {
    let train = folder.join(PARTS[0]);
    let classes: Vec<String> = class_folders(&train)?.into_iter().map(|(name, _)| name).collect();
    if classes.len() != cifar.classes() {
        let (found, name, expected) = (classes.len(), cifar.name(), cifar.classes());
        let problem = format!("holds {found} folders of pictures, {name} has {expected} classes");
        let advice = "there must be a folder of pictures for each class";
        return Err(Error::data(train, Place::File, problem, advice));
    }
    let [train, test] = PARTS.map(|part| read_part(&folder.join(part), &classes));
    let location = Some(folder.to_path_buf());
    let synthetic = synthetic::is_marked(folder);
    ImageSet::new(cifar.name(), location, synthetic, cifar.classes(), train?, test?)
}

fn read_part(folder: &Path, classes: &[String]) -> Result<Images> {
    let mut files = Vec::new();
    for (name, place) in class_folders(folder)? {
        let Some(label) = classes.iter().position(|class| *class == name) else {
            let problem = "there is no such class among the training pictures";
            return Err(Error::data(place, Place::File, problem, "rename or remove it"));
        };
        let pictures = entries(&place, false)?;
        if pictures.is_empty() {
            let advice = "every class needs one: copy the folder again";
            return Err(Error::data(place, Place::File, "holds no picture", advice));
        }
        files.extend(pictures.into_iter().map(|name| (place.join(name), label as u8)));
    }
    files.shuffle(&mut ChaCha8Rng::seed_from_u64(ORDER_SEED));
    let mut images = no_images();
    for (path, label) in files {
        images.pixels.extend(decode(&path, &read_bytes(&path)?)?);
        images.labels.push(label);
    }
    Ok(images)
}

/// The folders of the classes with their names, by name: those in `folder`, or those in them.
fn class_folders(folder: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut classes = Vec::new();
    for name in entries(folder, true)? {
        let place = folder.join(&name);
        let inner = entries(&place, true)?;
        match inner.is_empty() {
            true => classes.push((name, place)),
            false => classes.extend(inner.into_iter().map(|name| (name.clone(), place.join(name)))),
        }
    }
    classes.sort();
    Ok(classes)
}

/// Names in a folder, sorted; hidden ones are left out.
pub(in crate::data) fn entries(folder: &Path, folders: bool) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("list", folder))? {
        let entry = entry.map_err(Error::io("list", folder))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') && entry.path().is_dir() == folders {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The picture that a PNG of 32×32 holds: red, green and blue planes; grey is all three, what is
/// transparent is not mixed with anything. `path` is what errors call it.
///
/// # Errors
///
/// When it is no PNG, a damaged one, or of another size.
pub fn decode(path: &Path, bytes: &[u8]) -> Result<Vec<u8>> {
    let refuse = |problem: String| {
        let advice =
            "the pictures of CIFAR are PNG files of 32×32 pixels and 8 bits; copy it again";
        Error::data(path, Place::File, problem, advice)
    };
    let damaged = |error: png::DecodingError| refuse(format!("no PNG can be read: {error}"));
    let limits = Limits { bytes: MEMORY_LIMIT };
    let mut decoder = Decoder::new_with_limits(Cursor::new(bytes), limits);
    decoder.set_transformations(Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(damaged)?;
    let (width, height) = (reader.info().width, reader.info().height);
    if (width, height) != (SIDE as u32, SIDE as u32) {
        return Err(refuse(format!("the picture has {width}×{height} pixels")));
    }
    if reader.info().bit_depth == BitDepth::Sixteen {
        return Err(refuse("the picture has 16 bits for each channel".to_owned()));
    }
    // At most four channels of one byte each.
    let mut buffer = [0; 4 * SIDE * SIDE];
    let frame = reader.next_frame(&mut buffer).map_err(damaged)?;
    let (step, planes) = match frame.color_type {
        ColorType::Grayscale => (1, [0, 0, 0]),
        ColorType::GrayscaleAlpha => (2, [0, 0, 0]),
        ColorType::Rgb | ColorType::Indexed => (3, [0, 1, 2]),
        ColorType::Rgba => (4, [0, 1, 2]),
    };
    // An animated file may hold a first frame of another size.
    if (frame.width, frame.height) != (width, height) {
        return Err(refuse(format!("the first frame has {}×{} pixels", frame.width, frame.height)));
    }
    let pixels = &buffer[..step * SIDE * SIDE];
    let plane = |channel: usize| pixels.iter().copied().skip(channel).step_by(step);
    Ok(planes.into_iter().flat_map(plane).collect())
}

/// A picture of 3×32×32 as a PNG.
///
/// # Panics
///
/// If it is of another size.
pub fn encode(picture: &[u8]) -> Vec<u8> {
    assert_eq!(picture.len(), PICTURE, "a CIFAR picture is 3×32×32");
    let plane = SIDE * SIDE;
    let interleaved: Vec<u8> =
        (0..plane).flat_map(|i| (0..CHANNELS).map(move |c| picture[c * plane + i])).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, SIDE as u32, SIDE as u32);
    encoder.set_color(ColorType::Rgb);
    let written = encoder.write_header().and_then(|mut w| w.write_image_data(&interleaved));
    written.expect("writing into memory cannot fail");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::synthetic::pictures;
    use std::fs;

    fn write(folder: &Path, part: &str, images: &Images, class: impl Fn(u8) -> String) {
        for (index, label) in images.labels.iter().enumerate() {
            let folder = folder.join(part).join(class(*label));
            fs::create_dir_all(&folder).unwrap();
            let picture = &images.pixels[index * PICTURE..][..PICTURE];
            fs::write(folder.join(format!("{index}.png")), encode(picture)).unwrap();
        }
    }

    /// A set with every class, in folders whose names sort as the classes do.
    fn folder() -> (tempfile::TempDir, ImageSet) {
        let place = tempfile::tempdir().unwrap();
        let mut set = pictures::generate(Cifar::Ten, 30, 20);
        for part in [&mut set.train, &mut set.test] {
            (0..).zip(&mut part.labels).for_each(|(index, label)| *label = index % 10);
        }
        for (part, images) in PARTS.into_iter().zip([&set.train, &set.test]) {
            write(&place.path().join("cifar10"), part, images, |class| format!("class-{class}"));
        }
        (place, set)
    }

    fn problem(folder: &Path) -> String {
        super::super::read(Cifar::Ten, folder).unwrap_err().to_string()
    }

    fn pairs(images: &Images) -> Vec<(u8, &[u8])> {
        let mut pairs: Vec<_> =
            images.labels.iter().copied().zip(images.pixels.chunks_exact(PICTURE)).collect();
        pairs.sort();
        pairs
    }

    #[test]
    fn folders_of_pictures_are_read_in_a_mixed_order_that_stays() {
        let (place, set) = folder();
        assert!(super::super::is_present(Cifar::Ten, place.path()));
        let read = super::super::read(Cifar::Ten, place.path()).unwrap();
        assert_eq!((pairs(&read.train), pairs(&read.test)), (pairs(&set.train), pairs(&set.test)));
        assert!(!read.train.labels.is_sorted());
        let inside = super::super::read(Cifar::Ten, &place.path().join("cifar10")).unwrap();
        assert_eq!(inside.source.fingerprint, read.source.fingerprint);
        assert!(!read.source.synthetic);
    }

    #[test]
    fn classes_may_lie_in_coarse_ones() {
        let (place, set) = folder();
        let flat = super::super::read(Cifar::Ten, place.path()).unwrap();
        let train = place.path().join("cifar10/train");
        // 0 to 4 into a folder that sorts behind 5 to 9.
        for class in 0..10 {
            let coarse = train.join(if class < 5 { "z-coarse" } else { "a-coarse" });
            fs::create_dir_all(&coarse).unwrap();
            let name = format!("class-{class}");
            fs::rename(train.join(&name), coarse.join(&name)).unwrap();
        }
        let read = super::super::read(Cifar::Ten, place.path()).unwrap();
        assert_eq!(pairs(&read.train), pairs(&set.train));
        assert_eq!(read.train, flat.train, "in the same order");
    }

    #[test]
    fn what_is_wrong_with_the_folders_is_said() {
        let (place, _) = folder();
        let root = place.path().join("cifar10");
        fs::create_dir_all(root.join("test/class-x")).unwrap();
        assert!(problem(place.path()).contains("class-x: there is no such class among"));
        fs::remove_dir(root.join("test/class-x")).unwrap();
        fs::write(root.join("train/class-3/x.png"), b"GIF89a").unwrap();
        assert!(problem(place.path()).contains("x.png: no PNG can be read"));
        fs::remove_dir_all(root.join("train/class-3")).unwrap();
        assert!(
            problem(place.path()).contains("holds 9 folders of pictures, cifar10 has 10 classes")
        );
        fs::create_dir(root.join("train/class-3")).unwrap();
        assert!(problem(place.path()).contains("class-3: holds no picture"));
    }

    #[test]
    fn grey_and_transparent_pictures_become_red_green_and_blue() {
        let encoded = |color: ColorType, pixel: &[u8]| {
            let mut bytes = Vec::new();
            let mut encoder = png::Encoder::new(&mut bytes, 32, 32);
            encoder.set_color(color);
            encoder.write_header().unwrap().write_image_data(&pixel.repeat(1024)).unwrap();
            decode(Path::new("x.png"), &bytes).unwrap()
        };
        let at = |picture: Vec<u8>| [0, 1024, 3071].map(|i| picture[i]);
        assert_eq!(at(encoded(ColorType::Grayscale, &[7])), [7; 3]);
        assert_eq!(at(encoded(ColorType::GrayscaleAlpha, &[7, 100])), [7; 3]);
        assert_eq!(at(encoded(ColorType::Rgba, &[1, 2, 3, 0])), [1, 2, 3]);
    }

    #[test]
    fn other_sizes_are_refused_before_they_are_decoded() {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 33, 32);
        encoder.set_color(ColorType::Grayscale);
        encoder.write_header().unwrap().write_image_data(&[0; 33 * 32]).unwrap();
        let error = decode(Path::new("x.png"), &bytes).unwrap_err().to_string();
        assert!(error.contains("the picture has 33×32 pixels"), "{error}");
    }

    #[test]
    fn sixteen_bits_are_not_cut_to_eight() {
        let deep: image::ImageBuffer<image::Rgb<u16>, Vec<u16>> =
            image::ImageBuffer::from_pixel(SIDE as u32, SIDE as u32, image::Rgb([300; 3]));
        let mut bytes = Cursor::new(Vec::new());
        deep.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
        let said = decode(Path::new("a.png"), &bytes.into_inner()).unwrap_err().to_string();
        assert!(said.contains("16 bits for each channel"), "{said}");
    }
}
