//! Changes of the configuration while requests run: from the file, and from operators.

use std::io::{self, Write};
use std::path::Path;

use crate::config::{File, Problem, Version, edit};
use crate::gateway::Gateway;
use crate::providers::Fleet;

/// Why the configuration was not changed. It is as it was.
#[derive(Debug)]
pub enum NotChanged {
    /// The change was made for another version: this is the one in force.
    OtherVersion(Version),
    /// The file has been changed by hand and not been read again yet.
    FileChanged,
    /// The edit itself is not possible.
    Refused(edit::Refused),
    /// What would come of it is not legal.
    Problem(Problem),
    /// The file cannot be written.
    Unwritable(io::Error),
}

impl Gateway {
    /// Reads the file again and puts it in force. A file that is not legal, is cut off, or asks less of clients or operators is
    /// refused, and why is kept to be shown ([`problem`](Gateway::problem)). Requests in flight go on with the configuration they began with; breakers keep
    /// their states and windows. A text that is in force already is taken again only `anew`: the keys that it points at
    /// may be others.
    pub fn reload(&self, anew: bool) {
        let Some(path) = &self.path else { return };
        if anew {
            self.requests.log.reopen();
        }
        let changing = self.changing();
        let result = File::read_again(path).and_then(|file| {
            if !anew && file.version == self.fleet.load().version {
                return Ok(None);
            }
            if is_cut(&self.fleet.load().text, &file.text) {
                let message = "it is the beginning of the one in force, as if cut off while it was written; if that is meant, \
                               add a comment at its end";
                return Err(file.problem("", message));
            }
            self.prepare(file).map(Some)
        });
        let problem = match result {
            Ok(None) => None,
            Ok(Some(next)) => {
                tracing::info!(version = %next.fleet.version, "the configuration was read again");
                self.put_in_force(next);
                None
            }
            Err(problem) => {
                tracing::error!(%problem, "the configuration was not changed");
                Some(problem)
            }
        };
        self.set_problem(problem);
        drop(changing);
    }

    /// Changes the text of the version `of` by `edit`, puts it in force, and writes it to the file.
    ///
    /// # Errors
    ///
    /// [`NotChanged`] if another change came first, or if what would come of it is not legal.
    pub fn change(
        &self,
        of: &str,
        edit: impl FnOnce(&Fleet) -> Result<String, edit::Refused>,
    ) -> Result<Version, NotChanged> {
        let _changing = self.changing();
        let now = self.fleet.load_full();
        if now.version.to_string() != of {
            return Err(NotChanged::OtherVersion(now.version));
        }
        if let Some(path) = &self.path
            && std::fs::read_to_string(path).map_err(NotChanged::Unwritable)? != now.text
        {
            return Err(NotChanged::FileChanged);
        }
        let text = edit(&now).map_err(NotChanged::Refused)?;
        let file = File::parse(text).map_err(NotChanged::Problem)?;
        let next = self.prepare(file).map_err(NotChanged::Problem)?;
        if let Some(path) = &self.path {
            replace(path, &next.fleet.text).map_err(NotChanged::Unwritable)?;
        }
        let version = next.fleet.version;
        self.put_in_force(next);
        Ok(version)
    }
}

/// Whether a text is another one that somebody has cut off.
fn is_cut(whole: &str, text: &str) -> bool {
    let (whole, text) = (whole.trim_end(), text.trim_end());
    text.len() < whole.len() && whole.starts_with(text)
}

/// Replaces a file as a whole: who reads it sees the old text or the new one.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    // A link stays one.
    let path = path.canonicalize()?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let draft = folder.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        let mut file = std::fs::File::create(&draft)?;
        file.set_permissions(std::fs::metadata(&path)?.permissions())?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        std::fs::rename(&draft, &path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}
