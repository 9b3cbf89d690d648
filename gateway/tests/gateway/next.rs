//! Who is asked next, how often in all, and what a client is told to do when nobody is left.

use std::time::{Duration, Instant};

use cutout::State;
use http::{HeaderValue, Method, StatusCode};

use crate::raw::{Raw, Script};
use crate::rig::{Rig, chat, provider, route, until};

async fn two(a: Script, b: Script, more: &str, of_route: &str) -> (Rig, Raw, Raw) {
    let (a, b) = (Raw::start(a).await, Raw::start(b).await);
    let config = provider("a", &a.url(), more) + &provider("b", &b.url(), more);
    let rig = Rig::start(&(config + &route("m", &["a", "b"], of_route))).await;
    (rig, a, b)
}

const SLOWLY: &str = "retry = { attempts = 3, base = \"60s\", max = \"120s\" }\n";
const QUICKLY: &str = "retry = { attempts = 3, base = \"1ms\", max = \"10ms\" }\n";

#[tokio::test]
async fn the_next_well_target_is_asked_at_once() {
    for script in [
        Script::busy(429, 50),
        Script::json(500, "{}"),
        Script::close(),
    ] {
        let (rig, a, b) = two(script, Script::well(), SLOWLY, "").await;
        let since = Instant::now();
        assert_eq!(rig.chat("m").await.header("x-cutout-provider"), Some("b"));
        assert!(
            since.elapsed() < Duration::from_secs(40),
            "it has not waited"
        );
        assert_eq!((a.calls(), b.calls()), (1, 1));
    }
}

#[tokio::test]
async fn the_same_target_is_asked_again_when_nobody_else_is_left() {
    let failing = || Script::json(500, "{}");
    let (rig, a, b) = two(failing(), failing(), QUICKLY, "").await;
    rig.chat("m").await;
    assert_eq!((a.calls(), b.calls()), (1, 3));
    // The other is there, but takes no calls: open, full, or without a key.
    rig.upstream("b").breaker.force_open(None, "away");
    rig.chat("m").await;
    assert_eq!((a.calls(), b.calls()), (4, 3));
    rig.upstream("b").breaker.close("back");
    b.set(Script::json(401, "{}"));
    rig.chat("m").await;
    rig.chat("m").await;
    assert_eq!((a.calls(), b.calls()), (8, 4));
    // Each outcome is one, whatever the number of attempts.
    assert_eq!(rig.window("a"), "ffff");
}

#[tokio::test]
async fn a_provider_can_be_asked_again_before_the_next_one() {
    let more = "retry = { attempts = 3, base = \"1ms\", max = \"10ms\", when = \"always\" }\n";
    let (rig, a, b) = two(Script::json(500, "{}"), Script::well(), more, "").await;
    rig.chat("m").await;
    assert_eq!(
        (a.calls(), b.calls(), rig.window("a").as_str()),
        (3, 1, "f")
    );
}

#[tokio::test]
async fn a_forced_opening_holds_between_attempts() {
    let more = "retry = { attempts = 10, base = \"100ms\", max = \"100ms\" }\n";
    let a = Raw::start(Script::json(500, "{}")).await;
    let rig =
        Rig::start(&(provider("a", &a.url(), more) + &route("m", &["a"], "max_calls = 10"))).await;
    let forcing = async {
        until("the first attempt", || a.calls() == 1).await;
        rig.upstream("a").breaker.force_open(None, "maintenance");
        a.calls()
    };
    let (answer, calls) = tokio::join!(rig.chat("m"), forcing);
    assert_eq!(a.calls(), calls, "{answer:?}");
    assert_eq!(rig.snapshot("a").state, State::ForcedOpen);
}

#[tokio::test]
async fn the_upstream_calls_of_a_request_are_bounded() {
    let failing = || Script::json(500, "{}");
    let more = "retry = { attempts = 10, base = \"1ms\", max = \"1ms\", when = \"always\" }\n";
    let (rig, a, b) = two(failing(), failing(), more, "max_calls = 4").await;
    // As the official client does: again, up to twice, unless it is told not to.
    let mut asked = 0;
    for _ in 0..3 {
        asked += 1;
        if rig.chat("m").await.header("x-should-retry") == Some("false") {
            break;
        }
    }
    assert_eq!((asked, a.calls() + b.calls()), (1, 4));
    let (rig, a, b) = two(failing(), failing(), QUICKLY, "").await;
    rig.chat("m").await;
    assert!(a.calls() + b.calls() <= 6, "by default");
}

#[tokio::test]
async fn an_answer_says_when_another_try_is_useless() {
    for (script, retry) in [
        (Script::json(400, "{}"), Some("false")),
        (Script::json(409, "{}"), Some("false")),
        (Script::json(500, "{}"), Some("false")),
        (Script::json(401, "{}"), Some("false")),
        (Script::json(200, "{}"), Some("false")),
        (Script::busy(429, 600), Some("false")),
        (Script::busy(429, 7), None),
        (Script::busy(503, 7), None),
        (Script::well(), None),
    ] {
        let a = Raw::start(script.clone()).await;
        let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
        assert_eq!(
            rig.chat("m").await.header("x-should-retry"),
            retry,
            "{script:?}"
        );
    }
}

