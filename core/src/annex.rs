//! What only some windows need, beside the breaker.

use alloc::boxed::Box;

use once_cell::race::OnceBox;

use crate::config::Window;
use crate::window::count::Far;
use crate::window::time::Timeline;

/// A pointer's worth, until a window larger than the near ring, or a time window, asks for more.
#[derive(Debug, Default)]
pub(crate) struct Annex(OnceBox<Parts>);

#[derive(Debug, Default)]
struct Parts {
    far: Far,
    timeline: OnceBox<Timeline>,
}

impl Annex {
    /// Makes room for a window.
    pub(crate) fn reserve(&self, window: Window) {
        if !window.is_near() {
            let parts = self.0.get_or_init(Box::default);
            match window {
                Window::Count(size) => parts.far.reserve(size),
                Window::Time { length, buckets } => {
                    let new = || Box::new(Timeline::new(length, buckets));
                    parts.timeline.get_or_init(new);
                }
            }
        }
    }

    #[inline]
    pub(crate) fn far(&self) -> Option<&Far> {
        self.0.get().map(|parts| &parts.far)
    }

    /// The timeline, if there has ever been a time window.
    #[inline]
    pub(crate) fn timeline(&self) -> Option<&Timeline> {
        self.0.get()?.timeline.get()
    }
}
