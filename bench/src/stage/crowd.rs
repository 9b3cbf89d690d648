//! Many subjects, called in a scattered order.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::play::Crowd;
use crate::subject::{Caller, Subject};

pub(super) struct Members<S>(pub(super) Vec<S>);

impl<S: Subject> Crowd for Members<S> {
    fn run(&self, calls: u64) -> Duration {
        let members = self.0.len() as u64;
        let mut random = 0x2545_f491_4f6c_dd1d_u64;
        let start = Instant::now();
        for _ in 0..calls {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let place = ((u128::from(random) * u128::from(members)) >> 64) as usize;
            self.0[place].caller().call(false);
            black_box(());
        }
        start.elapsed()
    }
}
