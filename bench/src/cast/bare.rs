//! What a call is without a breaker: nothing, or a service with no layer before it.
//!
//! They play the workloads of breakers too, since what they take there is in
//! everyone's numbers.

use super::layered::{Answer, Layered};
use super::upstream::Upstream;
use crate::entry::{Can, Entry, Kind};
use crate::stage;
use crate::subject::{Seen, Shared};
use crate::workload::{Load, Style, Workload};

/// The loop around the calls, and nothing in it.
pub(super) const EMPTY_LOOP: Entry = Entry {
    name: "empty-loop",
    version: "",
    kind: Kind::Floor,
    can: Can {
        styles: &[Style::Plain, Style::Owned, Style::Closure, Style::Look],
        ..ALL_ADMITTED
    },
    set: |workload| stage::set(workload, || Nothing),
};

/// A service that is made ready, called and polled.
pub(super) const BARE_SERVICE: Entry = Entry {
    name: "bare-service",
    version: "",
    kind: Kind::Floor,
    can: ALL_ADMITTED,
    set: |workload| {
        if workload.load != Load::Floor && !workload.style.is_layered() {
            return Err("there is no service in this loop".into());
        }
        stage::set(workload, || Layered {
            service: Upstream,
            look: || Seen::Admits,
        })
    },
};

const ALL_ADMITTED: Can = Can {
    declines: |load| match load {
        Load::Floor | Load::Healthy | Load::Failing(_) => None,
        Load::Rejecting | Load::HalfOpenStorm | Load::Flapping => Some("it admits every call"),
    },
    ..Can::ALL
};

/// The one that says what of a workload's numbers is not the breaker.
pub(super) fn beside(workload: Workload) -> Entry {
    if workload.style.is_layered() {
        BARE_SERVICE
    } else {
        EMPTY_LOOP
    }
}

struct Nothing;

impl Shared for Nothing {
    #[inline(always)]
    fn call(&self, _: bool) -> bool {
        true
    }

    fn state(&self) -> Seen {
        Seen::Admits
    }
}

/// Of the bare service.
impl Answer for Result<(), ()> {
    #[inline(always)]
    fn is_admitted(&self) -> bool {
        true
    }
}
