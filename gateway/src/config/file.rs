//! The file's text, its version, and what can be wrong with it.

use std::fmt;
use std::path::Path;

use toml_edit::Document;

use super::place::{path_at, span_of};
use super::{Config, check};

/// A configuration together with the text that says it.
#[derive(Clone, Debug)]
pub struct File {
    /// The text, as it was read.
    pub text: String,
    /// What it says.
    pub config: Config,
    /// Which text it is.
    pub version: Version,
}

impl File {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the line and the field.
    pub fn read(path: &Path) -> Result<Self, Problem> {
        let text = std::fs::read_to_string(path).map_err(|error| Problem {
            line: None,
            field: String::new(),
            message: format!("{} cannot be read: {error}", path.display()),
        })?;
        Self::parse(text)
    }

    /// Reads and checks a file that was read before. Of what is no file, like a pipe, nothing is read: nobody can say when that
    /// would end.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the line and the field.
    pub(crate) fn read_again(path: &Path) -> Result<Self, Problem> {
        if std::fs::metadata(path).is_ok_and(|there| !there.is_file()) {
            return Err(Problem {
                line: None,
                field: String::new(),
                message: format!("{} is no file any more", path.display()),
            });
        }
        Self::read(path)
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// A [`Problem`] with the line and the field.
    pub fn parse(text: String) -> Result<Self, Problem> {
        let document = Document::parse(text.as_str()).map_err(|error| {
            let span = error.span();
            Problem::at(&text, span, String::new(), error.message())
        })?;
        let config: Config = toml_edit::de::from_str(&text).map_err(|error| {
            let span = error.span();
            let field = span
                .clone()
                .map(|span| path_at(document.as_item(), span.start))
                .unwrap_or_default();
            Problem::at(&text, span, field, &in_plain_words(error.message()))
        })?;
        let file = Self {
            version: Version::of(&text),
            config,
            text,
        };
        check::check(&file.config).map_err(|(field, message)| file.problem(&field, &message))?;
        Ok(file)
    }

    /// What is wrong with a field, and the line that it is on.
    pub fn problem(&self, field: &str, message: &str) -> Problem {
        let document = Document::parse(self.text.as_str());
        let span = document
            .ok()
            .and_then(|document| span_of(document.as_item(), field));
        Problem::at(&self.text, span, field.to_owned(), message)
    }
}

/// What a library says of a value, in the words of those who write the file.
fn in_plain_words(message: &str) -> String {
    let words = [
        ("expected usize", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        (
            "expected a nonzero u64",
            "expected a whole number from 1 on",
        ),
        ("expected f64", "expected a number"),
        ("expected a sequence", "expected a list"),
        (
            "invalid socket address syntax",
            "must be an address and a port, like \"127.0.0.1:8080\"",
        ),
    ];
    words
        .iter()
        .fold(message.to_owned(), |message, (from, to)| {
            message.replace(from, to)
        })
}

/// Which text a configuration was read from: equal texts have equal versions, before and after a
/// restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(u64);

impl Version {
    /// The version of a text: its 64-bit FNV-1a hash.
    pub fn of(text: &str) -> Self {
        let mut hash = 0xcbf2_9ce4_8422_2325_u64;
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Self(hash)
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What is wrong with a configuration. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1, where there is one.
    pub line: Option<usize>,
    /// The field's path, say `provider[1].breaker.failure_ratio`; empty when it is the whole file.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Problem {
    fn at(text: &str, span: Option<std::ops::Range<usize>>, field: String, message: &str) -> Self {
        let line = span.map(|span| {
            let before = &text.as_bytes()[..span.start.min(text.len())];
            1 + before.iter().filter(|&&byte| byte == b'\n').count()
        });
        Self {
            line,
            field,
            message: message.trim_end().to_owned(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}
