//! Turn a figure into a picture of dots.

use crate::figure::{Figure, drawing};
use resvg::{tiny_skia, usvg};
use std::sync::Arc;
use warpquad::Result;

/// Dots for one pixel of the figure: sharp on paper and on fine screens.
const DOTS: f32 = 2.0;

/// The figure as PNG, on white.
pub fn png(figure: &Figure) -> Result<Vec<u8>> {
    let mut options = usvg::Options {
        font_family: "DejaVu Sans".into(),
        ..usvg::Options::default()
    };
    // A font of our own, so that a machine without any writes labels too.
    let fonts = Arc::make_mut(&mut options.fontdb);
    fonts.load_font_data(dejavu::sans::regular().to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    let tree = usvg::Tree::from_str(&figure.svg, &options).map_err(drawing)?;
    let size = tree.size();
    let (width, height) = (size.width() * DOTS, size.height() * DOTS);
    let dots = tiny_skia::Pixmap::new(width as u32, height as u32);
    let mut dots = dots.ok_or_else(|| drawing("it has no size"))?;
    dots.fill(tiny_skia::Color::WHITE);
    let scale = tiny_skia::Transform::from_scale(DOTS, DOTS);
    resvg::render(&tree, scale, &mut dots.as_mut());
    dots.encode_png().map_err(drawing)
}
