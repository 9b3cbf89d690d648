//! A config's transitions held against the troubles.

use std::collections::{BTreeMap, HashMap};

use cutout::State;

use crate::call::Keys;
use crate::replay::{Replayed, Transition};
use crate::trouble::Trouble;

/// What a config's breakers did about the troubles, and besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// How often a closed breaker opened.
    pub trips: u64,
    /// Those in no trouble, nor shortly after one.
    pub false_trips: u64,
    /// How often a half-open one opened again.
    pub reopenings: u64,
    /// Troubles in which no breaker was other than closed, and no throttle refused a share.
    pub missed: u64,
    /// How long breakers were in each state other than closed, in nanoseconds, by the state's label.
    pub states_ns: BTreeMap<&'static str, u64>,
    /// How long breakers that had closed were on their ramps, in nanoseconds.
    pub ramping_ns: u64,
    /// How long throttles refused a share, in nanoseconds.
    pub refusing_ns: u64,
    /// What they did about each trouble.
    pub troubles: Vec<Answer>,
}

/// What a config's breakers did about one trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Answer {
    /// From its start to the first trip; zero if one was not closed when it began.
    pub trip_delay_ns: Option<u64>,
    /// From its end until all were closed; `None` if all were closed then, or one had not closed when the log ended.
    pub close_delay_ns: Option<u64>,
    /// Whether one had not closed when the log ended.
    pub never_closed: bool,
    /// Whether no breaker was other than closed in it, and no throttle refused a share.
    pub missed: bool,
    /// From its start to the first call that a throttle refused; zero if one refused a share when it began.
    pub refusal_delay_ns: Option<u64>,
}

/// Judges what one replay came to. A trip up to `slack` after a trouble's end is one of that trouble: the
/// outcomes of calls that began in it may come as late.
pub fn judge(
    replayed: &Replayed,
    troubles: &[Trouble],
    keys: &Keys,
    slack: u64,
    end: i64,
) -> Judgement {
    let known = Known::new(troubles, slack);
    let mut judgement = Judgement::default();
    let mut lanes: BTreeMap<u32, Vec<&Transition>> = BTreeMap::new();
    for transition in &replayed.transitions {
        lanes.entry(transition.key).or_default().push(transition);
    }
    let mut periods: HashMap<&str, Vec<Period>> = HashMap::new();
    for (&key, lane) in &lanes {
        let name = keys.name(key);
        let spans = known.of(name);
        for transition in lane {
            let is_trip = transition.is_trip();
            judgement.trips += u64::from(is_trip);
            judgement.false_trips += u64::from(is_trip && !within(&spans, transition.at));
            judgement.reopenings +=
                u64::from(transition.from == State::HalfOpen && transition.to == State::Open);
        }
        for (begin, end) in stretches(lane, end) {
            let length = begin.at.abs_diff(end);
            *judgement.states_ns.entry(begin.to.label()).or_default() += length;
        }
        for (begin, end) in ramps(lane, end) {
            judgement.ramping_ns += begin.at.abs_diff(end);
        }
        periods.insert(name, self::periods(lane, end));
    }
    let mut refusing: HashMap<&str, Vec<Span>> = HashMap::new();
    for refused in &replayed.refused {
        judgement.refusing_ns += refused.start.abs_diff(refused.end);
        let name = keys.name(refused.key);
        let spans = refusing.entry(name).or_default();
        spans.push((refused.start, refused.end));
    }
    for trouble in troubles {
        let mut answer = answer(trouble, &periods, slack);
        answer.refusal_delay_ns = refusal_delay(trouble, &refusing, slack);
        answer.missed &= answer.refusal_delay_ns.is_none();
        judgement.missed += u64::from(answer.missed);
        judgement.troubles.push(answer);
    }
    judgement
}

/// The troubles by whose they are, each with the slack behind it.
struct Known<'a> {
    every: Vec<Span>,
    of_all: Vec<Span>,
    of_one: HashMap<&'a str, Vec<Span>>,
}

/// From when to when.
type Span = (i64, i64);

impl<'a> Known<'a> {
    fn new(troubles: &'a [Trouble], slack: u64) -> Self {
        let mut known = Self {
            every: Vec::new(),
            of_all: Vec::new(),
            of_one: HashMap::new(),
        };
        for trouble in troubles {
            let span = (trouble.start, trouble.end.saturating_add_unsigned(slack));
            known.every.push(span);
            match &trouble.key {
                None => known.of_all.push(span),
                Some(key) => known.of_one.entry(key).or_default().push(span),
            }
        }
        known
    }

