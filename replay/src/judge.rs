//! A config's transitions held against the troubles.

use std::collections::BTreeMap;

use cutout::State;

use crate::call::Keys;
use crate::replay::Transition;
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
    /// Troubles in which no breaker was other than closed.
    pub missed: u64,
    /// How long breakers were in each state other than closed, in nanoseconds, by the state's label.
    pub states_ns: BTreeMap<&'static str, u64>,
    /// What they did about each trouble.
    pub troubles: Vec<Answer>,
}

/// What a config's breakers did about one trouble.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Answer {
    /// From its start to the first trip; zero if one was not closed when it began.
    pub trip_delay_ns: Option<u64>,
    /// From its end until all were closed; `None` if none was other than closed then, or one never closed.
    pub close_delay_ns: Option<u64>,
    /// Whether no breaker was other than closed in it.
    pub missed: bool,
}

/// Judges the transitions of one replay. A trip up to `slack` after a trouble's end is one of that trouble: the
/// outcomes of calls that began in it may come as late.
pub fn judge(
    transitions: &[Transition],
    troubles: &[Trouble],
    keys: &Keys,
    slack: u64,
    end: i64,
) -> Judgement {
    let mut judgement = Judgement::default();
    let mut lanes: BTreeMap<u32, Vec<&Transition>> = BTreeMap::new();
    for transition in transitions {
        lanes.entry(transition.key).or_default().push(transition);
    }
    for (&key, lane) in &lanes {
        let name = keys.name(key);
        let in_trouble = |at: i64| {
            let near = |trouble: &&Trouble| {
                trouble.start <= at && at <= trouble.end.saturating_add_unsigned(slack)
            };
            troubles
                .iter()
                .filter(near)
                .any(|trouble| trouble.is_of(name))
        };
        for transition in lane {
            judgement.trips += u64::from(transition.is_trip());
            judgement.false_trips += u64::from(transition.is_trip() && !in_trouble(transition.at));
            judgement.reopenings +=
                u64::from(transition.from == State::HalfOpen && transition.to == State::Open);
        }
        for (state, from, to) in stretches(lane, end) {
            *judgement.states_ns.entry(state.label()).or_default() += from.abs_diff(to);
        }
    }
    for trouble in troubles {
        let answer = answer(trouble, &lanes, keys, slack, end);
        judgement.missed += u64::from(answer.missed);
        judgement.troubles.push(answer);
    }
    judgement
}

/// The times in which a breaker was other than closed: the state, from when, to when.
pub fn stretches(lane: &[&Transition], end: i64) -> Vec<(State, i64, i64)> {
    let mut stretches = Vec::new();
    for (index, transition) in lane.iter().enumerate() {
        if transition.to != State::Closed {
            let until = lane
                .get(index + 1)
                .map_or(end.max(transition.at), |next| next.at);
            stretches.push((transition.to, transition.at, until));
        }
    }
    stretches
}

fn answer(
    trouble: &Trouble,
    lanes: &BTreeMap<u32, Vec<&Transition>>,
    keys: &Keys,
    slack: u64,
    end: i64,
) -> Answer {
    let last = trouble.end.saturating_add_unsigned(slack);
    let (mut trip, mut close, mut missed, mut never) = (None::<u64>, None::<u64>, true, false);
    for (_, lane) in lanes
        .iter()
        .filter(|(key, _)| trouble.is_of(keys.name(**key)))
    {
        let near = |period: &&Period| period.end >= trouble.start && period.start <= last;
        let periods = periods(lane, end);
        for period in periods.iter().filter(near) {
            missed = false;
            let delay = period
                .start
                .saturating_sub(trouble.start)
                .max(0)
                .unsigned_abs();
            trip = Some(trip.map_or(delay, |trip| trip.min(delay)));
        }
        // The one in which the trouble's end falls, or the first after it.
        if let Some(period) = periods
            .iter()
            .filter(near)
            .find(|period| period.end >= trouble.end)
        {
            let delay = period.end.abs_diff(trouble.end);
            close = Some(close.map_or(delay, |close| close.max(delay)));
            never |= !period.closed;
        }
    }
    Answer {
        trip_delay_ns: trip,
        close_delay_ns: close.filter(|_| !never),
        missed,
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
