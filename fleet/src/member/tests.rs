//! Each promise of the contract by itself: statements in, what is done to the breakers out.

use super::*;
use crate::statement::{SaidTrip, SaidVerdict};

const SECOND: Duration = Duration::from_secs(1);
const NAME: &str = "upstream";

/// What the breakers were told.
#[derive(Debug, Default, PartialEq)]
struct Told(Vec<String>);

impl Breakers for Told {
    fn take_over(&mut self, _: &str, counts: Counts, label: Option<Label>) -> Option<Duration> {
        let label = label.map_or(String::new(), |label| format!(" {}", label.as_str()));
        self.0.push(format!("open {}{label}", counts.failures));
        Some(SECOND * 30)
    }

    fn set_wait(&mut self, _: &str, wait: Duration) -> bool {
        self.0.push(format!("wait {:.0}", wait.as_secs_f64()));
        true
    }

    fn order(&mut self, _: &str, what: Action, left: Option<Duration>, reason: &str) {
        self.0.push(format!("{what:?} {left:?} {reason}"));
    }
}

/// A member at a time, with a closed breaker.
struct Rig {
    member: Member,
    told: Told,
    now: Duration,
}

impl Rig {
    fn new() -> Self {
        let mut rig = Self {
            member: Member::new(Settings::default(), "me".into(), 1, 7),
            told: Told::default(),
            now: Member::START + SECOND * 1000,
        };
        rig.member
            .join(&NAME.into(), &config(), rig.now, &mut rig.told);
        rig
    }

    fn hear(&mut self, statement: &Statement) -> Result<bool, Ignored> {
        self.member
            .hear(&statement.to_bytes(), self.now, &mut self.told)
    }

    /// What the breakers were told since the last look.
    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.told.0)
    }

    fn pass(&mut self, time: Duration) -> Vec<String> {
        self.now += time;
        self.member.tick(self.now, &mut self.told);
        self.told()
    }

    fn observe(&mut self, from: State, to: State, cause: Cause) {
        let seen = Transition {
            from,
            to,
            cause,
            counts: Counts::default(),
            label: None,
            left: SECOND * 30,
        };
        self.member.observe(NAME, &seen, self.now, &mut self.told);
    }

    fn trip(&mut self) {
        self.observe(State::Closed, State::Open, Cause::FailureRatio);
    }

    fn acts(&mut self) -> Vec<Act> {
        std::iter::from_fn(|| self.member.act()).collect()
    }

    /// The token of the lease that it asks for.
    fn asks(&mut self) -> Option<u64> {
        self.acts().into_iter().find_map(|act| match act {
            Act::Ask { token, .. } => Some(token),
            _ => None,
        })
    }

    fn answer(&mut self, token: u64, lease: Option<Lease>) -> Vec<String> {
        self.member
            .answered(NAME, token, lease, self.now, &mut self.told);
        self.told()
    }
}

fn config() -> Config {
    Config::default()
}

fn says(member: &str, seq: u64) -> Statement {
    let mut statement = Statement::new(member.into(), 1, seq);
    statement.names.push(Entry {
        name: NAME.into(),
        config: digest(&config()),
        is: Phase::Closed,
        calls: None,
        trip: None,
        verdict: None,
    });
    statement
}

fn tripped(member: &str, seq: u64) -> Statement {
    let mut statement = says(member, seq);
    statement.names[0].is = Phase::Open;
    statement.names[0].trip = Some(SaidTrip {
        number: 1,
        age_ms: 1000,
        counts: Counts {
            samples: 20,
            failures: 10,
            timeouts: 0,
            slow: 0,
        },
        label: Some("refused".into()),
    });
    statement
}

fn verdict(member: &str, seq: u64, well: bool, age: Duration) -> Statement {
    let mut statement = says(member, seq);
    statement.names[0].verdict = Some(SaidVerdict {
        number: seq,
        age_ms: millis(age),
        well,
        left_ms: 60_000,
        attempt: 3,
    });
    statement
}

fn millis(duration: Duration) -> u64 {
    crate::statement::millis(duration)
}

#[test]
fn two_of_three_open_the_third_and_one_does_not() {
    let mut rig = Rig::new();
    rig.hear(&tripped("a", 1)).unwrap();
    assert_eq!(rig.told(), [""; 0]);
    rig.hear(&tripped("b", 1)).unwrap();
    assert_eq!(rig.told(), ["open 20 refused"]);
}