    /// Those of one key, in order and joined where they meet.
    fn of(&self, key: &str) -> Vec<Span> {
        let mut spans = match key {
            "" => self.every.clone(),
            key => {
                let own = self.of_one.get(key).into_iter().flatten();
                self.of_all.iter().chain(own).copied().collect()
            }
        };
        spans.sort_unstable();
        spans.dedup_by(|next, last| {
            let meet = next.0 <= last.1;
            if meet {
                last.1 = last.1.max(next.1);
            }
            meet
        });
        spans
    }
}

fn within(spans: &[Span], at: i64) -> bool {
    let next = spans.partition_point(|(start, _)| *start <= at);
    next.checked_sub(1).is_some_and(|last| at <= spans[last].1)
}

/// The times in which a breaker was other than closed: what began each, and until when it was.
pub fn stretches<'t>(lane: &[&'t Transition], end: i64) -> Vec<(&'t Transition, i64)> {
    let mut stretches = Vec::new();
    for (index, transition) in lane.iter().enumerate() {
        if transition.to != State::Closed {
            let until = lane
                .get(index + 1)
                .map_or(end.max(transition.at), |next| next.at);
            stretches.push((*transition, until));
        }
    }
    stretches
}

/// The times in which a breaker that had closed was on its ramp: what closed it, and until when it was.
pub fn ramps<'t>(lane: &[&'t Transition], end: i64) -> Vec<(&'t Transition, i64)> {
    let mut ramps = Vec::new();
    for (index, transition) in lane.iter().enumerate() {
        if transition.ramp > 0 {
            let next = lane.get(index + 1).map_or(end, |next| next.at);
            let until = transition.at.saturating_add_unsigned(transition.ramp);
            ramps.push((*transition, until.min(next).max(transition.at)));
        }
    }
    ramps
}

fn refusal_delay(
    trouble: &Trouble,
    refusing: &HashMap<&str, Vec<Span>>,
    slack: u64,
) -> Option<u64> {
    let last = trouble.end.saturating_add_unsigned(slack);
    let own = refusing.iter().filter(|(name, _)| match &trouble.key {
        None => true,
        // One throttle for all has no name.
        Some(key) => **name == key || name.is_empty(),
    });
    let near = own
        .flat_map(|(_, spans)| spans)
        .filter(|(start, end)| *end >= trouble.start && *start <= last);
    let delays = near.map(|(start, _)| start.saturating_sub(trouble.start).max(0).unsigned_abs());
    delays.min()
}

fn answer(trouble: &Trouble, periods: &HashMap<&str, Vec<Period>>, slack: u64) -> Answer {
    let last = trouble.end.saturating_add_unsigned(slack);
    let (mut trip, mut close, mut missed, mut never) = (None::<u64>, None::<u64>, true, false);
    let mut look = |own: &Vec<Period>| {
        let first = own.partition_point(|period| period.end < trouble.start);
        let near = own[first..]
            .iter()
            .take_while(|period| period.start <= last);
        for period in near.clone() {
            missed = false;
            let delay = period
                .start
                .saturating_sub(trouble.start)
                .max(0)
                .unsigned_abs();
            trip = Some(trip.map_or(delay, |trip| trip.min(delay)));
        }
        // The one in which the trouble's end falls, or the first after it.
        if let Some(period) = near.clone().find(|period| period.end >= trouble.end) {
            let delay = period.end.abs_diff(trouble.end);
            close = Some(close.map_or(delay, |close| close.max(delay)));
            never |= !period.closed;
        }
    };
    match &trouble.key {
        None => periods.values().for_each(look),
        // One breaker for all has no name.
        Some(key) => [key.as_str(), ""]
            .iter()
            .filter_map(|name| periods.get(name))
            .for_each(&mut look),
    }
    Answer {
        trip_delay_ns: trip,
        close_delay_ns: close.filter(|_| !never),
        never_closed: never,
        missed,
        refusal_delay_ns: None,
    }
}

/// A time from a trip to the close, or to the end of the log.
struct Period {
    start: i64,
    end: i64,
    closed: bool,
}

fn periods(lane: &[&Transition], end: i64) -> Vec<Period> {
    let mut periods = Vec::new();
    let mut since = None;
    for transition in lane {
        if transition.to != State::Closed {
            since = since.or(Some(transition.at));
        } else if let Some(start) = since.take() {
            periods.push(Period {
                start,
                end: transition.at,
                closed: true,
            });
        }
    }
    periods.extend(since.map(|start| Period {
        start,
        end: end.max(start),
        closed: false,
    }));
    periods
}
