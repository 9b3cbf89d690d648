//! Models of the core, each named for its claim: small concurrent programs that
//! are run in all ways. See `README.md` of this package for what they show.

use cutout_checked as cutout;

#[macro_use]
mod reach;

mod concurrent;
mod configs;
mod op;
mod scenario;
mod sequential;
mod show;

mod answered;
mod events;
mod evidence;
mod half_open;
mod lease;
mod number;
mod overdue;
mod peers;
mod pulse;
mod ramp;
mod reconfigure;
mod resume;
mod score;
mod settle;
mod snapshot;
mod stages;
mod stale;
mod tally;
mod throttle;
mod time;
mod trip;
mod window;
