//! What a call has shown so far, and what that says of its target if nobody waits for more.
//!
//! A call has one outcome. Mostly that is how it ends; but a client may leave before, and a target that hangs may keep many
//! calls in flight. So a call's silence is evidence:
//!
//! - A call that has been silent for `limits.overdue` of its limit counts as a timeout, though it goes on. What it brings
//!   after all reaches the client and changes nothing more. (The core's own `Overdue` goes by a call's age; a stream that
//!   speaks may be as old as it likes, so what is judged here is silence.)
//! - A client that leaves a call which has been silent for long is evidence of a timeout. Long is `limits.silence`, but
//!   never less than what the target usually takes; between two pieces of a stream it is half of `limits.idle`.
//! - Neither counts if the target has shown life to anybody in the meantime: then it is well, and the client impatient.
//! - A client that leaves after an attempt has failed does not undo the failure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cutout::router::Choice;
use cutout::{Outcome, Report};
use tokio::time::{Instant, sleep};

use crate::providers::Target;

/// The permit of a call, and the signs of life that the call has shown.
#[derive(Debug)]
pub(super) struct Signs {
    target: Arc<Target>,
    is_stream: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Until it is settled; none for what is no call.
    choice: Option<Choice<Arc<Target>>>,
    /// When the present attempt began.
    began: Instant,
    /// Whether a piece of its answer has come.
    spoke: bool,
    /// Since when a piece is waited for, and how many signs of life the target had shown to anybody by then.
    waiting: Option<(Instant, u64)>,
    /// What the attempt before came to.
    failed: Option<Report>,
}

impl Signs {
    pub(super) fn new(
        target: Arc<Target>,
        choice: Option<Choice<Arc<Target>>>,
        is_stream: bool,
    ) -> Self {
        let state = State {
            choice,
            began: Instant::now(),
            spoke: false,
            waiting: None,
            failed: None,
        };
        Self {
            target,
            is_stream,
            state: Mutex::new(state),
        }
    }

    /// An attempt begins.
    pub(super) fn begin(&self) {
        let mut state = self.lock();
        state.began = Instant::now();
        state.spoke = false;
        state.waiting = Some((state.began, self.target.upstream.life.signs()));
    }

    /// An attempt has failed.
    pub(super) fn failed(&self, report: Report) {
        self.lock().failed = Some(report);
    }

    /// The next piece of the answer is waited for.
    pub(super) fn listen(&self) {
        let signs = self.target.upstream.life.signs();
        self.lock().waiting.get_or_insert((Instant::now(), signs));
    }

    /// A piece of the answer has come.
    pub(super) fn heard(&self) {
        let life = &self.target.upstream.life;
        life.show();
        let mut state = self.lock();
        state.waiting = None;
        state.failed = None;
        if !state.spoke {
            state.spoke = true;
            let took = state.began.elapsed();
            life.took(self.is_stream, took);
            if let Some(choice) = &mut state.choice {
                choice.took(took);
            }
        }
    }

    /// Counts the call as a timeout once its attempt has been silent for `limit`; never ends.
    pub(super) async fn overdue(&self, limit: Duration) -> ! {
        let limits = &self.target.provider.settings.limits;
        let usual = self.target.upstream.life.usual(self.is_stream);
        sleep(limit.mul_f64(limits.overdue).max(usual)).await;
        self.count_silence();
        std::future::pending().await
    }

    fn count_silence(&self) {
        let mut state = self.lock();
        if !state.spoke && self.nobody_heard(&state) {
            let silent = state.began.elapsed();
            settle(
                &mut state,
                timeout(&format!("silent for {}", short(silent))),
            );
        }
    }

    /// Settles the call, if it has not been counted already.
    pub(super) fn settle(&self, report: impl Into<Report>) {
        settle(&mut self.lock(), report);
    }

    fn nobody_heard(&self, state: &State) -> bool {
        let signs = self.target.upstream.life.signs();
        state.waiting.is_some_and(|(_, before)| before == signs)
    }

    /// What it says of the target that the call is left as it is.
    fn left(&self, state: &State) -> Option<Report> {
        if state.failed.is_some() {
            return state.failed;
        }
        let limits = &self.target.provider.settings.limits;
        let long = if state.spoke {
            limits.idle.get() / 2
        } else {
            let usual = self.target.upstream.life.usual(self.is_stream);
            limits.silence.get().max(usual)
        };
        let (since, _) = state.waiting?;
        let is_evidence = since.elapsed() >= long && self.nobody_heard(state);
        is_evidence.then(|| {
            timeout(&format!(
                "left after a silence of {}",
                short(since.elapsed())
            ))
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn timeout(label: &str) -> Report {
    Report::from(Outcome::Timeout).label(label)
}

/// A length of time in a few characters: to a hundredth of a second.
fn short(time: Duration) -> String {
    let hundredths = time.as_millis() / 10;
    format!("{}.{:02} s", hundredths / 100, hundredths % 100)
}

fn settle(state: &mut State, report: impl Into<Report>) {
    if let Some(choice) = state.choice.take() {
        choice.done(report);
    }
}

/// Settles what nobody has settled: as what it is evidence of, or else as abandoned.
impl Drop for Signs {
    fn drop(&mut self) {
        let mut state = self.lock();
        if std::thread::panicking() {
            return;
        }
        if let Some(report) = self.left(&state) {
            settle(&mut state, report);
        }
    }
}
