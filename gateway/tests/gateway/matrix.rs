//! Every answer that a provider may give: what the client sees, what is counted, who is asked next. One table, walked row
//! by row, and then at random against a model that knows no more than the table.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::passing::tempfile;
use crate::raw::{DONE, HELLO, ROLE, Raw, STOP, Script, WELL};
use crate::rig::{Answer, Rig, chat, provider, route};

/// What a client sees when nobody else is left.
#[derive(Clone, Copy, Debug)]
enum Told {
    /// The answer.
    All,
    /// A status, and an error with this code.
    Status(u16, &'static str),
    /// A head, and in the stream an error with this code.
    Raised(&'static str),
}

/// What happens then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// The client has its answer, good or not.
    Ends,
    /// The next target is asked.
    Next,
    /// The same, and this one is left out from now on.
    Suspends,
}
use Then::{Ends, Next, Suspends};
use Told::{All, Raised, Status};

/// What a call is counted as: success, answered, failure, timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Counted {
    S,
    A,
    F,
    T,
}
use Counted::{A, F, S, T};

struct Row {
    name: &'static str,
    script: Script,
    told: Told,
    counted: Counted,
    then: Then,
}

fn row(name: &'static str, script: Script, told: Told, counted: Counted, then: Then) -> Row {
    Row {
        name,
        script,
        told,
        counted,
        then,
    }
}

const KEY: &str = r#"{"error":{"message":"no","code":"invalid_api_key"}}"#;
const QUOTA: &str = r#"{"error":{"message":"no","code":"insufficient_quota"}}"#;
const LONG: &str = r#"{"error":{"message":"no","code":"context_length_exceeded"}}"#;
const TROUBLE: &str = r#"{"error":{"message":"no","code":503}}"#;

/// Refusals by status, which streams and whole answers have in common.
fn statuses() -> Vec<Row> {
    let status = |status, body: &str| Script::json(status, body);
    let key = Status(502, "provider_refused_key");
    let ill = Status(502, "provider_error");
    vec![
        row(
            "400",
            status(400, "{}"),
            Status(400, "refused_by_provider"),
            A,
            Ends,
        ),
        row(
            "400, named",
            status(400, LONG),
            Status(400, "context_length_exceeded"),
            A,
            Ends,
        ),
        row(
            "500, named",
            status(500, LONG),
            Status(400, "context_length_exceeded"),
            A,
            Ends,
        ),
        row("401", status(401, "{}"), key, A, Suspends),
        row("400, key", status(400, KEY), key, A, Suspends),
        row(
            "402",
            status(402, "{}"),
            Status(402, "refused_by_provider"),
            A,
            Suspends,
        ),
        row("403", status(403, "{}"), key, A, Suspends),
        row(
            "404",
            status(404, "{}"),
            Status(404, "model_not_found"),
            A,
            Next,
        ),
        row("408", status(408, "{}"), ill, T, Next),
        row("409", status(409, "{}"), ill, A, Next),
        row(
            "413",
            status(413, "{}"),
            Status(413, "refused_by_provider"),
            A,
            Ends,
        ),
        row(
            "415",
            status(415, "{}"),
            Status(415, "refused_by_provider"),
            A,
            Next,
        ),
        row(
            "422",
            status(422, "{}"),
            Status(422, "refused_by_provider"),
            A,
            Ends,
        ),
        row(
            "429",
            status(429, "{}"),
            Status(429, "rate_limit_exceeded"),
            F,
            Next,
        ),
        row(
            "429, quota",
            status(429, QUOTA),
            Status(429, "insufficient_quota"),
            A,
            Suspends,
        ),
        row("500", status(500, "{}"), ill, F, Next),
        row("501", status(501, "{}"), ill, A, Next),
        row("503", status(503, "{}"), ill, F, Next),
        row("504", status(504, "{}"), ill, T, Next),
        row("529", status(529, "{}"), ill, F, Next),
        row(
            "302",
            status(302, "{}"),
            Status(502, "invalid_provider_answer"),
            F,
            Next,
        ),
        row(
            "200, a page",
            Script::whole(200, "content-type: text/html\r\n", "<p>"),
            Status(502, "invalid_provider_answer"),
            F,
            Next,
        ),
        row(
            "200, request at fault",
            status(200, LONG),
            Status(400, "context_length_exceeded"),
            A,
            Ends,
        ),
        row("200, key", status(200, KEY), key, A, Suspends),
        row(
            "200, quota",
            status(200, QUOTA),
            Status(429, "insufficient_quota"),
            A,
            Suspends,
        ),
        row("200, trouble", status(200, TROUBLE), ill, F, Next),
        row(
            "no answer",
            Script::close(),
            Status(502, "provider_unreachable"),
            F,
            Next,
        ),
        row(
            "silence",
            Script::hang(),
            Status(504, "provider_timeout"),
            T,
            Next,
        ),
    ]
}

