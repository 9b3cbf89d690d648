//! What the numbers were measured on, with, and when.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::Command;
use std::time::SystemTime;
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use crate::threads::cores;

/// A machine and a moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Who made it, as the processor says.
    #[serde(default)]
    pub vendor: Option<String>,
    /// Its family, which the vendor numbers.
    #[serde(default)]
    pub family: Option<u32>,
    /// Its model within the family.
    #[serde(default)]
    pub model: Option<u32>,
    /// Cores that this process may use.
    pub cores: usize,
    /// Whether it is a virtual machine, as far as the processor says.
    pub is_virtual: bool,
    /// The operating system and its version.
    pub system: String,
    /// What was measured: this crate's version, and the commit if that is known.
    #[serde(default)]
    pub version: Option<String>,
    /// The compiler.
    pub compiler: String,
    /// When the run began, in UTC.
    pub date: String,
    /// Full or quick.
    pub mode: String,
}

impl Machine {
    /// This machine, now.
    pub fn of_here(mode: &str) -> Self {
        let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            cores: cores(),
            system: format!("{} {}", env::consts::OS, release.trim()),
            version: Some(version()),
            compiler: env!("COMPILER").into(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            mode: mode.into(),
            ..Self::of_processor(&cpu)
        }
    }

    /// What Linux's list of processors says of the first one.
    fn of_processor(cpu: &str) -> Self {
        let field = |name: &str| {
            let mut fields = cpu.lines().filter_map(|line| line.split_once(':'));
            let (_, value) = fields.find(|(key, _)| key.trim() == name)?;
            Some(value.trim().to_string())
        };
        Self {
            processor: field("model name").unwrap_or_else(|| env::consts::ARCH.into()),
            vendor: field("vendor_id"),
            family: field("cpu family").and_then(|family| family.parse().ok()),
            model: field("model").and_then(|model| model.parse().ok()),
            is_virtual: field("flags").is_some_and(|flags| flags.contains("hypervisor")),
            cores: 0,
            system: String::new(),
            version: None,
            compiler: String::new(),
            date: String::new(),
            mode: String::new(),
        }
    }

    /// The kind of processor, short enough for the head of a column.
    pub fn kind(&self) -> String {
        let model = self.model.map(|model| format!(" model {model}"));
        let model = model.unwrap_or_default();
        let family = self
            .family
            .map(|family| format!(", family {family}{model}"));
        format!("{}{}", self.processor, family.unwrap_or_default())
    }

    /// A name for a folder: one for each kind of processor and number of cores.
    pub fn slug(&self) -> String {
        let text = format!("{} {} cores", self.kind(), self.cores).to_lowercase();
        let text = text.replace("(r)", "").replace("(tm)", "");
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        words.join("-")
    }

    /// Writes it down beside what is measured on it.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        fs::write(path, serde_json::to_string_pretty(self)? + "\n")
    }

    /// The machine of a run that was written down.
    pub fn read(path: &Path) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(path)?)?)
    }
}

/// The processor with its numbers, which tell apart what has one name.
impl Display for Machine {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let kind = if self.is_virtual { ", virtual" } else { "" };
        write!(formatter, "{}, {} cores{kind}", self.kind(), self.cores)?;
        match &self.vendor {
            Some(vendor) => write!(formatter, " ({vendor})"),
            None => Ok(()),
        }
    }
}

/// This crate's version and the commit of the sources, `-dirty` if they are none.
fn version() -> String {
    let version = env!("VERSION_cutout");
    let git = Command::new("git")
        .args(["describe", "--always", "--dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output();
    let commit = git.ok().filter(|git| git.status.success());
    let commit = commit.and_then(|git| String::from_utf8(git.stdout).ok());
    commit.map_or(version.into(), |commit| {
        format!("{version}, {}", commit.trim())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CPU: &str = "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 207\n\
                       model name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu hypervisor\n";

    #[test]
    fn a_processor_is_named_with_family_and_model() {
        let machine = Machine {
            cores: 2,
            ..Machine::of_processor(CPU)
        };
        assert_eq!(machine.vendor.as_deref(), Some("GenuineIntel"));
        assert_eq!(
            machine.to_string(),
            "Intel(R) Xeon(R) Processor, family 6 model 207, 2 cores, virtual (GenuineIntel)"
        );
        assert_eq!(
            machine.slug(),
            "intel-xeon-processor-family-6-model-207-2-cores"
        );
    }

    #[test]
    fn a_processor_that_says_nothing_has_a_name_too() {
        let machine = Machine {
            cores: 8,
            ..Machine::of_processor("")
        };
        assert_eq!(
            machine.slug(),
            format!("{}-8-cores", env::consts::ARCH.replace('_', "-"))
        );
    }
}
