//! What is kept of each request: a line of the log, and the numbers.

use std::path::{Path, PathBuf};
use std::time::Duration;

use cutout_gateway::demo::fake::Mood;
use http::Method;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::rig::{Rig, SOON, chat, fake, provider, route, until};

/// A folder of this test's own, gone when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("cutout-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn log(path: &Path) -> String {
    format!("[log]\nrequests = {{ file = {path:?} }}\n")
}

/// The lines of a log, once there are so many.
async fn lines(path: &Path, count: usize) -> Vec<Value> {
    let read = || {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect::<Vec<_>>()
    };
    until("so many lines", || read().len() >= count).await;
    read()
        .iter()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

#[tokio::test]
async fn a_line_says_which_way_a_request_went_and_what_came_of_it() {
    let folder = Folder::new("line");
    let path = folder.file("requests.log");
    let (a, b) = (
        fake(Mood::Refusing(503, None)).await,
        fake(Mood::Well).await,
    );
    let key = folder.file("team-7");
    std::fs::write(&key, "the-clients-secret").unwrap();
    let config = format!("[server]\nclient_keys = [{{ file = {key:?} }}]\n")
        + &provider("a", &a.url(), "")
        + &provider("b", &b.url(), "")
        + &route("m", &["a", "b"], "")
        + &log(&path);
    let rig = Rig::start(&config).await;
    let mut request = rig.request(Method::POST, "/v1/chat/completions", chat("m", false));
    let headers = request.headers_mut();
    headers.insert("x-request-id", "my-request.7".parse().unwrap());
    headers.insert(
        "authorization",
        "Bearer the-clients-secret".parse().unwrap(),
    );
    let answer = rig.send(request).await;
    assert_eq!(answer.header("x-cutout-request-id"), Some("my-request.7"));
    let line = lines(&path, 1).await.remove(0);
    let expected = json!({
        "id": "my-request.7", "key": key, "endpoint": "chat", "route": "m", "model": "m", "stream": false,
        "target": "b/m", "status": 200, "end": "complete", "error": null,
    });
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&line[field], value, "{field} of {line}");
    }
    let ts = line["ts"].as_str().unwrap();
    assert!(
        ts.len() == "2026-12-01T04:05:06.789Z".len() && ts.ends_with('Z'),
        "{ts}"
    );
    let attempts = line["attempts"].as_array().unwrap();
    let short = |attempt: &Value| {
        (
            attempt["target"].as_str().unwrap().to_owned(),
            attempt["status"].as_u64(),
            attempt["outcome"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(
        attempts.iter().map(short).collect::<Vec<_>>(),
        [
            ("a/m".to_owned(), Some(503), "failure".to_owned()),
            ("b/m".to_owned(), Some(200), "success".to_owned()),
        ]
    );
    let millis = |value: &Value| value.as_f64().unwrap();
    let spent: f64 = attempts
        .iter()
        .map(|attempt| millis(&attempt["duration_ms"]))
        .sum();
    assert!(millis(&line["first_byte_ms"]) <= millis(&line["duration_ms"]));
    assert!(spent <= millis(&line["duration_ms"]) + 0.01, "{line}");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(!text.contains("secret") && !text.contains("Hi"), "{text}");
}

#[tokio::test]
async fn tokens_are_told_of_answers_and_of_streams_that_count_them() {
    let folder = Folder::new("tokens");
    let path = folder.file("requests.log");
    let a = fake(Mood::Well).await;
    let config = provider("a", &a.url(), "") + &route("m", &["a"], "") + &log(&path);
    let rig = Rig::start(&config).await;
    rig.chat("m").await;
    let mut ask: Value = serde_json::from_str(&chat("m", true)).unwrap();
    ask["stream_options"] = json!({"include_usage": true});
    rig.post("/v1/chat/completions", ask.to_string()).await;
    rig.stream("m").await;
    let lines = lines(&path, 3).await;
    for line in &lines[..2] {
        assert!(line["tokens_in"].as_u64().unwrap() > 0, "{line}");
        assert!(line["tokens_out"].as_u64().unwrap() > 0, "{line}");
    }
    assert_eq!(lines[1]["stream"], true);
    assert_eq!(
        (&lines[2]["tokens_in"], &lines[2]["tokens_out"]),
        (&Value::Null, &Value::Null)
    );
}

#[tokio::test]
async fn how_an_answer_ends_is_told_apart() {
    let folder = Folder::new("ends");
    let path = folder.file("requests.log");
    let a = fake(Mood::Cutting).await;
    let config = provider("a", &a.url(), "") + &route("ends", &["a"], "") + &log(&path);
    let rig = Rig::start(&config).await;
    rig.stream("ends").await;
    a.set(Mood::Dripping(Duration::from_millis(5)));
    let request = rig.request(Method::POST, "/v1/chat/completions", chat("ends", true));
    let mut body = rig.open(request).await.into_body();
    timeout(SOON, body.frame()).await.unwrap();
    drop(body);
    until("the stream is let go", || a.open() == 0).await;
    a.set(Mood::Hanging);
    let mut request = Box::pin(rig.chat("ends"));
    let _ = timeout(Duration::from_millis(200), &mut request).await;
    drop(request);
    rig.chat("nothing of that name").await;
    let lines = lines(&path, 4).await;
    let short = |line: &Value| {
        (
            line["end"].as_str().unwrap().to_owned(),
            line["status"].as_u64(),
            line["attempts"]
                .as_array()
                .unwrap()
                .last()
                .map(|attempt| attempt["outcome"].as_str().unwrap().to_owned()),
        )
    };
    let some = |text: &str| Some(text.to_owned());
    assert_eq!(
        lines.iter().map(short).collect::<Vec<_>>(),
        [
            ("broken".to_owned(), Some(200), some("failure")),
            ("client_gone".to_owned(), Some(200), some("abandoned")),
            ("client_gone".to_owned(), None, some("abandoned")),
            ("complete".to_owned(), Some(404), None),
        ]
    );
    assert_eq!(lines[3]["error"], "model_not_found");
    assert_eq!(
        (&lines[3]["route"], &lines[3]["model"]),
        (&Value::Null, &"nothing of that name".into())
    );
    let metrics = rig.get("/metrics").await;
    let count = |labels: &str| {
        let name = format!("gateway_requests_total{{endpoint=\"chat\",{labels}}} ");
        let line = metrics
            .text()
            .lines()
            .find_map(|line| line.strip_prefix(&name));
        line.map(|count| count.parse::<u64>().unwrap())
    };
    let of = |status: &str| format!("model=\"ends\",target=\"a/ends\",status=\"{status}\"");
    assert_eq!(count(&of("broken")), Some(1), "{}", metrics.text());
    assert_eq!(count(&of("client_gone")), Some(1));
    assert_eq!(count(&of("200")), None, "half an answer is no answer");
    assert!(
        !metrics.text().contains("nothing of that name"),
        "clients do not choose labels"
    );
    assert!(metrics.text().contains(
        "gateway_first_byte_seconds_bucket{endpoint=\"chat\",model=\"ends\",target=\"a/ends\""
    ));
}

#[tokio::test]
async fn a_log_that_is_moved_away_is_begun_anew() {
    let folder = Folder::new("moved");
    let (path, old) = (folder.file("requests.log"), folder.file("requests.log.1"));
    let a = fake(Mood::Well).await;
    let config = provider("a", &a.url(), "") + &route("m", &["a"], "") + &log(&path);
    let rig = Rig::start(&config).await;
    rig.chat("m").await;
    lines(&path, 1).await;
    std::fs::rename(&path, &old).unwrap();
    // Until it is noticed lines go on to the old file, and none is lost.
    let mut sent = 1;
    let noticed = async {
        while !path.exists() {
            rig.chat("m").await;
            sent += 1;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    timeout(SOON, noticed).await.expect("it is noticed");
    let both = || {
        let count = |path: &Path| {
            std::fs::read_to_string(path)
                .unwrap_or_default()
                .lines()
                .count()
        };
        count(&path) + count(&old)
    };
    until("all lines are there", || both() == sent).await;
    lines(&path, 1).await;
    rig.stop().await;
}

#[tokio::test]
async fn a_log_that_cannot_be_written_is_refused_at_the_start_and_later_only_counted() {
    let folder = Folder::new("unwritable");
    let path = folder.file("missing/requests.log");
    let a = fake(Mood::Well).await;
    let config = provider("a", &a.url(), "") + &route("m", &["a"], "") + &log(&path);
    let file = cutout_gateway::config::File::parse(config.clone()).unwrap();
    let problem = cutout_gateway::gateway::Gateway::new(file, None).unwrap_err();
    assert_eq!(problem.field, "log.requests");
    std::fs::create_dir(folder.file("missing")).unwrap();
    let rig = Rig::start(&config).await;
    std::fs::remove_dir_all(folder.file("missing")).unwrap();
    assert_eq!(
        rig.chat("m").await.status,
        200,
        "no request waits or fails for it"
    );
}

/// A disk that is full.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn lines_that_cannot_be_written_are_counted_and_requests_go_on() {
    let a = fake(Mood::Well).await;
    let config =
        provider("a", &a.url(), "") + &route("m", &["a"], "") + &log(Path::new("/dev/full"));
    let rig = Rig::start(&config).await;
    let lost = async || {
        let metrics = rig.get("/metrics").await;
        let name = "gateway_log_lines_lost_total{why=\"not_written\"} ";
        let line = metrics
            .text()
            .lines()
            .find_map(|line| line.strip_prefix(name));
        line.map_or(0, |count| count.parse::<u64>().unwrap())
    };
    let counted = async {
        for _ in 0..3 {
            assert_eq!(rig.chat("m").await.status, 200);
        }
        while lost().await < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(SOON, counted).await.expect("they are counted");
}