fn wholes() -> Vec<Row> {
    let invalid = Status(502, "invalid_provider_answer");
    let mut rows = statuses();
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 900\r\n\r\n{";
    rows.extend([
        row("good", Script::well(), All, S, Ends),
        row("empty", Script::json(200, "{}"), invalid, F, Next),
        row(
            "no choices",
            Script::json(200, r#"{"choices":[]}"#),
            invalid,
            F,
            Next,
        ),
        row(
            "nothing in the choice",
            Script::json(200, r#"{"choices":[{"index":0,"message":{"role":"assistant","content":""}}]}"#),
            invalid,
            F,
            Next,
        ),
        row(
            "no choice in the choices",
            Script::json(200, r#"{"choices":[null,{}]}"#),
            invalid,
            F,
            Next,
        ),
        row(
            "a choice that failed",
            Script::json(
                200,
                r#"{"choices":[{"message":{"content":""},"finish_reason":"error","error":{"code":502,"message":"no"}}]}"#,
            ),
            Status(502, "provider_error"),
            F,
            Next,
        ),
        row(
            "calls a tool",
            Script::json(200, r#"{"choices":[{"message":{"content":null,"tool_calls":[{"id":"Hello"}]}}]}"#),
            All,
            S,
            Ends,
        ),
        row(
            "thinks only",
            Script::json(200, r#"{"choices":[{"message":{"content":null,"reasoning_content":"Hello"}}]}"#),
            All,
            S,
            Ends,
        ),
        row(
            "filtered",
            Script::json(200, r#"{"id":"Hello","choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}"#),
            All,
            S,
            Ends,
        ),
        row("no JSON", Script::json(200, "{"), invalid, F, Next),
        row(
            "broken off",
            Script::close().say(half),
            Status(502, "provider_unreachable"),
            F,
            Next,
        ),
        row(
            "half, then silence",
            Script::close().say(half).then_hang(),
            Status(504, "provider_timeout"),
            T,
            Next,
        ),
    ]);
    rows
}

fn streams() -> Vec<Row> {
    let event = |data: &str| format!("data: {data}\n\n");
    let (long, trouble, key) = (event(LONG), event(TROUBLE), event(KEY));
    let junk = "data: {\"id\n\n";
    let failed = event(
        r#"{"choices":[{"delta":{"content":""},"finish_reason":"error","error":{"code":502}}]}"#,
    );
    let no_reason = event(r#"{"choices":[{"delta":{"content":"Hello"},"finish_reason":""}]}"#);
    let mark = format!("\u{feff}{HELLO}");
    let stream = |events: &[&str]| Script::stream(events).end();
    let invalid = Status(502, "invalid_provider_answer");
    let ill = Status(502, "provider_error");
    let mut rows = statuses();
    rows.extend([
        row("good", Script::streaming(), All, S, Ends),
        row("good, no head", stream(&[HELLO, DONE]), All, S, Ends),
        row("good, marked", stream(&[&mark, DONE]), All, S, Ends),
        row(
            "good, events without data",
            stream(&["data\n\n", HELLO, "id: 1\n\n", STOP, DONE]),
            All,
            S,
            Ends,
        ),
        row(
            "first: a choice that failed",
            stream(&[&failed]),
            ill,
            F,
            Next,
        ),
        row(
            "content: a choice that failed",
            stream(&[HELLO, &failed, DONE]),
            Raised("provider_error"),
            F,
            Ends,
        ),
        row(
            "content: an empty reason, clean end",
            stream(&[&no_reason]),
            Raised("provider_unreachable"),
            F,
            Ends,
        ),
        row("finished, no end", stream(&[HELLO, STOP]), All, S, Ends),
        row(
            "first: request at fault",
            stream(&[&long]),
            Status(400, "context_length_exceeded"),
            A,
            Ends,
        ),
        row("first: trouble", stream(&[&trouble]), ill, F, Next),
        row(
            "first: key",
            stream(&[&key]),
            Status(502, "provider_refused_key"),
            A,
            Suspends,
        ),
        row("first: junk", stream(&[junk]), invalid, F, Next),
        row("first: end", stream(&[DONE]), invalid, F, Next),
        row(
            "nothing",
            stream(&[]),
            Status(502, "provider_unreachable"),
            F,
            Next,
        ),
        row(
            "head: request at fault",
            stream(&[ROLE, &long]),
            Status(400, "context_length_exceeded"),
            A,
            Ends,
        ),
        row("head: trouble", stream(&[ROLE, &trouble]), ill, F, Next),
        row("head: junk", stream(&[ROLE, junk]), invalid, F, Next),
        row("head: end", stream(&[ROLE, DONE]), invalid, F, Next),
        row(
            "head: broken off",
            Script::stream(&[ROLE]),
            Status(502, "provider_unreachable"),
            F,
            Next,
        ),
        row(
            "comment: trouble",
            stream(&[": x\n\n", &trouble]),
            Raised("provider_error"),
            F,
            Next,
        ),
        row(
            "comment: request at fault",
            stream(&[": x\n\n", &long]),
            Raised("context_length_exceeded"),
            A,
            Ends,
        ),
        row(
            "content: request at fault",
            stream(&[HELLO, &long]),
            Raised("context_length_exceeded"),
            A,
            Ends,
        ),
        row(
            "content: trouble",
            stream(&[HELLO, &trouble]),
            Raised("provider_error"),
            F,
            Ends,
        ),
        row(
            "content: junk",
            stream(&[HELLO, junk]),
            Raised("invalid_provider_answer"),
            F,
            Ends,
        ),
        row(
            "content: clean end",
            stream(&[HELLO]),
            Raised("provider_unreachable"),
            F,
            Ends,
        ),
        row(
            "content: broken off",
            Script::stream(&[HELLO]),
            Raised("provider_unreachable"),
            F,
            Ends,
        ),
        row(
            "content: silence",
            Script::stream(&[HELLO]).then_hang(),
            Raised("provider_timeout"),
            T,
            Ends,
        ),
    ]);
    rows
}

/// Long enough that nothing which answers is ever late, on a busy machine too.
const LIMITS: &str =
    "limits = { first_byte = \"3s\", whole = \"3s\", idle = \"3s\", overdue = 1.0 }";

fn config(a: &Raw, b: Option<&Raw>) -> String {
    let mut text = provider("a", &a.url(), LIMITS);
    let mut queue = vec!["a"];
    if let Some(b) = b {
        text += &provider("b", &b.url(), LIMITS);
        queue.push("b");
    }
    text + &route("m", &queue, "")
}

fn check(told: Told, answer: &Answer, name: &str) {
    let text = answer.text();
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    let raised = events
        .filter(|data| *data != "[DONE]")
        .filter_map(|data| serde_json::from_str::<Value>(data).ok())
        .find_map(|data| data["error"]["code"].as_str().map(str::to_owned));
    match told {
        All => {
            assert_eq!(
                (answer.status.as_u16(), &raised),
                (200, &None),
                "{name}: {text}"
            );
            assert!(text == WELL || text.contains("Hello"), "{name}: {text}");
        }
        Status(status, code) => {
            let seen = (
                answer.status.as_u16(),
                answer.json()["error"]["code"].clone(),
            );
            assert_eq!(seen, (status, code.into()), "{name}: {text}");
        }
        Raised(code) => {
            let seen = (answer.status.as_u16(), raised.as_deref());
            assert_eq!(seen, (200, Some(code)), "{name}: {text}");
        }
    }
}

/// Of success, answered, failure, timeout, ignored.
fn counts(rig: &Rig, name: &str) -> [u64; 5] {
    let totals = rig.upstream(name).totals();
    [
        totals.successes,
        totals.answered,
        totals.failures,
        totals.timeouts,
        totals.ignored,
    ]
}

async fn walk_row(row: Row, is_stream: bool) {
    let name = row.name;
    let a = Raw::start(row.script.clone()).await;
    let alone = Rig::start(&config(&a, None)).await;
    let answer = alone
        .post("/v1/chat/completions", chat("m", is_stream))
        .await;
    check(row.told, &answer, name);
    let b = Raw::start(if is_stream {
        Script::streaming()
    } else {
        Script::well()
    })
    .await;
    let both = Rig::start(&config(&a, Some(&b))).await;
    let answer = both
        .post("/v1/chat/completions", chat("m", is_stream))
        .await;
    if row.then == Ends {
        check(row.told, &answer, name);
    } else {
        check(All, &answer, name);
    }
    let mut expected = [0; 5];
    expected[row.counted as usize] = 1;
    for rig in [&alone, &both] {
        assert_eq!(counts(rig, "a"), expected, "{name}, stream: {is_stream}");
        let fleet = rig.gateway.fleet.load();
        let is_suspended = fleet.providers["a"].suspended("m").is_some();
        assert_eq!(is_suspended, row.then == Suspends, "{name}");
    }
    assert_eq!(b.calls(), u64::from(row.then != Ends), "{name}");
    assert_eq!(a.calls(), 2, "{name}");
}

#[tokio::test]
async fn each_answer_has_its_row() {
    // Rows that wait do so together.
    let mut rows = tokio::task::JoinSet::new();
    for row in wholes() {
        rows.spawn(walk_row(row, false));
    }
    for row in streams() {
        rows.spawn(walk_row(row, true));
    }
    rows.join_all().await;
}

/// Numbers that look random and are the same each time (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }

    /// One of the rows; those that wait seldom, so that the walk gets on.
    fn row<'a>(&mut self, rows: &'a [Row]) -> &'a Row {
        loop {
            let row = &rows[self.below(rows.len())];
            if !row.name.contains("silence") || self.below(50) == 0 {
                return row;
            }
        }
    }
}

/// For two seconds, or as many as `GATEWAY_WALK_SECONDS` says.
#[tokio::test]
async fn a_random_walk_through_all_answers_counts_as_the_table_says() {
    let seconds = std::env::var("GATEWAY_WALK_SECONDS");
    let seconds = seconds.map_or(2, |text| text.parse().expect("a number of seconds"));
    let kinds = [wholes(), streams()];
    let (a, b) = (
        Raw::start(Script::hang()).await,
        Raw::start(Script::hang()).await,
    );
    let file = tempfile(&config(&a, Some(&b)));
    let rig = Rig::start_file(file.path()).await;
    let names = ["a", "b"];
    for name in names {
        // It counts all and never opens.
        rig.upstream(name).breaker.observe_only("the walk");
    }
    let (mut numbers, mut steps) = (Numbers(11), 0_u64);
    let (mut counted, mut asked, mut suspended) = ([[0; 5]; 2], [0; 2], [false; 2]);
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(seconds) {
        steps += 1;
        if numbers.below(5) == 0 {
            let gateway = Arc::clone(&rig.gateway);
            tokio::task::spawn_blocking(move || gateway.reload(true))
                .await
                .unwrap();
            suspended = [false; 2];
        }
        let is_stream = numbers.below(2) == 1;
        let rows = &kinds[usize::from(is_stream)];
        let chosen = [numbers.row(rows), numbers.row(rows)];
        for (raw, row) in [&a, &b].into_iter().zip(chosen) {
            raw.set(row.script.clone());
        }
        let answer = rig.post("/v1/chat/completions", chat("m", is_stream)).await;
        let mut end = None;
        for turn in 0..2 {
            if suspended[turn] {
                continue;
            }
            let row = chosen[turn];
            asked[turn] += 1;
            counted[turn][row.counted as usize] += 1;
            suspended[turn] = row.then == Suspends;
            if row.then == Ends {
                end = Some(row);
                break;
            }
        }
        let story = chosen.map(|row| row.name).join(", then ");
        // Which of several failures is told has tests of its own, and so has the head that a comment sends out.
        let has_comment = chosen.iter().any(|row| row.name.starts_with("comment"));
        match end {
            Some(row) if !has_comment => check(row.told, &answer, &story),
            Some(_) => {}
            None => assert!(
                answer.text().contains("error"),
                "{story}: {}",
                answer.text()
            ),
        }
        for turn in 0..2 {
            let name = names[turn];
            assert_eq!(
                counts(&rig, name),
                counted[turn],
                "{name}, step {steps}: {story}"
            );
        }
        assert_eq!([a.calls(), b.calls()], asked, "step {steps}: {story}");
    }
    println!("{steps} steps, {counted:?}");
    assert!(steps > 0);
}
