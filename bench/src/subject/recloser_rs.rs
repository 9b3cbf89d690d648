//! `recloser`: a ring behind a spin lock, the state behind an epoch-reclaimed pointer.

use recloser::{Error, Recloser};

use super::{Caller, Entry, Kind, Seen, Subject};
use crate::stage;
use crate::workload::{Load, Workload};

pub(super) const ENTRY: Entry = Entry {
    name: "recloser",
    version: env!("VERSION_recloser"),
    kind: Kind::Peer,
    stage: |workload| {
        supported(workload)?;
        stage::set(workload, move || build(workload))
    },
};

fn supported(workload: Workload) -> Result<(), String> {
    match workload.load {
        Load::HalfOpenStorm => Err("half-open admits every caller".into()),
        Load::Floor => Err("not a floor".into()),
        _ if !workload.is_plain() => Err("it has no such window, rule or call".into()),
        _ if workload.listener => Err("it has no listeners".into()),
        _ => Ok(()),
    }
}

fn build(workload: Workload) -> Peer {
    Peer(
        Recloser::custom()
            .error_rate(workload.ratio() as f32)
            .closed_len(workload.outcomes())
            .half_open_len(1)
            .open_wait(workload.open_wait())
            .build(),
    )
}

struct Peer(Recloser);

impl Caller for &Peer {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        let result = self.0.call(|| if fails { Err(()) } else { Ok(()) });
        !matches!(result, Err(Error::Rejected))
    }
}

impl Subject for Peer {
    // It judges the call after the one that fills a ring, in both states.
    const CYCLE: (u32, u32) = (11, 2);

    type Caller<'a> = &'a Self;

    fn caller(&self) -> &Self {
        self
    }

    fn state(&self) -> Seen {
        // It does not say; a call that succeeds changes nothing that is measured.
        match self.0.call(|| Ok::<_, ()>(())) {
            Err(Error::Rejected) => Seen::Open,
            _ => Seen::Admits,
        }
    }
}
