//! What only some configs need, beside the breaker.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::contract::config::{Config, Window};
use crate::engine::in_flight::InFlight;
use crate::engine::records::Texts;
use crate::engine::window::count::{Far, NEAR_SIZE};
use crate::engine::window::time::Timeline;

/// A pointer's worth, until a config asks for more.
#[derive(Debug, Default)]
pub(crate) struct OnDemand(OnceBox<Parts>);

#[derive(Debug, Default)]
struct Parts {
    far: Far,
    timeline: OnceBox<Timeline>,
    texts: Texts,
    in_flight: OnceBox<InFlight>,
}

impl OnDemand {
    fn parts(&self) -> &Parts {
        self.0.get_or_init(Box::default)
    }

    /// Makes room for what a config needs.
    pub(crate) fn reserve(&self, config: &Config) {
        match config.window {
            Window::Count(..=NEAR_SIZE) => {}
            Window::Count(size) => self.parts().far.reserve(size),
            Window::Time { length, buckets } => {
                let new = || Box::new(Timeline::new(length, buckets));
                self.parts().timeline.get_or_init(new);
            }
        }
        if let Some(limit) = config.overdue_after() {
            let new = || Box::new(InFlight::new(limit));
            self.parts().in_flight.get_or_init(new);
        }
    }

    #[inline]
    pub(crate) fn far(&self) -> Option<&Far> {
        self.0.get().map(|parts| &parts.far)
    }

    /// The texts of the records, if there has been one.
    pub(crate) fn texts(&self) -> Option<&Texts> {
        self.0.get().map(|parts| &parts.texts)
    }

    /// The texts of the records, for one more.
    pub(crate) fn texts_for_more(&self) -> &Texts {
        &self.parts().texts
    }

    /// The calls in flight, if they have ever been counted while they are.
    #[inline]
    pub(crate) fn in_flight(&self) -> Option<&InFlight> {
        self.0.get()?.in_flight.get()
    }

    /// The timeline, if there has ever been a time window.
    #[inline]
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.0.get()?.timeline.get()
    }
}
