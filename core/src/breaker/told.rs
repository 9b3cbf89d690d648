//! How an error whose type is lost tells that it is a rejection.
//!
//! `dyn Error` can be asked for its source, and for nothing that a crate adds. So an error that is a
//! rejection answers that it has none, and leaves word on its thread for whoever asks to find one.

use core::error::Error;

pub(crate) use word_of_thread::{source_of, source_of_rejection};

#[cfg(feature = "std")]
mod word_of_thread {
    use core::cell::Cell;

    use super::Error;

    std::thread_local! {
        static IS_REJECTION: Cell<bool> = const { Cell::new(false) };
    }

    /// What an error that is a rejection answers to `Error::source`.
    pub(crate) fn source_of_rejection() -> Option<&'static (dyn Error + 'static)> {
        // A thread that is going away may have lost it, here and below.
        let _ = IS_REJECTION.try_with(|told| told.set(true));
        None
    }

    /// The source of an error, and whether the error is a rejection.
    pub(crate) fn source_of<'a>(
        error: &'a (dyn Error + 'static),
    ) -> (bool, Option<&'a (dyn Error + 'static)>) {
        let _ = IS_REJECTION.try_with(|told| told.set(false));
        let source = error.source();
        let told = IS_REJECTION.try_with(Cell::get);
        (told.unwrap_or(false), source)
    }
}

/// Without threads of its own to leave word on, a `CallError` that was boxed as it is passes for a failure.
#[cfg(not(feature = "std"))]
mod word_of_thread {
    use super::Error;

    pub(crate) fn source_of_rejection() -> Option<&'static (dyn Error + 'static)> {
        None
    }

    pub(crate) fn source_of<'a>(
        error: &'a (dyn Error + 'static),
    ) -> (bool, Option<&'a (dyn Error + 'static)>) {
        (false, error.source())
    }
}
