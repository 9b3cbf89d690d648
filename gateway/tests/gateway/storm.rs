//! Everything at once: providers of all moods, clients that leave, operators and editors. In the end nothing is held and
//! all is well.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use cutout_gateway::client::Client;
use cutout_gateway::demo::fake::{Fake, Mood};
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::passing::tempfile;
use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

/// Numbers that look random and are the same each time (SplitMix64).
struct Numbers(AtomicU64);

impl Numbers {
    fn below(&self, bound: usize) -> usize {
        let mut bits = self.0.fetch_add(0x9e37_79b9_7f4a_7c15, Relaxed);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) % bound as u64) as usize
    }
}

fn moods() -> [Mood; 18] {
    [
        Mood::Well,
        Mood::Well,
        Mood::Well,
        Mood::Refusing(500, None),
        Mood::Refusing(429, Some(1)),
        Mood::Refusing(400, None),
        Mood::Refusing(404, None),
        Mood::Hanging,
        Mood::Stalling,
        Mood::Cutting,
        Mood::Unfinished,
        Mood::ErrorFirst,
        Mood::ErrorLast,
        Mood::BrokenEvents,
        Mood::BadText,
        Mood::Html,
        Mood::Endless,
        Mood::Dripping(Duration::from_millis(1)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_happens_every_request_ends_and_nothing_is_held() {
    let fakes: Arc<[Fake; 3]> = Arc::new([
        fake(Mood::Well).await,
        fake(Mood::Well).await,
        fake(Mood::Well).await,
    ]);
    let more = "max_in_flight = 20\n\
                limits = { first_byte = \"50ms\", whole = \"50ms\", idle = \"50ms\", total = \"300ms\", max_answer_bytes = 65536 }\n\
                retry = { attempts = 2, base = \"1ms\" }\n\
                breaker = { min_calls = 5, open_wait = \"20ms\", max_probes = 2, successes_to_close = 2 }";
    let names = ["a", "b", "c"];
    let providers = names.iter().zip(fakes.iter());
    let config: String = providers
        .map(|(name, fake)| provider(name, &fake.url(), more))
        .collect();
    let file = tempfile(
        &(config
            + &route(
                "m",
                &["a", "b"],
                "canary = { provider = \"c\", share = 0.1 }\nramp = \"50ms\"",
            )),
    );
    let rig = Arc::new(Rig::start_file(file.path()).await);
    let numbers = Arc::new(Numbers(AtomicU64::new(7)));

    let mut clients = Vec::new();
    for _ in 0..16 {
        let (rig, numbers) = (Arc::clone(&rig), Arc::clone(&numbers));
        clients.push(tokio::spawn(async move {
            let client = Client::new(SOON);
            for _ in 0..60 {
                let body = chat("m", numbers.below(2) == 0);
                let request = rig.request(Method::POST, "/v1/chat/completions", body);
                let patience =
                    Duration::from_millis(if numbers.below(4) == 0 { 20 } else { 30_000 });
                let asked = async {
                    let response = client.send(request).await.expect("an answer");
                    response.into_body().collect().await.expect("its end")
                };
                match timeout(patience, asked).await {
                    Ok(_) => {}
                    Err(_) => assert!(patience < Duration::from_secs(1), "a request did not end"),
                }
            }
        }));
    }
    let troubles = {
        let (rig, numbers, fakes) = (Arc::clone(&rig), Arc::clone(&numbers), Arc::clone(&fakes));
        let text = std::fs::read_to_string(file.path()).unwrap();
        let path = file.path().to_owned();
        tokio::spawn(async move {
            for round in 0_u32.. {
                fakes[numbers.below(3)].set(moods()[numbers.below(18)].clone());
                let breaker = Arc::clone(&rig.upstream(names[numbers.below(3)]).breaker);
                match numbers.below(20) {
                    0 => breaker.force_open(Some(Duration::from_millis(20)), "storm"),
                    1 => breaker.close("storm"),
                    2 => breaker.observe_only("storm"),
                    3 => breaker.disable("storm"),
                    4 => {
                        std::fs::write(&path, format!("{text}# {round}\n")).unwrap();
                        let gateway = Arc::clone(&rig.gateway);
                        let _ = tokio::task::spawn_blocking(move || gateway.reload(false)).await;
                    }
                    _ => {}
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
    };
    for client in clients {
        client.await.expect("every request ends");
    }
    troubles.abort();
    // It was a storm.
    let totals = names.map(|name| rig.upstream(name).totals());
    let all =
        |part: fn(&cutout_gateway::store::Totals) -> u64| totals.iter().map(part).sum::<u64>();
    // How much of each there was is up to the machine.
    for (what, count) in [
        ("failures", all(|totals| totals.failures)),
        ("timeouts", all(|totals| totals.timeouts)),
        ("calls that were left", all(|totals| totals.ignored)),
        ("rejections", all(|totals| totals.rejected)),
    ] {
        assert!(count > 0, "no {what}: {totals:?}");
    }
    for fake in fakes.iter() {
        fake.set(Mood::Well);
    }
    for (name, fake) in names.iter().zip(fakes.iter()) {
        let held = || {
            let fleet = rig.gateway.fleet.load();
            let slots = fleet.providers[*name].slots.available_permits();
            (
                rig.upstream(name).in_flight(),
                rig.snapshot(name).probes_out,
                slots,
                fake.open(),
            )
        };
        until(name, || held() == (0, 0, 20, 0)).await;
        rig.upstream(name).breaker.close("after the storm");
    }
    for _ in 0..10 {
        assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    }
}
