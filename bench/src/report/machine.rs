//! What the numbers were measured on, with, and when.

use std::time::SystemTime;
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use super::folder::Folder;
use crate::threads::cores;

/// A machine and a moment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Whether it is a virtual machine, as far as the processor says.
    pub is_virtual: bool,
    /// The operating system and its version.
    pub system: String,
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
        let field = |name: &str| {
            let line = cpu.lines().find(|line| line.starts_with(name))?;
            Some(line.split_once(':')?.1.trim().to_string())
        };
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Self {
            processor: field("model name").unwrap_or_else(|| env::consts::ARCH.into()),
            cores: cores(),
            is_virtual: field("flags").is_some_and(|flags| flags.contains("hypervisor")),
            system: format!("{} {}", env::consts::OS, release.trim()),
            compiler: env!("COMPILER").into(),
            date: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            mode: mode.into(),
        }
    }

    /// Writes it down beside what is measured on it.
    pub fn write(&self, folder: &Folder) -> io::Result<()> {
        fs::write(folder.machine(), serde_json::to_string_pretty(self)?)
    }

    /// The machine of a run that was written down.
    pub fn read(folder: &Folder) -> io::Result<Self> {
        Ok(serde_json::from_str(&fs::read_to_string(
            folder.machine(),
        )?)?)
    }
}
