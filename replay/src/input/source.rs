//! Where the bytes come from: files and the standard input, plain or compressed.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flate2::bufread::MultiGzDecoder;

use crate::Error;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file, plain or compressed with gzip or zstd: its first bytes say which.
    File(PathBuf),
    /// The standard input, likewise.
    Stdin,
    /// Bytes in memory, likewise, under a name.
    Memory(String, Arc<[u8]>),
}

impl Source {
    /// The file of this name; `-` is the standard input.
    pub fn named(name: &str) -> Self {
        match name {
            "-" => Self::Stdin,
            name => Self::File(name.into()),
        }
    }

    /// Its name, for messages.
    pub fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Stdin => "standard input".to_owned(),
            Self::Memory(name, _) => name.clone(),
        }
    }

    pub(super) fn open(&self, progress: &Progress) -> Result<Lines, Error> {
        let fail = |error| Error::File {
            path: self.name().into(),
            error,
        };
        let raw: Box<dyn Read + Send> = match self {
            Self::File(path) => {
                let file = File::open(path).map_err(fail)?;
                let length = file.metadata().map_err(fail)?;
                if length.is_dir() {
                    return Err(fail(io::ErrorKind::IsADirectory.into()));
                }
                progress.total.fetch_add(length.len(), Relaxed);
                Box::new(file)
            }
            Self::Stdin => Box::new(io::stdin()),
            Self::Memory(_, bytes) => {
                progress.total.fetch_add(bytes.len() as u64, Relaxed);
                Box::new(io::Cursor::new(bytes.clone()))
            }
        };
        let counted = Counted {
            raw,
            progress: progress.clone(),
        };
        let mut buffered = BufReader::with_capacity(1 << 17, counted);
        let begin = buffered.fill_buf().map_err(fail)?;
        let from: Box<dyn BufRead + Send> = if begin.starts_with(&[0x1f, 0x8b]) {
            Box::new(BufReader::with_capacity(
                1 << 17,
                MultiGzDecoder::new(buffered),
            ))
        } else if begin.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            let mut decoder = zstd::Decoder::with_buffer(buffered).map_err(fail)?;
            // At most 128 MiB: what `zstd` itself unpacks without being told more.
            decoder.window_log_max(27).map_err(fail)?;
            Box::new(BufReader::with_capacity(1 << 17, decoder))
        } else {
            Box::new(buffered)
        };
        Ok(Lines {
            from,
            line: Vec::new(),
        })
    }
}

/// How many bytes there are, as far as that is known, and how many were read.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    total: Arc<AtomicU64>,
    read: Arc<AtomicU64>,
}

impl Progress {
    /// The bytes of all files that were opened; the standard input has no size.
    pub fn total(&self) -> u64 {
        self.total.load(Relaxed)
    }

    /// The bytes that were read.
    pub fn read(&self) -> u64 {
        self.read.load(Relaxed)
    }
}

struct Counted {
    raw: Box<dyn Read + Send>,
    progress: Progress,
}

impl Read for Counted {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let read = self.raw.read(to)?;
        self.progress.read.fetch_add(read as u64, Relaxed);
        Ok(read)
    }
}

/// Lines of bounded length.
pub(super) struct Lines {
    from: Box<dyn BufRead + Send>,
    line: Vec<u8>,
}

/// What a line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A whole one.
    Whole,
    /// Longer than [`Lines::MAX`]: its rest was passed over.
    Cut,
    /// There is none any more.
    End,
}

impl Lines {
    /// The longest line that is read: batches of spans are long.
    pub(super) const MAX: usize = 16 << 20;

    /// Reads the next line; its text is what [`text`](Self::text) gives.
    pub(super) fn next(&mut self) -> io::Result<Line> {
        self.line.clear();
        let mut cut = false;
        loop {
            let buffer = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                buffer => buffer?,
            };
            if buffer.is_empty() {
                let nothing = self.line.is_empty() && !cut;
                return Ok(if nothing {
                    Line::End
                } else if cut {
                    Line::Cut
                } else {
                    Line::Whole
                });
            }
            let end = memchr::memchr(b'\n', buffer);
            let part = &buffer[..end.unwrap_or(buffer.len())];
            if self.line.len() + part.len() > Self::MAX {
                cut = true;
                self.line.clear();
            }
            if !cut {
                self.line.extend_from_slice(part);
            }
            let used = end.map_or(part.len(), |end| end + 1);
            self.from.consume(used);
            if end.is_some() {
                return Ok(if cut { Line::Cut } else { Line::Whole });
            }
        }
    }

    /// The line that was read, without its end.
    pub(super) fn text(&self) -> &[u8] {
        self.line.strip_suffix(b"\r").unwrap_or(&self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(bytes: &[u8]) -> Vec<(Line, usize)> {
        let source = Source::Memory("test".into(), bytes.into());
        let mut lines = source.open(&Progress::default()).unwrap();
        let mut all = Vec::new();
        loop {
            match lines.next().unwrap() {
                Line::End => return all,
                line => all.push((line, lines.text().len())),
            }
        }
    }

    #[test]
    fn a_line_beyond_bounds_is_cut_and_the_next_is_read() {
        let mut bytes = vec![b'x'; 40 << 20];
        bytes.extend_from_slice(b"\nabc\r\n\nlast");
        let read = lines(&bytes);
        assert_eq!(read[0].0, Line::Cut);
        assert_eq!(
            read[1..],
            [(Line::Whole, 3), (Line::Whole, 0), (Line::Whole, 4)]
        );
    }

    #[test]
    fn compressed_bytes_are_unpacked_several_members_too() {
        use std::io::Write as _;
        let mut packed = Vec::new();
        for text in ["one\n", "two\n"] {
            let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gz.write_all(text.as_bytes()).unwrap();
            packed.extend(gz.finish().unwrap());
        }
        assert_eq!(lines(&packed), [(Line::Whole, 3); 2]);
        let packed = zstd::encode_all(&b"one\ntwo\n"[..], 1).unwrap();
        assert_eq!(lines(&packed), [(Line::Whole, 3); 2]);
    }
}