#[tokio::test]
async fn a_provider_that_says_another_try_is_useless_is_not_tried_again() {
    let script = Script::whole(
        500,
        "content-type: application/json\r\nx-should-retry: false\r\n",
        "{}",
    );
    let a = Raw::start(script).await;
    let rig = Rig::start(&(provider("a", &a.url(), QUICKLY) + &route("m", &["a"], ""))).await;
    rig.chat("m").await;
    assert_eq!(a.calls(), 1);
}

#[tokio::test]
async fn the_client_is_told_the_soonest_time_that_anyone_named() {
    let wait = |answer: &crate::rig::Answer| answer.header("retry-after").map(str::to_owned);
    let (rig, _a, _b) = two(Script::busy(429, 60), Script::busy(429, 8), "", "").await;
    let answer = rig.chat("m").await;
    assert_eq!(
        (answer.status, wait(&answer).as_deref()),
        (StatusCode::TOO_MANY_REQUESTS, Some("8"))
    );
    let (rig, _a, _b) = two(Script::busy(503, 30), Script::busy(503, 30), "", "").await;
    assert_eq!(wait(&rig.chat("m").await).as_deref(), Some("30"));
    // What a plain failure does not say, another says for it.
    let (rig, _a, _b) = two(Script::json(500, "{}"), Script::busy(429, 9), "", "").await;
    assert_eq!(wait(&rig.chat("m").await).as_deref(), Some("9"));
    // One is open and the other is busy.
    let touchy = "breaker = { consecutive_failures = 1, open_wait = \"20s\" }";
    let (rig, _a, _b) = two(Script::json(500, "{}"), Script::busy(429, 50), touchy, "").await;
    let first: u64 = wait(&rig.chat("m").await).unwrap().parse().unwrap();
    let second: u64 = wait(&rig.chat("m").await).unwrap().parse().unwrap();
    assert!(
        (15..=20).contains(&first) && (15..=20).contains(&second),
        "{first} {second}"
    );
}

#[tokio::test]
async fn a_ring_is_refused() {
    // A gateway whose provider is itself: it must know its address before it starts.
    let probe = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = probe.local_addr().unwrap();
    drop(probe);
    let config =
        provider("me", &format!("http://{address}/v1"), QUICKLY) + &route("m", &["me"], "");
    let rig = Rig::start_at(&config, address).await;
    let answer = rig.chat("m").await;
    assert!(answer.text().contains("loop"), "{}", answer.text());
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    assert_eq!(
        rig.upstream("me").totals().calls,
        1,
        "one request is one call"
    );
    // What refuses it is a header that names the gateways passed.
    let a = Raw::start(Script::well()).await;
    let rig = Rig::start(&(provider("a", &a.url(), "") + &route("m", &["a"], ""))).await;
    let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let before = HeaderValue::from_static("another");
    request.headers_mut().insert("x-cutout-hops", before);
    rig.send(request).await;
    assert!(
        a.heads()[0].contains("x-cutout-hops: another, "),
        "{:?}",
        a.heads()
    );
    // Two in a ring.
    let probe = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = probe.local_addr().unwrap();
    drop(probe);
    let config =
        provider("first", &format!("http://{address}/v1"), QUICKLY) + &route("m", &["first"], "");
    let second = Rig::start(&config).await;
    let config = provider("second", &format!("http://{}/v1", second.address), QUICKLY)
        + &route("m", &["second"], "");
    let first = Rig::start_at(&config, address).await;
    let answer = first.chat("m").await;
    assert_ne!(answer.status, StatusCode::OK);
    assert_eq!(
        (
            first.upstream("second").totals().calls,
            second.upstream("first").totals().calls
        ),
        (1, 1)
    );
}

#[tokio::test]
async fn a_conversation_in_use_is_not_forgotten() {
    let sticky = "sticky_header = \"x-conversation\"";
    let (rig, a, b) = two(Script::json(500, "{}"), Script::well(), "", sticky).await;
    let ask = async || {
        let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
        let value = HeaderValue::from_static("one");
        request.headers_mut().insert("x-conversation", value);
        rig.send(request)
            .await
            .header("x-cutout-provider")
            .unwrap()
            .to_owned()
    };
    assert_eq!(ask().await, "b");
    a.set(Script::well());
    for round in 0..40_u64 {
        let fleet = rig.gateway.fleet.load();
        let others = &fleet.routes["m"].conversations;
        for other in 0..1000 {
            others.remember(round * 1000 + other, "a/m".to_owned());
        }
        assert_eq!(ask().await, "b", "after {round} thousand others");
    }
    assert_eq!((a.calls(), b.calls()), (1, 41));
}
