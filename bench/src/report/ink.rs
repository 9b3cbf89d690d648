//! The colours of charts: numbers, which the page's style sheet turns into
//! colours for light and for dark.

use plotters::style::RGBColor;

/// A colour of the page.
///
/// Plotters writes colours as hex digits. Each ink is drawn as a hex colour
/// that nothing else has, and replaced afterwards by a reference to the style sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ink(u8);

impl Ink {
    /// Text and axes.
    pub(crate) const TEXT: Self = Self(0);
    /// Grid lines.
    pub(crate) const GRID: Self = Self(1);
    /// This crate.
    pub(crate) const OURS: Self = Self(2);
    /// A floor.
    pub(crate) const FLOOR: Self = Self(3);
    /// All of them, eight peers included.
    const COUNT: u8 = 12;

    /// The peer of that number.
    pub(crate) fn peer(number: usize) -> Self {
        Self(4 + (number % 8) as u8)
    }

    /// What plotters is given for it.
    pub(crate) fn stand_in(self) -> RGBColor {
        RGBColor(self.0 + 1, 0xfe, 0xdc)
    }

    /// A chart with the style sheet's colours in the places of their stand-ins.
    pub(crate) fn into_page(svg: &str) -> String {
        (0..Self::COUNT)
            .map(Self)
            .fold(svg.to_string(), |svg, ink| {
                let RGBColor(red, green, blue) = ink.stand_in();
                let hex = format!("#{red:02X}{green:02X}{blue:02X}");
                svg.replace(&hex, &format!("var(--ink-{})", ink.0))
            })
    }
}
