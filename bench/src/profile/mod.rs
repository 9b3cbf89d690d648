//! The contention profile: every workload against every subject, side by side.
//!
//! The process that `cargo bench` starts plans the tasks and collects
//! ([`coordinator`]). Each task is measured in processes of its own
//! ([`worker`]), several of them where threads contend, since where the lines
//! of a subject fall is settled once per process. A worker sets up all subjects and takes one
//! round of each in turn, so that a drift of the machine hits all alike.

pub mod coordinator;
pub mod plan;
mod progress;
pub mod worker;

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Everything, in a few minutes.
    Full,
    /// The main cells, in less than a minute.
    Quick,
    /// Each cell once and briefly, to see that it runs.
    Test,
}

impl Mode {
    /// As it is handed to workers.
    pub fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Quick => "quick",
            Self::Test => "test",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Full, Self::Quick, Self::Test]
            .into_iter()
            .find(|mode| mode.name() == name)
    }
}
