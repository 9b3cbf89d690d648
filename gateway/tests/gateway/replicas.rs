//! Several gateways that share what they find: on the in-process bus, and on a real server.

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use cutout::{Cause, State};
use cutout_fleet::{Fleet, InProcess, Settings};
use cutout_gateway::config::File;
use cutout_gateway::demo::fake::{Fake, Mood};
use cutout_gateway::gateway::Gateway;
use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

const BREAKER: &str = "breaker = { consecutive_failures = 3, open_wait = \"400ms\" }\n";

fn settings() -> Settings {
    Settings::default().with(|settings| {
        settings.heartbeat = Duration::from_millis(100);
        settings.lease = Duration::from_secs(1);
        settings.patience = Duration::from_millis(300);
    })
}

fn config(a: &Fake, more: &str) -> String {
    provider("a", &a.url(), &format!("{BREAKER}{more}")) + &route("m", &["a"], "")
}

/// A gateway among those of this bus.
async fn replica(bus: &InProcess, member: &str, config: &str) -> Rig {
    let fleet = Fleet::builder().member(member).settings(settings());
    Rig::start_among(config, fleet.start(bus.clone()).unwrap()).await
}

async fn three(bus: &InProcess, config: &str) -> [Rig; 3] {
    let rigs = [
        replica(bus, "r1", config).await,
        replica(bus, "r2", config).await,
        replica(bus, "r3", config).await,
    ];
    know_each_other(&rigs).await;
    rigs
}

async fn health(rig: &Rig) -> Value {
    rig.get("/readyz?verbose").await.json()
}

