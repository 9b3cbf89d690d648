//! Members of one process, on the in-process bus: what a user sees. Each waits for what must come, and no longer.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use cutout::registry::Registry;
use cutout::{Breaker, Builder, Cause, Event, OpenWait, State};
use cutout_fleet::bus::Bus;
use cutout_fleet::{Action, Fleet, GuardError, Ignored, InProcess, Phase, Settings, StartError};

const LONG: Duration = Duration::from_secs(60);

fn settings() -> Settings {
    Settings::default().with(|settings| {
        settings.heartbeat = Duration::from_millis(100);
        settings.lease = Duration::from_secs(1);
        settings.patience = Duration::from_millis(300);
    })
}

fn member(bus: &InProcess, name: &str) -> Fleet {
    Fleet::builder()
        .member(name)
        .settings(settings())
        .start(bus.clone())
        .unwrap()
}

fn breaker() -> Builder<cutout::SystemClock> {
    let wait = OpenWait::fixed(Duration::from_millis(400));
    Breaker::builder()
        .name("upstream")
        .consecutive_failures(3)
        .open_wait(wait)
}

/// A breaker of a member, and what it does.
fn guarded(fleet: &Fleet) -> (Arc<Breaker>, Receiver<Event>) {
    let (to, events) = channel();
    let builder = breaker().listener(move |event| _ = to.send(event.clone()));
    (fleet.guard(builder).unwrap(), events)
}

fn fail(breaker: &Breaker) {
    for _ in 0..3 {
        breaker.allow().unwrap().failure();
    }
}

/// The event that comes to this state by this cause.
fn comes(events: &Receiver<Event>, to: State, cause: Cause) -> Event {
    let mut seen = Vec::new();
    loop {
        let event = events.recv_timeout(LONG);
        let event =
            event.unwrap_or_else(|_| panic!("{to} by {cause} does not come after {seen:?}"));
        if (event.to, event.cause) == (to, cause) {
            return event;
        }
        seen.push(event);
    }
}

/// Waits until it is so.
fn until(what: &str, is_so: impl Fn() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < LONG, "not so: {what}");
        std::thread::yield_now();
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn know_each_other(members: &[Fleet]) {
    until("all know each other", || {
        let others = members.len() - 1;
        members
            .iter()
            .all(|member| member.health().members.len() == others)
    });
}