#[test]
fn a_share_of_the_members_has_to_have_tripped() {
    let mut rig = Rig::new();
    for other in 0..7 {
        rig.hear(&says(&format!("well {other}"), 1)).unwrap();
    }
    rig.hear(&tripped("a", 1)).unwrap();
    rig.hear(&tripped("b", 1)).unwrap();
    assert_eq!(rig.told(), [""; 0], "two of ten");
    rig.hear(&tripped("c", 1)).unwrap();
    assert_eq!(rig.told(), ["open 30 refused"], "three of eleven");
}

#[test]
fn members_that_make_few_calls_are_no_quorum() {
    let with = |mut statement: Statement, calls: f64| {
        statement.names[0].calls = Some(calls);
        statement
    };
    let mut rig = Rig::new();
    rig.hear(&with(says("busy", 1), 1000.0)).unwrap();
    rig.hear(&with(tripped("a", 1), 10.0)).unwrap();
    rig.hear(&with(tripped("b", 1), 10.0)).unwrap();
    assert_eq!(rig.told(), [""; 0]);
    rig.hear(&with(tripped("b", 2), 1000.0)).unwrap();
    assert_eq!(rig.told().len(), 1);
}

#[test]
fn members_that_do_not_use_the_name_do_not_count() {
    let mut rig = Rig::new();
    for other in 0..20 {
        let mut statement = says(&format!("other {other}"), 1);
        statement.names[0].is = Phase::Unused;
        rig.hear(&statement).unwrap();
    }
    rig.hear(&tripped("a", 1)).unwrap();
    rig.hear(&tripped("b", 1)).unwrap();
    assert_eq!(rig.told(), ["open 20 refused"]);
}

#[test]
fn what_is_late_or_doubled_or_of_a_process_that_is_over_changes_nothing() {
    let mut rig = Rig::new();
    let mut restarted = says("a", 1);
    restarted.incarnation = 2;
    rig.hear(&restarted).unwrap();
    assert_eq!(rig.hear(&restarted), Err(Ignored::Old), "doubled");
    assert_eq!(
        rig.hear(&tripped("a", 100)),
        Err(Ignored::Old),
        "of the process before"
    );
    rig.hear(&says("b", 5)).unwrap();
    assert_eq!(rig.hear(&tripped("b", 4)), Err(Ignored::Old), "late");
    rig.hear(&tripped("c", 1)).unwrap();
    assert_eq!(rig.told(), [""; 0]);
}

#[test]
fn one_that_was_restarted_is_not_counted_twice() {
    let mut rig = Rig::new();
    rig.hear(&tripped("a", 1)).unwrap();
    let mut again = tripped("a", 1);
    again.incarnation = 2;
    rig.hear(&again).unwrap();
    assert_eq!(rig.told(), [""; 0]);
}

#[test]
fn who_has_gone_is_not_counted_and_what_it_said_before_does_not_bring_it_back() {
    let mut rig = Rig::new();
    rig.hear(&tripped("a", 7)).unwrap();
    rig.pass(SECOND * 4);
    assert_eq!(rig.hear(&tripped("a", 6)), Err(Ignored::Old));
    rig.hear(&tripped("b", 1)).unwrap();
    assert_eq!(rig.told(), [""; 0]);
    rig.hear(&tripped("a", 8)).unwrap();
    assert_eq!(rig.told(), ["open 20 refused"]);
}

#[test]
fn a_trip_of_long_ago_or_of_another_config_does_not_count() {
    let mut rig = Rig::new();
    rig.hear(&tripped("a", 1)).unwrap();
    let mut old = tripped("b", 1);
    old.names[0].trip.as_mut().unwrap().age_ms = 61_000;
    rig.hear(&old).unwrap();
    let mut other = tripped("c", 1);
    other.names[0].config += 1;
    rig.hear(&other).unwrap();
    assert_eq!(rig.told(), [""; 0]);
}

#[test]
fn a_trip_is_counted_by_others_until_it_closes_and_a_takeover_never() {
    let mut rig = Rig::new();
    rig.hear(&tripped("a", 1)).unwrap();
    rig.hear(&tripped("b", 1)).unwrap();
    let statement = rig.member.statement(rig.now);
    assert_eq!(
        (statement.names[0].is, &statement.names[0].trip),
        (Phase::Open, &None)
    );
    let mut rig = Rig::new();
    rig.trip();
    assert!(rig.member.statement(rig.now).names[0].trip.is_some());
    rig.observe(State::Open, State::HalfOpen, Cause::WaitElapsed);
    rig.observe(State::HalfOpen, State::Closed, Cause::ProbesPassed);
    let statement = rig.member.statement(rig.now);
    assert_eq!(
        (statement.names[0].is, &statement.names[0].trip),
        (Phase::Closed, &None)
    );
}

