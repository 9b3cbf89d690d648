//! The breaker's states, and what makes it change between them.

use core::fmt;

/// The state of a breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Calls are admitted and their outcomes recorded.
    Closed,
    /// Calls are rejected until the open wait is over.
    Open,
    /// A few probes are admitted; their outcomes decide.
    HalfOpen,
    /// An operator rejects all calls.
    ForcedOpen,
    /// An operator admits all calls; nothing is recorded.
    Disabled,
    /// An operator admits all calls; outcomes are recorded, and what would have
    /// tripped is reported.
    ObserveOnly,
}

impl State {
    /// All of them, in the order of their declaration.
    pub(crate) const ALL: [Self; 6] = [
        Self::Closed,
        Self::Open,
        Self::HalfOpen,
        Self::ForcedOpen,
        Self::Disabled,
        Self::ObserveOnly,
    ];

    /// The state's name in configs, metrics and traces: `half_open`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half_open",
            Self::ForcedOpen => "forced_open",
            Self::Disabled => "disabled",
            Self::ObserveOnly => "observe_only",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
            Self::ForcedOpen => "forced open",
            Self::Disabled => "disabled",
            Self::ObserveOnly => "observe-only",
        })
    }
}

/// What made a transition, or why a call was refused without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// Rule: the last `consecutive_failures` outcomes were all failures or timeouts.
    ConsecutiveFailures,
    /// Rule: the window holds `failures` failures and timeouts.
    Failures,
    /// Rule: the share of failures reached `failure_ratio`.
    FailureRatio,
    /// Rule: the share of timeouts reached `timeout_ratio`.
    TimeoutRatio,
    /// Rule: the share of slow calls reached the slow rule's ratio.
    SlowRatio,
    /// Rule: the score on failures reached its limit.
    FailureScore,
    /// Rule: the score on slow calls reached its limit.
    SlowScore,
    /// Probe verdict: a probe failed.
    ProbeFailed,
    /// Probe verdict: a probe timed out.
    ProbeTimedOut,
    /// Probe verdict: a probe succeeded, but slowly.
    ProbeSlow,
    /// `max_inconclusive` probes of one half-open period ended without a verdict.
    ProbesInconclusive,
    /// Probe verdict: `successes_to_close` probes succeeded.
    ProbesPassed,
    /// The open wait, or the end of a forced opening, has passed.
    WaitElapsed,
    /// Every probe's lease ran out while all slots were taken. The probes' answers count all the
    /// same, if they come.
    LeaseLost,
    /// An operator's action.
    Operator,
    /// The window's shape was changed by `reconfigure`.
    Reconfigured,
    /// A router's comparison with other targets ([`Comparison`](crate::router::Comparison), feature `router`).
    Outlier,
    /// Others before the same upstream have tripped, or set how long this one waits ([`Breaker::take_over`](crate::Breaker::take_over),
    /// [`Breaker::set_wait`](crate::Breaker::set_wait)).
    Peers,
    /// No transition: a closed breaker that has recovered refuses a share of the calls for a while
    /// ([`Config::ramp`](crate::Config::ramp)).
    Ramping,
    /// No transition: a [`Throttle`](crate::Throttle) refuses a share of the calls.
    Throttled,
}

impl Cause {
    /// All of them, in the order of their declaration.
    pub(crate) const ALL: [Self; 20] = [
        Self::ConsecutiveFailures,
        Self::Failures,
        Self::FailureRatio,
        Self::TimeoutRatio,
        Self::SlowRatio,
        Self::FailureScore,
        Self::SlowScore,
        Self::ProbeFailed,
        Self::ProbeTimedOut,
        Self::ProbeSlow,
        Self::ProbesInconclusive,
        Self::ProbesPassed,
        Self::WaitElapsed,
        Self::LeaseLost,
        Self::Operator,
        Self::Reconfigured,
        Self::Outlier,
        Self::Peers,
        Self::Ramping,
        Self::Throttled,
    ];

    /// The cause's name in configs, metrics and traces: `failure_ratio`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::ConsecutiveFailures => "consecutive_failures",
            Self::Failures => "failures",
            Self::FailureRatio => "failure_ratio",
            Self::TimeoutRatio => "timeout_ratio",
            Self::SlowRatio => "slow_ratio",
            Self::FailureScore => "failure_score",
            Self::SlowScore => "slow_score",
            Self::ProbeFailed => "probe_failed",
            Self::ProbeTimedOut => "probe_timed_out",
            Self::ProbeSlow => "probe_slow",
            Self::ProbesInconclusive => "probes_inconclusive",
            Self::ProbesPassed => "probes_passed",
            Self::WaitElapsed => "wait_elapsed",
            Self::LeaseLost => "lease_lost",
            Self::Operator => "operator",
            Self::Reconfigured => "reconfigured",
            Self::Outlier => "outlier",
            Self::Peers => "peers",
            Self::Ramping => "ramping",
            Self::Throttled => "throttled",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ConsecutiveFailures => "too many failures in a row",
            Self::Failures => "too many failures in the window",
            Self::FailureRatio => "failure ratio reached",
            Self::TimeoutRatio => "timeout ratio reached",
            Self::SlowRatio => "slow-call ratio reached",
            Self::FailureScore => "failure score reached",
            Self::SlowScore => "slow-call score reached",
            Self::ProbeFailed => "a probe failed",
            Self::ProbeTimedOut => "a probe timed out",
            Self::ProbeSlow => "a probe was slow",
            Self::ProbesInconclusive => "probes gave no verdict",
            Self::ProbesPassed => "probes passed",
            Self::WaitElapsed => "the wait is over",
            Self::LeaseLost => "probe leases ran out",
            Self::Operator => "operator action",
            Self::Reconfigured => "window reconfigured",
            Self::Outlier => "worse than its peers",
            Self::Peers => "told by peers",
            Self::Ramping => "on its way back to all calls",
            Self::Throttled => "the upstream accepts too few",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_at_the_index_that_it_is_cast_to() {
        for (index, state) in State::ALL.into_iter().enumerate() {
            assert_eq!(state as usize, index);
        }
        for (index, cause) in Cause::ALL.into_iter().enumerate() {
            assert_eq!(cause as usize, index);
        }
    }
}
