//! How it works inside: for whoever changes the crate.
//!
//! It tells which file does which step, by which memory ordering, how all of it is checked, and where a change belongs.
//! File names are those under `core/src`, unless another place is named. What a breaker *means* is told by the sequential model,
//! `model/`: a plain program of some hundred lines. What is told here is how the lock-free one comes to the same.
//!
//! # The rooms
//!
//! Each folder uses those below it and none above; `ci/circles` fails if one does.
//!
//! | room | what lives there |
//! | --- | --- |
//! | `guide/` | pages to read; no code |
//! | `adapters/` | the breaker in other crates' terms, one module a feature: tower, http, stream, body, tokio, metrics, tracing, serde |
//! | `router/`, `registry/` | many breakers |
//! | `throttle/` | refusing a share: the window of `engine/window/time.rs` without a breaker |
//! | `wrap/` | what the adapters share: what a result says (`classify.rs`), how long a stream may take (`stream_limits.rs`) |
//! | `model/` | the contract as a sequential program; `model/throttle.rs` is that of a throttle |
//! | `record.rs` | calls written down, for a replay |
//! | `breaker/` | what a user does with a breaker: `allow.rs`, `settle.rs`, `operate.rs`; what others have found: `peers.rs` |
//! | `odds/` | how often a config opens by chance |
//! | `engine/` | the shared memory, and the steps on it: no clock, no user code, nothing public |
//! | `contract/` | plain values and pure decisions: no atomics |
//!
//! # The word
//!
//! One atomic of 64 bits decides each call. `engine/word.rs` owns it; how a count window's 32 bits are divided is in `engine/shape.rs`. No other file sees its bits.
//!
//! ```text
//!  bit 63   61 60            39  38    37   36                                      0
//!     +-------+----------------+-----+-----+------------------------------------------+
//!     | mode  | generation     |side |clean| payload, by mode                         |
//!     |   3   |      22        |  1  |  1  |   37                                     |
//!     +-------+----------------+-----+-----+------------------------------------------+
//!
//!                                          36    35      33  32   31                 0
//!                                         +-----+---------+----+---------------------+
//!     closed, observe-only                |timed| pending |full| lap | cursor | bad  |
//!       by a count window                 |  1  |    3    | 1  |        32           |
//!                                         +-----+---------+----+---------------------+
//!                                         +-----+----------+-------------------------+
//!     closed, observe-only                |timed| revision | run of failures         |
//!       by a time window                  |  1  |    4     |   32                    |
//!                                         +-----+----------+-------------------------+
//!                                         +----------+-------+-----------------------+
//!     open, forced open                   | revision | cause | digits of the deadline|
//!                                         |    2     |   4   |         31            |
//!                                         +----------+-------+-----------------------+
//!                                         +----------+-------+------+---+------+-----+
//!     half-open                           | revision | cause | bad  |out|passed|incon|
//!                                         |    2     |   4   |  7   | 8 |  8   |  8  |
//!                                         +----------+-------+------+---+------+-----+
//!                                         +----------+-------------------------------+
//!     disabled                            | revision | unused                        |
//!                                         |    2     |   35                          |
//!                                         +----------+-------------------------------+
//! ```
//!
//! For example, a breaker with a count window of 20, which is full and holds 3 failures, the last of them pending:
//!
//! ```text
//!     mode closed | generation 7 | side 0 | clean 0 | timed 0 | pending failure | full 1 | lap 2 | cursor 12 | bad 3
//! ```
//!
//! Cursor 12: the next outcome goes to place 12. Pending: the newest outcome, of place 11, is in the word and perhaps not in the
//! ring. Lap 2: the cursor has wrapped twice, so 52 outcomes have come. Clean would be 1 if `bad` were 0.
//!
//! # What lies beside the word
//!
//! | what | file | whose it is |
//! | --- | --- | --- |
//! | the ring of a count window, near the word if it has up to 120 places | `engine/window/count.rs` | the word's: it says which places count |
//! | how many outcomes of each kind the ring holds, where rules ask for kinds | `engine/window/tally.rs` | the word's, as the ring is |
//! | the cells of a time window | `engine/window/time.rs`, `tick_cells.rs` | tagged with generation and tick |
//! | the config, on two sides | `engine/settings.rs` | the word says which side |
//! | lease, begin of a wait, what came before | `engine/beside.rs`, cells of `tagged_cell.rs` | tagged with the generation |
//! | what opened the breaker | `engine/records.rs` | tagged with the generation of the trip |
//! | calls in flight that may be overdue | `engine/in_flight.rs` | tagged with generation and epoch |
//! | whether the process itself ran | `engine/pulse.rs` | the breaker's: of no generation |
//! | totals, listeners, the queue of events | `engine/counters.rs`, `breaker/watch.rs`, `breaker/listeners.rs` | order nothing for the word |
//!
//! # The one pattern
//!
//! 1. Load the word (acquire).
//! 2. Read what else the decision needs. Each value either carries a tag, or is checked by loading the word again after it was read.
//! 3. Decide, by pure functions: `contract/rules.rs`, `engine/word.rs`.
//! 4. Write what the next word needs beside it: the pending outcome to the ring, cells of the next generation.
//! 5. Move the word by a CAS from what was loaded (acquire and release).
//! 6. Only the winner acts: records, events. A loser starts over at 1.
//!
//! The release in 5 pairs with the acquire in 1: who sees a word sees what was written for it in 4. In an order that all threads
//! agree on, each call happens at its CAS, or at its load if it writes nothing; that is why the model can check it.
//!
//! # One healthy call
//!
//! A count window of 20, full of fast successes, no rule on slow calls. 21 instructions, two loads of the word, no write.
//!
//! | step | file | ordering |
//! | --- | --- | --- |
//! | `Breaker::allow` calls `admit`, which loads the word | `breaker/allow.rs` | acquire; pairs with the release of a move |
//! | closed and not timed, by one masked comparison: granted | `engine/word.rs`, `admits_untimed` | |
//! | the permit keeps the word's mode and generation, its *stamp* | `breaker/token.rs`, `Token` | |
//! | `Permit::success` calls `settle_as`, which loads the word | `breaker/settle.rs` | acquire, as above |
//! | same mode and generation, clean, not timed, by one masked comparison: one more success leaves the window as it is | `engine/word.rs`, `is_unmoved_by_success` | |
//!
//! With a time window the last step is `settle_by_time`: one clock read, and one CAS on a cell of this thread's shard
//! (`engine/window/time.rs`, `Timeline::count`: sequentially consistent, for the reason that stands there).
//!
//! # One failing call
//!
//! The same window, a failure that matches no rule. `allow` is as above.
//!
//! | step | file | ordering |
//! | --- | --- | --- |
//! | `settle_as` loads the word: the generation lasts | `breaker/settle.rs` | acquire |
//! | `Engine::record_untimed`, `record_full`: reads the thresholds of the word's config side | `engine/by_count.rs`, `engine/settings.rs` | acquire; pairs with the release in `Settings::fill` |
//! | *helps*: writes the pending outcome of whoever came before to its place, unless it is there | `engine/window/count.rs`, `Place` | load acquire, a look at the word, CAS acquire and release; pairs with itself |
//! | reads the outcome that falls out, at the cursor | `engine/window/count.rs`, `kind_at` | relaxed: the CAS of the word validates it |
//! | computes the next word: cursor and bad count, pending is the failure, not clean | `engine/word.rs`, `push` | |
//! | in a window that fills up: the same, and nothing falls out | `engine/by_count.rs`, `record_filling` | as above |
//! | fewer bad outcomes than the floor, or than `min_calls` outcomes: no rule can match | `engine/by_count.rs`, `may_match`; `engine/settings.rs`, `ratio_is_near` | |
//! | moves the word | `engine/word.rs`, `try_move` | acquire and release; relaxed if it fails |
//! | if it fails: a short pause, then all of it again | `engine/by_count.rs`, `record_untimed_anyhow` | |
//!
//! With a rule on timeouts or slow calls besides, the number of bad outcomes says too little. Then whoever helps writes the pending outcome to the tally
//! first, then to the ring (`enter_pending`), and the counts of the tally are held against a floor for each kind: no ring is counted.
//!
//! # One trip
//!
//! The tenth failure of twenty, with a failure ratio of 0.5.
//!
//! | step | file | ordering |
//! | --- | --- | --- |
//! | as a failing call, up to the floor: now a rule may match | `engine/by_count.rs`, `may_match` | as above |
//! | counts the ring, unless there is a tally, and asks the rules | `engine/by_count.rs`, `matching_rule`; `contract/rules.rs` | ring words relaxed: the CAS of the word validates them |
//! | a match opens the breaker | `breaker/settle.rs`, `matches`, `open`, `open_by` | |
//! | how long: growth, jitter, what the upstream asked for | `contract/rules.rs`, `open_wait`; `engine/wait.rs` | |
//! | writes the begin of the wait to the cell of the next generation | `engine/generations.rs`, `begin_wait` | load acquire, a look at the word, CAS acquire and release |
//! | writes what came before, for the next generation | `engine/generations.rs`, `hand_on`; `engine/past.rs` | the same |
//! | moves the word to open, generation + 1 | `engine/word.rs`, `try_move` | acquire and release |
//! | the winner records why | `engine/why.rs`, `record_trip` | as other cells |
//! | the winner queues the event, and delivers if nobody else does | `breaker/mod.rs`, `emit_match`; `breaker/listeners.rs`, `publish` | acquire and release, on the count of unseen events |
//! | a loser starts over, finds another generation, and counts as stale | `breaker/settle.rs`, `settle_by_state` | relaxed: a count orders nothing |
//!
//! # One probe
//!
//! The wait is over; one probe at a time, one success closes.
//!
//! | step | file | ordering |
//! | --- | --- | --- |
//! | `admit` loads the word: open. `reject_at_sight` reads the clock, or for less a reading that may be old, which does while much is left to wait | `breaker/allow.rs`; `contract/clock.rs`, `Clock::recent` | acquire |
//! | the deadline: digits in the word, begin in the cell | `engine/generations.rs`, `deadline_of`; `engine/wait.rs` | acquire; pairs with the CAS of the cell |
//! | not over: `Rejected`. Over: `admit_by_state`, `start_probing` | `breaker/allow.rs` | |
//! | publishes the lease of the probe, in the cell of the next generation | `engine/generations.rs`, `publish_lease` | load acquire, a look at the word, CAS acquire and release |
//! | hands on what came before, and moves the word: half-open, one probe out | `engine/generations.rs`, `begin` | acquire and release |
//! | another call now: no slot, and the lease is not over: `Rejected` | `breaker/allow.rs`, `reject_at_sight` | acquire; a second look at the word |
//! | another call after the lease: a new half-open generation, the slots are free again | the same, `Cause::LeaseLost` | as a first probe |
//! | the probe succeeds: `judge_probe` moves the word to closed, with an empty window | `breaker/probe.rs` | acquire and release |
//! | or it is counted, and nothing or a stage is decided: one move of the word, no cell beside it | `contract/stages.rs`, `Recovery`; `breaker/probe.rs` | acquire and release |
//! | or it fails: `reopen`, as a trip, with one more attempt | `breaker/probe.rs`, `breaker/settle.rs` | as a trip |
//! | or it is ignored: the slot is free, and those who wait are told | `breaker/probe.rs`, `free_slot` | acquire and release |
//!
//! By stages the word holds no number of a stage: `passed` counts the outcomes of the stages that are over and the good ones of the present
//! one, so the config says which stage that is. For example, stages of 1, 2 and 4, and `passed` is 4: the third stage began at 3, and one
//! probe of it has passed. A stage that is decided early moves `passed` on to its end.
//!
//! # How it is checked
//!
//! | check | where | what it finds |
//! | --- | --- | --- |
//! | the **sequential model**: the contract as a plain struct, told the time | `model/` | all others compare with it |
//! | **scenarios**: what a user sees, by a manual clock | `core/tests/scenarios/` | a broken promise of the docs |
//! | **lockstep**: breaker and model are driven together, and everything that shows is compared after each step | `core/tests/lockstep/` | any difference on one thread |
//! | random programs in lockstep, by proptest | `core/tests/model.rs` | the same, for programs nobody thought of |
//! | **fuzzing**: bytes become configs, programs, snapshots | `fuzz/`, `ci/fuzz`; `core/tests/corpus.rs` replays what was kept | panics, differences from the model |
//! | **model checkers**: the core's own sources, each access of an atomic scheduled; the set of outcomes must *equal* the model's over all orders | `loom-tests/models/` by loom, shuttle's exhaustive depth-first search and random schedules | races, missing orderings |
//! | **seeded faults**: a patch for each way to break it, which a named model must catch | `loom-tests/faults/`, `ci/faults` | a check that checks nothing |
//! | **histories** of real threads: the answers must be the model's in some order | `core/tests/linearizable.rs`, `core/tests/histories/` | what the bounded search does not reach |
//! | **allocations**, sizes | `core/tests/alloc.rs` | a call that allocates, a breaker that grows |
//! | **instructions** of each call, counted by callgrind, with limits | `bench/benches/instructions.rs`, `ci/bench` | a slower path |
//! | the numbers of the page on how to choose a rule | `bench/tests/chance.rs`, `replay/tests/cusum_on_extracts.rs` | a number that is not what comes out |
//! | the share of atomic accesses whose comment gives a reason | `ci/orderings` | an ordering that nobody can check |
//! | arrows between rooms and files | `ci/circles` | a room that uses one above it |
//!
//! `ci/` has each as a script. A change of an ordering, of the word or of a cell needs a scenario in `loom-tests/models/` in which it matters, and a
//! fault in `loom-tests/faults/` which that scenario catches. A patch there that no longer applies has to be made anew.
//!
//! # Where to add what
//!
//! A change of the contract comes first in the model, then in lockstep's programs, then in the engine: so it is seen to fail before it holds.
//!
//! **A rule** (say, on a share of calls above a percentile):
//! 1. `contract/config.rs`: the field, its legal range in `validate`. `breaker/builder.rs`: its setter.
//! 2. `contract/state.rs`: the `Cause`, its label, its place in `ALL`. `contract/evidence.rs`: the `Threshold` that was met. `engine/word.rs`: its four bits in `code_of` and `cause_of`.
//! 3. `contract/rules.rs`: `matching` (or beside it), `threshold`, `floor`, `slack`; `floors` in `engine/settings.rs`. `model/calls.rs`: `matching_rule`.
//! 4. `engine/settings.rs`: room for it on a config side, in `pack`, `Terms::rules` and `Terms::config`; or, if few configs will set it, `Rare` in `engine/on_demand.rs`. If it needs a kind of outcome that is not told apart
//!    today: `Kind` in `engine/window/count.rs`. It has three bits and all are taken. A fourth would fit in the ring, and not in the word's `pending`.
//! 5. `adapters/serde/types.rs`, `odds/of_config.rs`; the gateway reads the core's config, by its names.
//! 6. Tests: `core/tests/model.rs` and `fuzz/src/values.rs` draw configs at random; `core/tests/scenarios/windows_and_rules.rs`.
//!
//! **Another jitter, or another growth of the wait**: `contract/rules.rs`, `open_wait`. The model calls the same function, except when the wait is fixed
//! and has no jitter; then it computes the wait itself. Tests: `core/tests/scenarios/waits_and_clocks.rs`. The field is `OpenWait` in `contract/config.rs`, whose
//! docs say how it is drawn. The seed alone, which makes breakers differ, is in `breaker/seed.rs`.
//!
//! **How a deadline or a lease is rounded**: `contract/deadline.rs` (`to_millis` for leases), `engine/wait.rs` for open waits, and `model/deadline.rs`, which does
//! the same by itself. `engine/generations.rs` publishes them; the docs of `probe_lease` in `contract/config.rs` say the unit.
//!
//! **A window kind**: the variant in `contract/config.rs` (`Window`); its memory, a file in `engine/window/`, room for it in `engine/on_demand.rs`; a mode or a
//! payload in `engine/word.rs`; where outcomes enter, `Engine::record` and `Breaker::enter` in `breaker/settle.rs`; `model/window.rs`; snapshots: `engine/restore.rs` and
//! `contract/snapshot.rs`; changes to and from it: `switch_side` in `breaker/operate.rs`. Then configs at random, as for a rule, and a scenario in `loom-tests/models/`.
//!
//! **An operator's action**: `breaker/operate.rs`, as one more closure for `operate`; `model/operate.rs`; an operation in `core/tests/lockstep/` and `loom-tests/models/op.rs`.
//!
//! **A listener**: for transitions, `breaker/listeners.rs`, told by `emit_match` in `breaker/mod.rs`; for calls, `breaker/watch.rs`; its setter, `breaker/builder.rs`.
//! Whatever runs user's code goes through `breaker/contain.rs`. One that is added and removed at run time is there: `breaker/listener_set.rs`.
//!
//! **What a status means**: the row in `contract/verdict/http.md` or `grpc.md` and in the `.rs` beside it; `core/tests/verdicts.rs` holds one against the other. No adapter knows a code; nor
//! does the gateway, but for what a provider says in its body (`gateway/src/dialect/refusal.rs`).
//!
//! **An adapter**: a folder in `adapters/`, its line in `adapters/mod.rs`, its feature in `core/Cargo.toml` and in the README's table; `ci/features` builds each alone. What
//! it does with permits is there already: a result is judged by `wrap/classify.rs`, a permit that lives through polls by `breaker/guard.rs`, a breaker or throttle that is borrowed or
//! shared by `breaker/gate.rs`, limits of a stream by `wrap/stream_limits.rs`. An adapter has no atomics and no state of its own. A second adapter that needs what the
//! first has moves it to `wrap/`.
//!
//! **A provider's dialect** in the gateway: `gateway/src/dialect/` has what a protocol looks like, and nothing else does. Errors to the client: `error.rs`. Errors of a
//! provider: `refusal.rs`. Events of a stream, and which of them is the end: `sse.rs`. Tokens: `usage.rs`. Headers that pass: `headers.rs`. The paths and the key that a
//! provider is asked with: `gateway/src/providers/provider.rs`; its config: `gateway/src/config/provider.rs`. The code in `gateway/src/proxy/` uses the dialect:
//! `ask.rs` for requests, `reading.rs` and `pour.rs` for answers, `failed.rs` for failures. There is one dialect today, OpenAI's; a second one needs a type for the
//! choice first, and an `ApiError` that does not have OpenAI's fields. A provider that speaks it in tests: `gateway/src/demo/fake/`.
//!
//! # Words
//!
//! What users see has the words of the README's terminology. Inside there are these, each with one meaning.
//!
//! | word | meaning |
//! | --- | --- |
//! | **word** | the atomic of 64 bits that decides; `Word` is a value of it |
//! | **mode** | the topmost three bits of the word: the state, and the kind of the window |
//! | **move** | a CAS of the word that succeeded; the *winner* is the thread that made it |
//! | **begin** (a generation) | fill its cells, then move the word to it |
//! | **leave** (a word) | make it ready to be moved away from: its pending outcome is in the ring |
//! | **hand on** | fill the cells of the next generation from those of this one |
//! | **stamp** | what a permit remembers of the word: mode, generation, era |
//! | **token** | a stamp and when the call started: a permit without its breaker |
//! | **side**, config side | one of the two copies of the config; the word says which one it goes with |
//! | **terms** | a view of one side, read value by value |
//! | **thresholds** | the one word of a side that recording needs: sizes, floor, run |
//! | **revision** | a count in the word that each reconfiguration moves on; in a count window the lap does that |
//! | **place** | where an outcome is in the ring; `position` is its number |
//! | **kind** | what an outcome was, in three bits: failure, timeout, slow; zero is a *fast success*, all others are *bad* |
//! | **sample** | the same as users see it: an outcome, and whether it was slow |
//! | **pending** | the newest outcome of a count window: in the word, perhaps not yet in the ring |
//! | **help** | write another thread's pending outcome |
//! | **lap**, **cursor** | how often the cursor has wrapped; where the next outcome goes |
//! | **shape** | a count window's size, and how the word's bits are divided for it |
//! | **near**, **far** | a ring with the breaker's word, in its block but for the last of 15 words; one in memory of its own, for a larger window |
//! | **plain** | a window that is near, and judged by its number of bad outcomes |
//! | **tally** | a count of each kind in a window, as of a cursor; *unknown* until somebody has counted the ring |
//! | **clean** | the window is full of fast successes: one more changes nothing |
//! | **timed** | a rule needs to know when calls started |
//! | **floor** | the least number of bad outcomes, or of those of a kind, with which a ratio can be reached in a full window |
//! | **slack** | how many more bad outcomes it takes to reach a ratio in a time window |
//! | **quiet** (below) | a time window in which no rule can match in this tick, as long as it has fewer bad outcomes |
//! | **tick**, **bucket** | a bucket's length of time, numbered; what users see of it |
//! | **tag** | of which generation (and tick, or epoch) a cell's value is |
//! | **cell** | an atomic with a tag and a value |
//! | **shard** | what a thread has of a count to itself |
//! | **epoch** | an eighth of the limit after which a call is overdue |
//! | **era** | the time between two changes of that limit |
//! | **taken** | of calls in flight: counted as overdue, and by nobody else |
//! | **in flight**, **followed** | a call between `allow` and `done`; one whose epoch counts it |
//! | **past** | what a generation needs to know of those before it: state, cause, attempt, half-open period |
//! | **period** | half-open generations in a row: a lost lease begins another generation, and no other period |
//! | **attempt** | how often the breaker has re-opened since it tripped |
//! | **lineage** | the generations that explain why a word is not closed: the trip's, the operator's |
//! | **digits** | the lowest bits of a deadline, in the word |
//! | **on demand** | memory that only some configs need, made when the first of them comes |
//! | **reading** | the clock, read at most once in a call |
//! | **pulse**, **beat** | how steadily the clock was read; one value of that |
//! | **running time** | the clock less the pauses in which the process stood still |
//! | **rare** | what few configs set: on two sides too, but made on demand |
//! | **stage** | how many probes half-open admits at a time and in all, before it goes on or opens again |
//! | **probe slot** | the right of half-open to have one more probe out |
//! | **entry** | a target or a key, as a registry or a router holds it |
//! | **verdict** | what a status says of its upstream; or what a probe has decided |
//! | **limits** | how long a stream may keep its consumer waiting. A rule has a threshold; an overdue call has *the* limit |
//! | **settle** | end a permit, once. What that did is `Settled`; the call whose permit it was is an `EndedCall` |
