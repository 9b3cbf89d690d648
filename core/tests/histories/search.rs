//! The search of Wing and Gong: is there an order of the calls, each placed
//! between its begin and its end, in which the model gives the same answers?
//!
//! Jeannette Wing and Chun Gong: "Testing and Verifying Concurrent Objects",
//! Journal of Parallel and Distributed Computing 17 (1993). What has been tried is
//! remembered, as Gavin Lowe proposes in "Testing for linearizability" (2017).

use std::collections::HashMap;

use cutout::model::{Model, ModelPermit};

use super::{Call, Permits, on_model};

/// The search for one history.
pub(crate) struct Search<'a> {
    calls: &'a [Call],
    now: u64,
    /// What was reached with the same calls placed, in whatever order.
    tried: HashMap<u64, Vec<Place>>,
}

/// A point between two calls.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) model: Model,
    pub(crate) permits: Permits<ModelPermit>,
}

impl<'a> Search<'a> {
    /// A search for an order of `calls`, at most 64, all made at the time `now`.
    pub(crate) fn new(calls: &'a [Call], now: u64) -> Self {
        assert!(calls.len() <= 64);
        Self {
            calls,
            now,
            tried: HashMap::new(),
        }
    }

    /// Whether there is an order that starts from this.
    pub(crate) fn succeeds_from(mut self, start: Place) -> bool {
        self.place_rest(0, start)
    }

    fn place_rest(&mut self, placed: u64, place: Place) -> bool {
        let is_placed = |index: &usize| placed & 1 << index != 0;
        let rest: Vec<usize> = (0..self.calls.len())
            .filter(|index| !is_placed(index))
            .collect();
        let Some(first_end) = rest.iter().map(|&index| self.calls[index].end).min() else {
            return true;
        };
        let tried = self.tried.entry(placed).or_default();
        if tried.contains(&place) {
            return false;
        }
        tried.push(place.clone());
        // Only a call that begins before any other has ended can come first.
        let calls = self.calls;
        rest.into_iter()
            .filter(|&index| calls[index].begin < first_end)
            .any(|index| {
                let mut next = place.clone();
                let call = &calls[index];
                let answer = on_model(&mut next.model, &call.op, &mut next.permits, self.now);
                next.model.take_events();
                answer == call.answer && self.place_rest(placed | 1 << index, next)
            })
    }
}
