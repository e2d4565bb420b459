//! Converts SVG to PNG. It embeds a font, because the machine may have none.

use crate::{Error, Result};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use std::sync::Arc;

/// The number of pixels per unit of the SVG.
const SCALE: f32 = 2.0;

/// Renders an SVG document as PNG.
///
/// # Errors
///
/// Returns an error if `svg` is not SVG or too large for memory.
pub fn png(svg: &str) -> Result<Vec<u8>> {
    let mut options = Options::default();
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    fonts.set_sans_serif_family("Ubuntu");
    options.font_family = "Ubuntu".to_owned();
    let broken = |problem: String| Error::Failed(format!("cannot render a figure: {problem}"));
    let tree = Tree::from_str(svg, &options).map_err(|error| broken(error.to_string()))?;
    let size = tree.size().to_int_size().scale_by(SCALE);
    let size = size.ok_or_else(|| broken("it has no size".to_owned()))?;
    let pixmap = Pixmap::new(size.width(), size.height());
    let mut pixmap = pixmap.ok_or_else(|| broken("it is too large".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| broken(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_drawn_without_any_font_installed() {
        let page = |text: &str| {
            let body =
                format!("<text x='5' y='30' font-family='sans-serif' font-size='20'>{text}</text>");
            let head = "<svg xmlns='http://www.w3.org/2000/svg' width='100' height='40'>";
            png(&format!("{head}{body}</svg>")).unwrap()
        };
        assert_ne!(page("GELU"), page(""), "text leaves ink");
        assert_eq!(&page("GELU")[1..4], b"PNG");
    }

    #[test]
    fn what_is_no_svg_is_refused() {
        assert!(png("not a picture").is_err());
    }
}
