//! What a call is without a breaker: nothing, or a service with no layer before it.
//!
//! They play the workloads of breakers too, since what they take there is in
//! everyone's numbers.

use super::upstream::{self, Request, Upstream};
use super::{Caller, Entry, Kind, Seen, Subject};
use crate::stage::{self, Stage};
use crate::workload::{Load, Style, Workload};

/// The loop around the calls, and nothing in it.
pub(super) const EMPTY_LOOP: Entry = Entry {
    name: "empty-loop",
    version: "",
    kind: Kind::Floor,
    stage: |workload| {
        if is_layered(workload.style) {
            return Err("there is a service in this loop".into());
        }
        set(workload, Nothing)
    },
};

/// A service that is made ready, called and polled.
pub(super) const BARE_SERVICE: Entry = Entry {
    name: "bare-service",
    version: "",
    kind: Kind::Floor,
    stage: |workload| {
        if workload.load != Load::Floor && !is_layered(workload.style) {
            return Err("there is no service in this loop".into());
        }
        set(workload, Upstream)
    },
};

/// The one that says what of a workload's numbers is not the breaker.
pub(super) fn beside(workload: Workload) -> Entry {
    if is_layered(workload.style) {
        BARE_SERVICE
    } else {
        EMPTY_LOOP
    }
}

fn is_layered(style: Style) -> bool {
    matches!(style, Style::Layer | Style::BorrowingLayer)
}

fn set(
    workload: Workload,
    called: impl Caller + Copy + Send + Sync + 'static,
) -> Result<Box<dyn Stage>, String> {
    match workload.load {
        Load::Floor | Load::Healthy | Load::Failing(_) => {
            stage::set(workload, move || Bare(called))
        }
        Load::Rejecting | Load::HalfOpenStorm | Load::Flapping => {
            Err("it admits every call".into())
        }
    }
}

#[derive(Clone, Copy)]
struct Nothing;

impl Caller for Nothing {
    #[inline(always)]
    fn call(&mut self, _: bool) -> bool {
        true
    }
}

impl Caller for Upstream {
    #[inline(always)]
    fn call(&mut self, fails: bool) -> bool {
        let _ = upstream::through(self, Request::that(fails));
        true
    }
}

struct Bare<C>(C);

impl<C: Caller + Copy + Send + Sync + 'static> Subject for Bare<C> {
    type Caller<'a> = C;

    fn caller(&self) -> C {
        self.0
    }

    fn state(&self) -> Seen {
        Seen::Admits
    }
}