#[test]
fn what_a_probe_has_answered_does_not_count_again() {
    let mut rig = Rig::new();
    rig.trip();
    rig.hear(&tripped("a", 1)).unwrap();
    rig.hear(&tripped("b", 1)).unwrap();
    rig.observe(State::Open, State::HalfOpen, Cause::WaitElapsed);
    rig.observe(State::HalfOpen, State::Closed, Cause::ProbesPassed);
    rig.told();
    // The others have not heard of it yet.
    rig.hear(&tripped("a", 2)).unwrap();
    rig.hear(&tripped("b", 2)).unwrap();
    assert_eq!(rig.pass(SECOND), [""; 0]);
    for other in ["a", "b"] {
        let mut anew = tripped(other, 3);
        anew.names[0].trip.as_mut().unwrap().number = 2;
        anew.names[0].trip.as_mut().unwrap().age_ms = 0;
        rig.hear(&anew).unwrap();
    }
    assert_eq!(rig.told(), ["open 20 refused"]);
}

#[test]
fn a_probe_that_passes_lets_others_probe_at_once_and_without_a_lease() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND * 10);
    rig.hear(&verdict("a", 1, true, SECOND)).unwrap();
    assert_eq!(rig.told(), ["wait 0"]);
    assert_eq!(rig.asks(), None);
    // Said again with the next heartbeat, it is no news.
    let mut again = verdict("a", 2, true, SECOND);
    again.names[0].verdict.as_mut().unwrap().number = 1;
    rig.hear(&again).unwrap();
    assert_eq!(rig.told(), [""; 0]);
}

#[test]
fn a_verdict_of_before_the_trip_says_nothing_of_it() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND);
    rig.hear(&verdict("a", 1, true, SECOND * 2)).unwrap();
    rig.hear(&verdict("b", 1, false, SECOND * 2)).unwrap();
    assert_eq!(rig.told(), [""; 0]);
}

#[test]
fn a_probe_that_fails_has_others_wait_but_not_longer_than_they_would() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND * 25);
    // It is said to be 60 s; this config's wait is 30 s, and up to a tenth less by chance.
    rig.hear(&verdict("a", 1, false, Duration::ZERO)).unwrap();
    let told = rig.told();
    assert!(
        ["wait 27", "wait 28", "wait 29", "wait 30"].contains(&&*told[0]),
        "{told:?}"
    );
}

#[test]
fn it_asks_before_its_wait_ends_and_waits_while_another_has_the_lease() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND * 29);
    assert_eq!(rig.asks(), None);
    rig.pass(Duration::from_millis(760));
    let token = rig.asks().unwrap();
    assert_eq!(
        rig.answer(token, Some(Lease::Taken(SECOND * 3))),
        ["wait 3"]
    );
    rig.pass(SECOND * 2);
    assert_eq!(rig.asks(), None);
    rig.pass(SECOND * 2);
    let token = rig.asks().unwrap();
    assert_eq!(rig.answer(token, Some(Lease::Granted)), [""; 0]);
    rig.observe(State::Open, State::HalfOpen, Cause::WaitElapsed);
    rig.pass(SECOND);
    assert!(
        rig.acts()
            .iter()
            .any(|act| matches!(act, Act::Renew { .. })),
        "while it probes"
    );
    rig.observe(State::HalfOpen, State::Closed, Cause::ProbesPassed);
    let given_back = Act::Release {
        name: NAME.into(),
        token,
    };
    assert!(rig.acts().contains(&given_back));
}

#[test]
fn without_an_answer_it_waits_for_nobody() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND * 29 + Duration::from_millis(900));
    let token = rig.asks().unwrap();
    assert_eq!(rig.answer(token, None), [""; 0]);
    assert_eq!(rig.pass(SECOND * 3600), [""; 0]);
    assert_eq!(rig.asks(), None);
    // Another lease that comes for an earlier question is given back.
    rig.answer(token, Some(Lease::Granted));
    assert!(
        rig.acts()
            .iter()
            .any(|act| matches!(act, Act::Release { .. }))
    );
}

#[test]
fn who_has_no_call_to_probe_with_passes_the_lease_on() {
    let mut rig = Rig::new();
    rig.trip();
    rig.pass(SECOND * 29 + Duration::from_millis(900));
    let token = rig.asks().unwrap();
    rig.answer(token, Some(Lease::Granted));
    assert_eq!(rig.pass(Duration::from_millis(1200)), ["wait 5"]);
    assert!(rig.acts().contains(&Act::Release {
        name: NAME.into(),
        token
    }));
}

