//! What a router must do: the order of its targets, the choice among them, and changes in use.

mod against_model;
mod calls;
mod compare;
mod fastest;
mod model;
mod policies;
mod queue;
mod threads;
mod throttle;
mod trouble;

use std::sync::Arc;
use std::time::Duration;

use cutout::router::{Attempts, Choice, NoTarget, Policy, Router, RouterConfig, Target};
use cutout::{Breaker, ManualClock, OpenWait};

type Routes = Router<(), ManualClock>;

const WAIT: Duration = Duration::from_secs(10);

/// A breaker that opens at the first failure, for this long.
fn breaker(clock: &ManualClock, wait: Duration) -> Arc<Breaker<ManualClock>> {
    let builder = Breaker::builder().min_calls(1).consecutive_failures(1);
    let breaker = builder
        .open_wait(OpenWait::fixed(wait))
        .clock(clock.clone());
    Arc::new(breaker.build().unwrap())
}

fn target(clock: &ManualClock, name: &str) -> Target<(), ManualClock> {
    Target::new(name, (), breaker(clock, WAIT))
}

fn by(policy: Policy) -> RouterConfig {
    RouterConfig {
        policy,
        ..RouterConfig::default()
    }
}

/// A router over ordinary targets of weight 1.
fn router(clock: &ManualClock, config: RouterConfig, names: &[&str]) -> Routes {
    Router::new(config, names.iter().map(|name| target(clock, name))).unwrap()
}

/// A choice for a request of its own.
fn choose(router: &Routes) -> Result<Choice<(), ManualClock>, NoTarget> {
    router.choose(&mut Attempts::new())
}

/// The names of so many choices, each settled as a success before the next.
fn successes(router: &Routes, calls: usize) -> Vec<String> {
    (0..calls)
        .map(|_| {
            let choice = choose(router).unwrap();
            let name = choice.name().to_owned();
            choice.success();
            name
        })
        .collect()
}

/// How many of them are this name.
fn count(names: &[String], name: &str) -> usize {
    names.iter().filter(|chosen| *chosen == name).count()
}

/// Opens the breaker of a target.
fn trip(router: &Routes, name: &str) {
    let members = router.members();
    let member = members.iter().find(|member| member.name() == name).unwrap();
    member.breaker().allow().unwrap().failure();
}
