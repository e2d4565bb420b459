//! Decodes an image file.

use crate::{Error, Result};
use gelu_compare::error::Place;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageReader, Limits};
use std::io::Cursor;
use std::path::Path;

/// The largest side of an image that is not scaled, and the memory for decoding it.
const LARGEST_SIDE: u32 = 4096;
const MOST_MEMORY: u64 = 256 << 20;
/// The same limits for images that are scaled; they allow for cameras of 200 megapixels.
const LARGEST_SCALED_SIDE: u32 = 32_768;
const MOST_SCALED_MEMORY: u64 = 1 << 30;

/// Decodes a PNG or JPEG, whatever its name, and turns it upright by its EXIF data; error messages name `path`. With
/// `size`, the caller scales the image to this many pixels per side.
///
/// # Errors
///
/// If the file is neither PNG nor JPEG, is damaged, has 16 bits per channel, or has a side of more than 4,096 pixels,
/// or 32,768 if it is scaled.
pub fn decode(path: &Path, bytes: &[u8], size: Option<usize>) -> Result<DynamicImage> {
    let refuse =
        |problem: String, advice: &str| Err(Error::data(path, Place::File, problem, advice));
    let damaged = |error: image::ImageError| {
        // The decoders' messages have line breaks, and may quote the file's content.
        let said: String = error
            .to_string()
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(200)
            .collect();
        let problem = format!("no PNG or JPEG can be read: {}", said.trim_end());
        Error::data(path, Place::File, problem, "copy it again, or remove it")
    };
    let (side, memory) = match size {
        Some(_) => (LARGEST_SCALED_SIDE, MOST_SCALED_MEMORY),
        None => (LARGEST_SIDE, MOST_MEMORY),
    };
    let mut reader = ImageReader::new(Cursor::new(bytes))
        .with_guessed_format()
        .map_err(Error::io("read", path))?;
    // The size is checked here, so that the error can name it.
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(memory);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    if width.max(height) > side || decoder.total_bytes() > memory {
        let problem =
            format!("has {width}×{height} pixels, which are more than this program reads");
        return refuse(
            problem,
            match size {
                Some(_) => "scale it down, or remove it",
                None => {
                    "`size = N` in the recipe's data scales images down (--size N of `gelu data info`)"
                }
            },
        );
    }
    let color = decoder.color_type();
    if color.bytes_per_pixel() > color.channel_count() {
        return refuse(
            format!(
                "has {} bits for each channel",
                8 * color.bytes_per_pixel() / color.channel_count()
            ),
            "this program reads 8: convert it, for example with `magick mogrify -depth 8`",
        );
    }
    // Ignore damaged orientation data.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let mut picture = DynamicImage::from_decoder(decoder).map_err(damaged)?;
    picture.apply_orientation(orientation);
    Ok(picture)
}

/// Returns the width and height of an image in its upright orientation.
pub(super) fn shown_size(path: &Path, bytes: &[u8]) -> Result<(u32, u32)> {
    let damaged = |_| {
        Error::data(path, Place::File, "no PNG or JPEG can be read", "copy it again, or remove it")
    };
    let reader = ImageReader::new(Cursor::new(bytes)).with_guessed_format();
    let reader = reader.map_err(Error::io("read", path))?;
    let mut decoder = reader.into_decoder().map_err(damaged)?;
    let (width, height) = decoder.dimensions();
    use Orientation::{Rotate90, Rotate90FlipH, Rotate270, Rotate270FlipH};
    Ok(match decoder.orientation() {
        Ok(Rotate90 | Rotate270 | Rotate90FlipH | Rotate270FlipH) => (height, width),
        _ => (width, height),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::{GrayImage, ImageBuffer, ImageFormat, Luma, Rgb, RgbImage};

    fn encoded(picture: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        picture.write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    fn refused(bytes: &[u8], size: Option<usize>) -> String {
        decode(Path::new("a.png"), bytes, size).unwrap_err().to_string()
    }

    /// Adds the segment APP1 of EXIF 2.3: a little-endian TIFF with one entry, 0x0112, Orientation.
    fn turned(jpeg: &[u8], orientation: u8) -> Vec<u8> {
        let mut exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
        let length = (exif.len() as u16 + 2).to_be_bytes();
        [&jpeg[..2], &[0xff, 0xe1], &length, &exif, &jpeg[2..]].concat()
    }

    #[test]
    fn pictures_are_turned_as_their_notes_say() {
        // The left half is bright. With 16×8 pixels, no block of the JPEG has both halves.
        let picture = RgbImage::from_fn(16, 8, |x, _| Rgb([if x < 8 { 250 } else { 5 }; 3]));
        let jpeg = encoded(&picture.into(), ImageFormat::Jpeg);
        // The cases of EXIF 2.3: which sides of the upright image are the first row and the first column of the file.
        for (orientation, width, bright) in [
            (1, 16, (0, 0)),
            (2, 16, (15, 0)),
            (3, 16, (15, 7)),
            (4, 16, (0, 7)),
            (5, 8, (0, 0)),
            (6, 8, (7, 0)),
            (7, 8, (7, 15)),
            (8, 8, (0, 15)),
        ] {
            let bytes = turned(&jpeg, orientation);
            let shown = decode(Path::new("a"), &bytes, None).unwrap().into_luma8();
            assert_eq!((shown.width(), shown.height()), (width, 128 / width), "{orientation}");
            assert_eq!(shown_size(Path::new("a"), &bytes).unwrap(), shown.dimensions());
            assert!(shown.get_pixel(bright.0, bright.1)[0] > 200, "{orientation}");
            let (x, y) = (width - 1 - bright.0, 128 / width - 1 - bright.1);
            assert!(shown.get_pixel(x, y)[0] < 50, "{orientation}");
        }
        assert_eq!(decode(Path::new("a"), &jpeg, None).unwrap().width(), 16);
    }

    #[test]
    fn sixteen_bits_are_refused() {
        let grey: ImageBuffer<Luma<u16>, Vec<u16>> = ImageBuffer::from_pixel(3, 2, Luma([4_000]));
        let coloured: ImageBuffer<Rgb<u16>, Vec<u16>> =
            ImageBuffer::from_pixel(3, 2, Rgb([4_000; 3]));
        for picture in [DynamicImage::from(grey), coloured.into()] {
            let said = refused(&encoded(&picture, ImageFormat::Png), None);
            assert!(said.contains("has 16 bits for each channel"), "{said}");
        }
    }

    #[test]
    fn large_pictures_can_be_scaled() {
        let wide: DynamicImage = GrayImage::from_pixel(LARGEST_SIDE + 1, 2, Luma([7])).into();
        let wide = encoded(&wide, ImageFormat::Png);
        let said = refused(&wide, None);
        assert!(said.contains("has 4097×2 pixels") && said.contains("`size = N`"), "{said}");
        assert_eq!(decode(Path::new("a"), &wide, Some(8)).unwrap().width(), 4097);
    }
}