#[test]
fn the_newest_order_holds_whoever_says_it_last() {
    let order = |number, what, left_ms| Order {
        name: None,
        number,
        member: "a".into(),
        what,
        left_ms,
        reason: "drill".into(),
        author: "ada".into(),
    };
    let with = |seq, order| {
        let mut statement = says("a", seq);
        statement.order = Some(order);
        statement
    };
    let mut rig = Rig::new();
    rig.hear(&with(1, order(2, Action::ForceOpen, None)))
        .unwrap();
    assert_eq!(rig.told(), ["ForceOpen None drill (ada)"]);
    rig.hear(&with(2, order(1, Action::Disable, None))).unwrap();
    rig.hear(&with(3, order(2, Action::ForceOpen, None)))
        .unwrap();
    assert_eq!(rig.told(), [""; 0], "older, and the same");
    rig.hear(&with(4, order(3, Action::Disable, Some(5000))))
        .unwrap();
    assert_eq!(rig.told(), ["Disable Some(5s) drill (ada)"]);
    assert_eq!(
        rig.pass(SECOND * 6),
        ["Resume Some(0ns) drill (ada)"],
        "its time is over"
    );
    let forged = order(u64::MAX, Action::Disable, None);
    assert_eq!(rig.hear(&with(5, forged)), Err(Ignored::Malformed));
}

#[test]
fn an_order_that_the_server_has_lost_is_kept_again() {
    let mut rig = Rig::new();
    let order = (Some(NAME.into()), Action::ForceOpen, None);
    let order = rig.member.order(
        order,
        ("drill".into(), "ada".into()),
        rig.now,
        &mut rig.told,
    );
    assert!(rig.acts().contains(&Act::Keep(order.clone())));
    rig.member
        .recalled(vec![order.clone()], rig.now, &mut rig.told);
    assert_eq!(rig.acts(), []);
    rig.member.recalled(Vec::new(), rig.now, &mut rig.told);
    assert_eq!(rig.acts(), [Act::Keep(order)]);
}

#[test]
fn an_order_to_close_is_for_now_and_ends_what_was_before_it() {
    let order = |number, what, left_ms| Order {
        name: None,
        number,
        member: "a".into(),
        what,
        left_ms,
        reason: "drill".into(),
        author: "ada".into(),
    };
    let mut rig = Rig::new();
    rig.member.recalled(
        vec![order(1, Action::ForceOpen, None)],
        rig.now,
        &mut rig.told,
    );
    assert_eq!(rig.told(), ["ForceOpen None drill (ada)"]);
    let mut statement = says("a", 1);
    statement.order = Some(order(2, Action::Close, Some(10_000)));
    rig.hear(&statement).unwrap();
    assert_eq!(rig.told(), ["Close Some(10s) drill (ada)"]);
    assert_eq!(rig.pass(SECOND * 60).len(), 1, "nothing but its end");
    assert_eq!(rig.member.health(rig.now).orders, []);

    let mut late = Rig::new();
    late.member.restored(NAME);
    late.member.recalled(
        vec![order(2, Action::Close, None)],
        late.now,
        &mut late.told,
    );
    assert_eq!(late.told(), ["Resume Some(0ns) drill (ada)"]);
}

#[test]
fn orders_whose_time_is_over_make_room() {
    let mut rig = Rig::new();
    let order = |rig: &mut Rig, name: String, left| {
        let order = (Some(name.into()), Action::ForceOpen, left);
        let said = ("drill".into(), "ada".into());
        rig.member.order(order, said, rig.now, &mut rig.told);
        rig.member.health(rig.now).orders.len()
    };
    for number in 0..1000 {
        order(&mut rig, format!("old {number}"), Some(SECOND));
    }
    assert_eq!(order(&mut rig, "one too many".into(), None), 1000);
    rig.pass(SECOND * 2);
    assert_eq!(order(&mut rig, "new".into(), None), 1);
}

#[test]
fn one_that_claims_a_thousand_trips_is_one() {
    let mut rig = Rig::new();
    for number in 1..=1000 {
        let mut statement = tripped("a", number);
        statement.names[0].trip.as_mut().unwrap().number = number;
        let entry = statement.names[0].clone();
        statement.names = vec![entry; 100];
        rig.hear(&statement).unwrap();
    }
    assert_eq!(rig.told(), [""; 0]);
    rig.hear(&tripped("b", 1)).unwrap();
    assert_eq!(rig.told().len(), 1);
}
