//! The places of the tables in the READMEs.

use std::path::{Path, PathBuf};
use std::{fs, io};

use super::kept::{self, Kept};
use super::{by_subject, side_by_side};

const BEGIN: &str = "<!-- results: `cargo run -p cutout-bench --example machines -- --write` -->\n";
const END: &str = "<!-- end of results -->";

/// The READMEs with the tables as they should be.
pub fn all() -> io::Result<Vec<(PathBuf, String)>> {
    let kept = kept::all()?;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let of_machine = |kept: &Kept| {
        let folder = kept::root().join(kept.machine.slug());
        (folder.join("README.md"), by_subject::page(kept))
    };
    let readme = |name: &str, table: String| {
        let path = root.join(name);
        let text = fs::read_to_string(&path)?.replace("\r\n", "\n");
        let text = put(&text, &table).ok_or_else(|| {
            let missing = format!("{name}: its table is not between `{BEGIN}` and `{END}`");
            io::Error::new(io::ErrorKind::InvalidData, missing)
        })?;
        Ok::<_, io::Error>((path, text))
    };
    let mut readmes = vec![
        readme("README.md", side_by_side::with_peers(&kept))?,
        readme("../core/README.md", side_by_side::by_case(&kept))?,
    ];
    readmes.extend(kept.iter().map(of_machine));
    Ok(readmes)
}

/// Writes the tables into the READMEs.
pub fn write() -> io::Result<()> {
    for (path, text) in all()? {
        fs::write(path, text)?;
    }
    Ok(())
}

fn put(text: &str, table: &str) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{table}\n{END}{after}"))
}
