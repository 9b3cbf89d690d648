//! This crate's throttle, which keeps a time window of its own.

use cutout::{SystemClock, Throttle};

use crate::stage::{self, Stage};
use crate::subject::{Seen, Shared};
use crate::workload::Workload;

pub(super) fn set(workload: Workload) -> Result<Box<dyn Stage>, String> {
    stage::set(workload, || {
        let throttle = Throttle::builder().clock(SystemClock::new()).build();
        Throttled(throttle.expect("the default is a legal config"))
    })
}

struct Throttled(Throttle<SystemClock>);

impl Shared for Throttled {
    #[inline(always)]
    fn call(&self, fails: bool) -> bool {
        match self.0.allow() {
            Ok(permit) => {
                if fails {
                    permit.failure();
                } else {
                    permit.success();
                }
                true
            }
            Err(_) => false,
        }
    }

    fn state(&self) -> Seen {
        Seen::Admits
    }
}
