//! In which order calls are replayed whose stamps do not say it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::call::Call;

/// The order of calls: as they were written, or one that their stamps allow as well.
///
/// A stamp of whole seconds says that a call was somewhere in that second. A drawn order puts each call at a
/// random place in it, so that several of them show how much of a result hangs on what the log does not say.
#[derive(Debug)]
pub struct Order {
    drawn: Option<Drawn>,
}

#[derive(Debug)]
struct Drawn {
    random: fastrand::Rng,
    width: u64,
    waiting: BinaryHeap<Reverse<(i64, u64)>>,
    calls: std::collections::HashMap<u64, Call>,
    count: u64,
}

impl Order {
    /// As the calls were written.
    pub const fn as_written() -> Self {
        Self { drawn: None }
    }

    /// Each call somewhere in its stamp, which is `width` nanoseconds wide.
    pub fn drawn(seed: u64, width: u64) -> Self {
        Self {
            drawn: Some(Drawn {
                random: fastrand::Rng::with_seed(seed),
                width: width.max(1),
                waiting: BinaryHeap::new(),
                calls: std::collections::HashMap::new(),
                count: 0,
            }),
        }
    }

    pub(super) const fn is_as_written(&self) -> bool {
        self.drawn.is_none()
    }

    /// Puts a call somewhere in its stamp.
    pub(super) fn draw(&mut self, mut call: Call) {
        if let Some(drawn) = &mut self.drawn {
            call.start = call
                .start
                .saturating_add_unsigned(drawn.random.u64(0..drawn.width));
            drawn.count += 1;
            drawn.waiting.push(Reverse((call.start, drawn.count)));
            drawn.calls.insert(drawn.count, call);
        }
    }

    /// The next call that begins before all whose stamps are this or later.
    pub(super) fn before(&mut self, stamp: i64) -> Option<Call> {
        let drawn = self.drawn.as_mut()?;
        let &Reverse((start, _)) = drawn.waiting.peek()?;
        if start > stamp || (start == stamp && stamp != i64::MAX) {
            return None;
        }
        let Reverse((_, number)) = drawn.waiting.pop()?;
        drawn.calls.remove(&number)
    }
}
