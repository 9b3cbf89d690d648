//! A short text on how a call ended.

use core::fmt;

/// A short text that a caller gives with an outcome: `connection refused`, `503`.
///
/// It is what an operator reads first when a breaker has opened: the breaker keeps the one of
/// the outcome that opened it ([`Trip::label`](crate::Trip::label)), and drops all others. A label is a plain value
/// of [`MAX_LEN`](Self::MAX_LEN) bytes that is copied and never allocates. A longer text is cut there, at the end of a whole
/// character, so an upstream that answers a megabyte can do no harm.
///
/// # Examples
///
/// ```
/// use cutout::{Label, Outcome, Report};
///
/// let error = std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
/// let report = Report::from(Outcome::Failure).label(Label::of(&error));
/// assert_eq!(report.label.unwrap().as_str(), "connection refused");
///
/// assert_eq!(Label::new(&"é".repeat(1_000_000)).as_str(), "é".repeat(32));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Label {
    len: u8,
    bytes: [u8; Self::MAX_LEN],
}

impl Label {
    /// The longest label, in bytes.
    pub const MAX_LEN: usize = 64;

    const EMPTY: Self = Self {
        len: 0,
        bytes: [0; Self::MAX_LEN],
    };

    /// A text as a label, cut if it is too long.
    pub const fn new(text: &str) -> Self {
        let mut label = Self::EMPTY;
        let text = cut(text, Self::MAX_LEN).as_bytes();
        while (label.len as usize) < text.len() {
            label.bytes[label.len as usize] = text[label.len as usize];
            label.len += 1;
        }
        label
    }

    /// What a value displays as, without a text in between. Writing stops where the label is full.
    pub fn of(value: impl fmt::Display) -> Self {
        let mut writer = Writer(Self::EMPTY);
        // An error says that it is full, which is no fault.
        let _ = fmt::write(&mut writer, format_args!("{value}"));
        writer.0
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        // It is cut between characters, so it always is one.
        core::str::from_utf8(&self.bytes[..usize::from(self.len)]).unwrap_or_default()
    }
}

impl From<&str> for Label {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_str().fmt(f)
    }
}

struct Writer(Label);

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let len = usize::from(self.0.len);
        let fits = cut(text, Label::MAX_LEN - len);
        self.0.bytes[len..len + fits.len()].copy_from_slice(fits.as_bytes());
        self.0.len += fits.len() as u8;
        if fits.len() < text.len() {
            return Err(fmt::Error);
        }
        Ok(())
    }
}

/// The whole characters at the start of a text that fit in so many bytes.
pub(crate) const fn cut(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.split_at(end).0
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    #[test]
    fn a_text_that_is_too_long_is_cut_between_characters() {
        for character in ["a", "é", "€", "𝄞"] {
            let text = character.repeat(Label::MAX_LEN);
            let whole = Label::MAX_LEN / character.len();
            assert_eq!(Label::new(&text).as_str(), character.repeat(whole));
            assert_eq!(Label::of(&text), Label::new(&text));
            let pieces = format!("x{text}");
            let whole = (Label::MAX_LEN - 1) / character.len();
            assert_eq!(
                Label::of(format_args!("x{text}")).as_str(),
                &pieces[..1 + whole * character.len()]
            );
        }
        assert_eq!(Label::new("").as_str(), "");
    }
}
