//! `recloser`: a ring behind a spin lock, the state behind an epoch-reclaimed pointer.

use recloser::{Error, Recloser};

use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Seen, Shared};
use crate::workload::Workload;

pub(super) const ENTRY: Entry = Entry {
    name: "recloser",
    version: env!("VERSION_recloser"),
    kind: Kind::Peer,
    can: Can {
        listener: false,
        ..Can::PLAIN.without_quota()
    },
    set: |workload| stage::set(workload, move || build(workload)),
};

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

impl Shared for Peer {
    // It judges the call after the one that fills a ring, in both states.
    const CYCLE: (u32, u32) = (11, 2);

    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        let result = self.0.call(|| if fails { Err(()) } else { Ok(()) });
        !matches!(result, Err(Error::Rejected))
    }

    fn state(&self) -> Seen {
        // It does not say; a call that succeeds changes nothing that is measured.
        match self.0.call(|| Ok::<_, ()>(())) {
            Err(Error::Rejected) => Seen::Open,
            _ => Seen::Admits,
        }
    }
}