/// Waits until what the machines are told is so.
async fn told(rig: &Rig, what: &str, holds: impl Fn(&Value) -> bool) -> Value {
    let start = Instant::now();
    loop {
        let health = health(rig).await;
        if holds(&health) {
            return health;
        }
        assert!(
            start.elapsed() < SOON,
            "it is never told that {what}: {health}"
        );
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn know_each_other(rigs: &[Rig]) {
    for rig in rigs {
        told(rig, "all know each other", |health| {
            let members = health["fleet"]["members"].as_array();
            members.is_some_and(|members| members.len() == rigs.len() - 1)
        })
        .await;
    }
}

async fn trip(rig: &Rig) {
    for _ in 0..3 {
        rig.chat("m").await;
    }
}

async fn operate(rig: &Rig, action: &str, body: Value) {
    let answer = rig
        .post(&format!("/admin/breakers/a/{action}"), body.to_string())
        .await;
    assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
}

#[tokio::test]
async fn what_two_replicas_have_found_opens_the_third_and_one_that_recovers_closes_all() {
    let a = fake(Mood::Refusing(503, None)).await;
    let rigs = three(&InProcess::new(), &config(&a, "")).await;
    trip(&rigs[0]).await;
    trip(&rigs[1]).await;
    until("the third has taken it over", || {
        rigs[2].snapshot("a").state == State::Open
    })
    .await;
    assert_eq!(rigs[2].snapshot("a").cause, Some(Cause::Peers));
    let health = told(&rigs[2], "who tripped", |health| {
        let members = health["fleet"]["members"].as_array();
        members.is_some_and(|all| all.iter().all(|it| it["breakers"][0]["tripped"] == true))
    })
    .await;
    assert_eq!(health["fleet"]["takeovers"], 1, "{health}");
    assert_eq!(health["fleet"]["connected"], true);
    assert_eq!(health["ready"], true);
    assert_eq!(health["routes"][0]["targets"][0]["target"], "a/m");
    let metrics = rigs[2].get("/metrics").await;
    for part in [
        "cutout_fleet_members ",
        "cutout_fleet_takeovers_total ",
        "cutout_fleet_statements_total{what=\"sent\"}",
        "cutout_fleet_dropped_total ",
        "cutout_fleet_last_heard_seconds ",
    ] {
        assert!(metrics.text().contains(part), "no {part}");
    }
    let state = rigs[2].get("/admin/state").await.json();
    assert_eq!(state["fleet"]["member"], "r3");
    a.set(Mood::Well);
    let start = Instant::now();
    while rigs
        .iter()
        .any(|rig| rig.snapshot("a").state != State::Closed)
    {
        assert!(start.elapsed() < SOON);
        for rig in &rigs {
            rig.chat("m").await;
        }
    }
}

#[tokio::test]
async fn a_breaker_that_is_forced_open_is_so_everywhere_and_for_those_who_join_until_it_is_ended() {
    let a = fake(Mood::Well).await;
    let (bus, config) = (InProcess::new(), config(&a, ""));
    let rigs = three(&bus, &config).await;
    let body = json!({"reason": "index is rebuilt", "author": "ada"});
    operate(&rigs[0], "force_open", body).await;
    let late = replica(&bus, "late", &config).await;
    for rig in rigs.iter().chain([&late]) {
        until("it is forced open", || {
            rig.snapshot("a").state == State::ForcedOpen
        })
        .await;
        let order = rig.snapshot("a").evidence.operator.unwrap();
        assert_eq!(&*order.reason, "index is rebuilt (ada)");
        assert_eq!(rig.chat("m").await.status, StatusCode::SERVICE_UNAVAILABLE);
    }
    let shown = told(&late, "it is ordered", |health| {
        health["fleet"]["orders"][0].is_object()
    })
    .await;
    let order = &shown["fleet"]["orders"][0];
    assert_eq!(
        (&order["breaker"], &order["order"]),
        (&json!("a"), &json!("force open"))
    );
    assert_eq!(
        (&order["author"], &order["member"]),
        (&json!("ada"), &json!("r1"))
    );
    operate(&late, "resume", json!({"reason": "done"})).await;
    for rig in rigs.iter().chain([&late]) {
        until("it is closed", || rig.snapshot("a").state == State::Closed).await;
    }
    let again = late
        .post("/admin/breakers/a/resume", r#"{"reason":"again"}"#)
        .await;
    assert_eq!(again.error(), "not_set");
}

#[tokio::test]
async fn a_close_closes_all() {
    let a = fake(Mood::Refusing(503, None)).await;
    let slow = config(&a, "").replace("400ms", "10m");
    let rigs = three(&InProcess::new(), &slow).await;
    for rig in &rigs {
        trip(rig).await;
    }
    operate(&rigs[1], "close", json!({"reason": "repaired"})).await;
    for rig in &rigs {
        until("it is closed", || rig.snapshot("a").state == State::Closed).await;
    }
}

#[tokio::test]
async fn a_key_that_one_finds_dead_leaves_the_target_out_everywhere_until_a_check_succeeds() {
    for (status, cause) in [(401, "key refused"), (402, "credit spent")] {
        let a = fake(Mood::Refusing(status, None)).await;
        let (bus, config) = (InProcess::new(), config(&a, ""));
        let rigs = three(&bus, &config).await;
        rigs[0].chat("m").await;
        let late = replica(&bus, "late", &config).await;
        let is_out = |rig: &Rig| rig.gateway.fleet.load().providers["a"].suspended("m");
        for rig in rigs.iter().chain([&late]) {
            until("it is left out", || is_out(rig).is_some()).await;
            let found = is_out(rig).unwrap();
            assert_eq!(
                (found.cause.to_string().as_str(), found.status),
                (cause, status)
            );
            // That is no illness of the provider.
            assert_eq!(rig.snapshot("a").state, State::Closed);
        }
        assert_eq!(a.calls(), 1);
        // Another key is another matter.
        let other = config.replace("retry =", "headers = { x-other = \"1\" }\nretry =");
        let other = other.replace("/v1", "/v1/");
        let other = replica(&bus, "other", &other).await;
        told(&other, "the others are there", |health| {
            health["fleet"]["members"]
                .as_array()
                .is_some_and(|all| all.len() == 4)
        })
        .await;
        assert!(is_out(&other).is_none());

        a.set(Mood::Well);
        let probe = late.post("/admin/breakers/a/probe", "{}").await.json();
        assert_eq!(probe["ok"], true, "{probe}");
        for rig in rigs.iter().chain([&late]) {
            until("it is back", || is_out(rig).is_none()).await;
        }
    }
}

#[tokio::test]
async fn machines_are_told_how_all_is_and_others_only_whether_it_is_ready() {
    let a = fake(Mood::Well).await;
    let rig = Rig::start(&config(&a, "")).await;
    assert_eq!(rig.get("/readyz").await.text(), "ready\n");
    let health = health(&rig).await;
    assert_eq!(
        (&health["fleet"], &health["breakers"]["closed"]),
        (&json!(null), &json!(1))
    );
    let far = Rig::start_seeing(&config(&a, ""), "192.0.2.1:9".parse().unwrap()).await;
    assert_eq!(far.get("/readyz").await.text(), "ready\n");
    assert_eq!(
        far.get("/readyz?verbose").await.status,
        StatusCode::FORBIDDEN
    );
}

#[test]
fn a_wrong_fleet_is_found_by_the_check() {
    let check = |fleet: &str| {
        let config = format!(
            "[[provider]]\nname = \"a\"\nbase_url = \"http://127.0.0.1:1\"\n{}[fleet]\n{fleet}\n",
            route("m", &["a"], "")
        );
        File::parse(config).and_then(Gateway::check)
    };
    for (fleet, field) in [
        ("url = \"http://host\"", "fleet.url"),
        ("url = \"redis://\"", "fleet.url"),
        ("url = \"redis://host:99999\"", "fleet.url"),
        ("url = \"redis://user:hunter2@host\"", "fleet.url"),
        ("url = \"redis://host/nonsense\"", "fleet.url"),
        ("url = \"redis://host\"\nname = \"\"", "fleet.name"),
        ("url = \"redis://host\"\nuser = \"me\"", "fleet.user"),
        (
            "url = \"redis://host\"\npassword = { env = \"CUTOUT_NO_SUCH\" }",
            "fleet.password",
        ),
    ] {
        let problem = check(fleet).unwrap_err();
        assert_eq!(problem.field, field, "{fleet}: {problem}");
        assert!(problem.line.is_some(), "{problem}");
        assert!(!problem.message.contains("hunter2"), "{problem}");
    }
    let password = "password = { file = \"Cargo.toml\" }";
    assert!(
        check(&format!("url = \"redis://host\"\n{password}")).is_err(),
        "no key"
    );
    for well in [
        "redis://host:6379/3",
        "rediss://host",
        "unix:///run/redis.sock",
    ] {
        check(&format!(
            "url = {well:?}\nuser = \"me\"\npassword = {{ env = \"PATH\" }}"
        ))
        .unwrap();
        check(&format!("url = {well:?}")).unwrap();
    }
}

/// A server, gone at the end.
struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// None if none is installed, which is said.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .unwrap()
            .local_addr()
            .unwrap()
            .port();
        let started = ["redis-server", "valkey-server"]
            .into_iter()
            .find_map(|program| {
                let mut command = Command::new(program);
                command.args([
                    "--save",
                    "",
                    "--appendonly",
                    "no",
                    "--bind",
                    "127.0.0.1",
                    "--port",
                ]);
                command.arg(port.to_string()).stdout(Stdio::null());
                command.spawn().ok()
            });
        if started.is_none() {
            println!("skipped: neither redis-server nor valkey-server is installed");
        }
        started.map(|process| Self { process, port })
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

fn on(port: u16, member: &str, config: &str) -> String {
    format!("[fleet]\nurl = \"redis://127.0.0.1:{port}\"\nmember = {member:?}\n{config}")
}

#[tokio::test]
async fn requests_go_on_when_the_server_is_killed_and_the_start_does_not_wait_for_it() {
    let Some(mut server) = Server::start() else {
        return;
    };
    let a = fake(Mood::Well).await;
    let config = config(&a, "");
    let rigs = [
        Rig::start(&on(server.port, "r1", &config)).await,
        Rig::start(&on(server.port, "r2", &config)).await,
    ];
    know_each_other(&rigs).await;
    operate(&rigs[0], "force_open", json!({"reason": "drill"})).await;
    until("the other follows", || {
        rigs[1].snapshot("a").state == State::ForcedOpen
    })
    .await;
    let late = Rig::start(&on(server.port, "late", &config)).await;
    until("who is late follows", || {
        late.snapshot("a").state == State::ForcedOpen
    })
    .await;
    operate(&rigs[1], "resume", json!({"reason": "done"})).await;
    until("it is ended", || {
        rigs[0].snapshot("a").state == State::Closed
    })
    .await;

    server.kill();
    told(&rigs[0], "the server is gone", |health| {
        health["fleet"]["connected"] == false
    })
    .await;
    assert_eq!(rigs[0].chat("m").await.status, StatusCode::OK);
    assert_eq!(rigs[0].stream("m").await.status, StatusCode::OK);
    let ready = rigs[0].get("/readyz").await;
    assert_eq!(ready.status, StatusCode::OK);
    // What an operator says holds here at least.
    operate(&rigs[0], "force_open", json!({"reason": "alone"})).await;
    until("it is open", || {
        rigs[0].snapshot("a").state == State::ForcedOpen
    })
    .await;
    a.set(Mood::Refusing(503, None));
    trip(&rigs[1]).await;
    assert_eq!(rigs[1].snapshot("a").state, State::Open);

    a.set(Mood::Well);
    let alone = Rig::start(&on(server.port, "alone", &config)).await;
    let request = alone.request(Method::POST, "/v1/chat/completions", chat("m", false));
    assert_eq!(alone.send(request).await.status, StatusCode::OK);
    let trouble = told(&alone, "why", |health| {
        health["fleet"]["trouble"].is_string()
    })
    .await;
    assert_eq!(trouble["fleet"]["connected"], false);
}