#[test]
fn what_two_have_found_opens_the_third_and_one_probe_closes_all() {
    let bus = InProcess::new();
    let members = ["a", "b", "c"].map(|name| member(&bus, name));
    let breakers = [0, 1, 2].map(|index: usize| guarded(&members[index]));
    know_each_other(&members);
    fail(&breakers[0].0);
    fail(&breakers[1].0);
    let opened = comes(&breakers[2].1, State::Open, Cause::Peers);
    assert_eq!((opened.from, opened.counts.failures), (State::Closed, 6));
    until("the takeover is counted", || {
        members[2].health().takeovers == 1
    });
    assert_eq!(members[0].health().takeovers, 0);

    // Whoever probes first, one probe is enough for the three.
    let start = Instant::now();
    while breakers
        .iter()
        .any(|(breaker, _)| breaker.state() != State::Closed)
    {
        assert!(
            start.elapsed() < LONG,
            "{:?}",
            breakers.map(|(breaker, _)| breaker.snapshot())
        );
        for (breaker, _) in &breakers {
            if let Ok(permit) = breaker.allow() {
                permit.success();
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn one_that_is_ill_by_itself_closes_nobody() {
    let bus = InProcess::new();
    let members = ["a", "b", "c"].map(|name| member(&bus, name));
    let breakers = [0, 1, 2].map(|index: usize| guarded(&members[index]));
    know_each_other(&members);
    fail(&breakers[0].0);
    let knows = |member: &Fleet| {
        let health = member.health();
        let a = health.members.iter().find(|other| *other.name == *"a");
        a.is_some_and(|a| {
            a.names
                .iter()
                .any(|(_, is, tripped)| (*is, *tripped) == (Phase::Open, true))
        })
    };
    until("the others know", || {
        knows(&members[1]) && knows(&members[2])
    });
    assert_eq!(breakers[1].0.state(), State::Closed);
    assert_eq!(breakers[2].0.state(), State::Closed);
    assert_eq!(members[1].health().takeovers, 0);
}

#[test]
fn an_order_reaches_all_and_those_that_join_later_until_it_is_ended() {
    let bus = InProcess::new();
    let members = ["a", "b"].map(|name| member(&bus, name));
    let breakers = [0, 1].map(|index: usize| guarded(&members[index]));
    members[0]
        .order(None, Action::ForceOpen, None, "index is rebuilt", "ada")
        .unwrap();
    for (breaker, events) in &breakers {
        comes(events, State::ForcedOpen, Cause::Operator);
        let order = breaker.evidence().operator.unwrap();
        assert_eq!(&*order.reason, "index is rebuilt (ada)");
    }
    let late = member(&bus, "c");
    let (_breaker, events) = guarded(&late);
    comes(&events, State::ForcedOpen, Cause::Operator);

    // A name of its own goes before all, if it is newer.
    late.order(Some("upstream"), Action::Resume, None, "done", "bob")
        .unwrap();
    comes(&events, State::Closed, Cause::Operator);
    for (_, events) in &breakers {
        comes(events, State::Closed, Cause::Operator);
    }
}

#[test]
fn breakers_of_a_registry_listen_by_their_names() {
    let bus = InProcess::new();
    let members = ["a", "b", "c"].map(|name| member(&bus, name));
    let (_breaker, _events) = guarded(&members[0]);
    let registry = |fleet: &Fleet| {
        let registry = Registry::builder(|key: &String| key.clone())
            .listener(fleet.listener())
            .prepare(|_, builder| builder.consecutive_failures(3))
            .build();
        let registry = Arc::new(registry.unwrap());
        fleet.watch(&registry).unwrap();
        registry
    };
    // A config of its own would not be listened to: the three are alike.
    let registries = [0, 1, 2].map(|index: usize| registry(&members[index]));
    let hosts = registries
        .each_ref()
        .map(|registry| registry.get_or_create("host").unwrap());
    know_each_other(&members);
    for host in &hosts[..2] {
        while host.state() == State::Closed {
            host.allow().unwrap().failure();
        }
    }
    until("the third is taken over", || {
        hosts[2].state() == State::Open
    });
    assert_eq!(hosts[2].evidence().trip.unwrap().cause, Cause::Peers);
}

#[test]
fn whatever_comes_is_ignored_and_counted() {
    let bus = InProcess::new();
    let fleet = member(&bus, "a");
    let (breaker, _events) = guarded(&fleet);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let tell = |bytes: &[u8]| runtime.block_on(bus.tell(bytes.to_vec())).unwrap();
    until("it listens", || fleet.health().is_connected);
    let names = |count: usize, name: &str| {
        let entry = format!(r#"{{"name":"{name}","config":1,"is":"open"}}"#);
        let entries = vec![entry; count].join(",");
        format!(r#"{{"v":1,"member":"x","incarnation":1,"seq":1,"names":[{entries}]}}"#)
    };
    tell(b"\xff\x00 any bytes");
    tell(b"{}");
    tell(br#"{"v":2,"member":"x","incarnation":1,"seq":1}"#);
    tell(&vec![b'['; 100_000]);
    tell(&vec![b'a'; 1_000_000]);
    tell(names(1, &"n".repeat(1000)).as_bytes());
    tell(names(1000, "upstream").as_bytes());
    tell(br#"{"v":1,"member":"a","incarnation":18446744073709551615,"seq":1}"#);
    tell(br#"{"v":1,"member":"x","incarnation":1,"seq":1,"names":[{"name":"u","config":1,"is":"open","calls":-1}]}"#);
    tell(br#"{"v":1,"member":"x","incarnation":1,"seq":7}"#);
    tell(br#"{"v":1,"member":"x","incarnation":1,"seq":7}"#);
    let expected = [
        (Ignored::Malformed, 4),
        (Ignored::Version, 1),
        (Ignored::TooLong, 1),
        (Ignored::Names, 2),
        (Ignored::Twin, 1),
        (Ignored::Old, 1),
    ];
    until("all is counted", || {
        let health = fleet.health();
        expected
            .iter()
            .all(|(why, times)| health.ignored(*why) == *times)
    });
    assert_eq!(breaker.state(), State::Closed);
    assert_eq!(fleet.health().dropped, 0);
}

#[test]
fn illegal_names_and_settings_are_refused() {
    let long = "x".repeat(1_000_000);
    let refused = Fleet::builder()
        .member(&*long)
        .start(InProcess::new())
        .unwrap_err();
    assert!(matches!(refused, StartError::Name(_)), "{refused}");
    assert!(refused.to_string().len() < 200, "{refused}");
    let none = Settings::default().with(|settings| settings.quorum_members = 0);
    let refused = Fleet::builder()
        .settings(none)
        .start(InProcess::new())
        .unwrap_err();
    assert!(
        refused.to_string().contains("quorum_members is 0"),
        "{refused}"
    );

    let fleet = Fleet::builder().start(InProcess::new()).unwrap();
    let refused = fleet
        .guard(Breaker::builder().name(long.clone()))
        .unwrap_err();
    assert!(matches!(refused, GuardError::Name(_)), "{refused}");
    assert!(matches!(
        fleet.guard(Breaker::builder()),
        Err(GuardError::Name(_))
    ));
    let refused = fleet
        .order(Some(&long), Action::Disable, None, "", "")
        .unwrap_err();
    assert!(matches!(refused, GuardError::Name(_)), "{refused}");
}

#[test]
fn an_order_to_close_closes_all_and_one_of_a_name_without_a_breaker_is_shown_to_all() {
    let bus = InProcess::new();
    let members = ["a", "b"].map(|name| member(&bus, name));
    let breakers = [0, 1].map(|index: usize| guarded(&members[index]));
    know_each_other(&members);
    for (breaker, events) in &breakers {
        fail(breaker);
        comes(events, State::Open, Cause::ConsecutiveFailures);
    }
    members[1]
        .order(Some("upstream"), Action::Close, None, "repaired", "ada")
        .unwrap();
    for (_, events) in &breakers {
        let closed = comes(events, State::Closed, Cause::Operator);
        assert_eq!(closed.reason.as_deref(), Some("repaired (ada)"));
    }
    let minute = Some(Duration::from_secs(60));
    members[0]
        .order(Some("a key"), Action::ForceOpen, minute, "refused", "a")
        .unwrap();
    let shown = |member: &Fleet| {
        let orders = member.health().orders;
        orders.iter().any(|order| {
            order.name.as_deref() == Some("a key")
                && &*order.reason == "refused"
                && &*order.member == "a"
                && order.left <= minute
        })
    };
    until("all know of it", || members.iter().all(shown));
    // One that was forced open when its process ended, and comes back.
    let forced = Breaker::builder().name("upstream").build().unwrap();
    forced.force_open(None, "before");
    let (to, events) = channel();
    let builder = breaker().restore(forced.snapshot());
    let builder = builder.listener(move |event| _ = to.send(event.clone()));
    let back = member(&bus, "c");
    let _breaker = back.guard(builder).unwrap();
    comes(&events, State::Closed, Cause::Operator);
    members[1]
        .order(Some("a key"), Action::Resume, None, "renewed", "b")
        .unwrap();
    until("it has ended", || {
        members
            .iter()
            .all(|member| member.health().orders.is_empty())
    });
}

#[test]
fn two_fleets_under_one_prefix_do_not_open_each_other() {
    let bus = InProcess::new();
    let members = ["a", "b", "c"].map(|name| member(&bus, name));
    let breakers = [0, 1, 2].map(|index: usize| {
        // The third is of another program, whose breaker happens to have the same name.
        let builder = if index == 2 {
            breaker().open_wait(OpenWait::fixed(Duration::from_secs(7)))
        } else {
            breaker()
        };
        members[index].guard(builder).unwrap()
    });
    know_each_other(&members);
    fail(&breakers[0]);
    fail(&breakers[1]);
    until("the third knows", || {
        let others = members[2].health().members;
        let tripped = |other: &cutout_fleet::MemberHealth| {
            other.names.iter().any(|(_, _, has_tripped)| *has_tripped)
        };
        others.iter().all(tripped)
    });
    // What it has heard it has considered, too.
    let heard = members[2].health().heard;
    until("it goes on", || members[2].health().heard > heard + 4);
    assert_eq!(breakers[2].state(), State::Closed);
    assert_eq!(members[2].health().takeovers, 0);
}
