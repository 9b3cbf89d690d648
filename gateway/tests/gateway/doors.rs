//! Who may use which door: every path, whoever asks, from wherever.

use cutout_gateway::demo::fake::{Fake, Mood};
use http::{HeaderName, HeaderValue, Method, Request};
use http_body_util::Full;

use crate::passing::{TempFile, tempfile};
use crate::rig::{Rig, chat, fake, provider, route};

/// Where a request seems to come from.
const FROM: [&str; 5] = [
    "here",
    "elsewhere",
    "a proxy",
    "another name",
    "another origin",
];

/// What a request shows: nothing, a wrong token, the admin token, a client key.
const SHOWN: [&str; 4] = ["", "wrong", "the admin token", "a client key"];

/// The paths of each door, with the method that they have.
const DOORS: [(&str, &[(&str, &str)]); 5] = [
    ("health", &[("GET", "/healthz"), ("GET", "/readyz")]),
    (
        "models",
        &[
            ("GET", "/v1/models"),
            ("GET", "/v1/models/m"),
            ("POST", "/v1/chat/completions"),
            ("POST", "/v1/embeddings"),
        ],
    ),
    ("metrics", &[("GET", "/metrics")]),
    (
        "page",
        &[
            ("GET", "/"),
            ("GET", "/assets/main.js"),
            ("GET", "/assets/none"),
        ],
    ),
    (
        "admin",
        &[
            ("GET", "/admin/state"),
            ("GET", "/admin/events"),
            ("GET", "/admin/config"),
            ("GET", "/admin/transitions"),
            ("GET", "/admin/probes"),
            ("POST", "/admin/breakers/a/close"),
            ("POST", "/admin/breakers/a/probe"),
            ("POST", "/admin/routes/m/move"),
            ("PATCH", "/admin/config"),
            ("DELETE", "/admin/config"),
        ],
    ),
];

/// A configuration, and what each door says: a column for each of [`FROM`], in it a sign for each of [`SHOWN`]. `.` lets in,
/// `k` asks for a key or token (401), `x` refuses whatever is shown (403).
struct Case {
    keys: &'static str,
    says: [(&'static str, [&'static str; 5]); 5],
}

const NOTHING_SET: Case = Case {
    keys: "",
    says: [
        ("health", ["....", "....", "....", "....", "...."]),
        ("models", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("metrics", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("page", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("admin", ["kk.k", "xxxx", "xxxx", "xxxx", "xxxx"]),
    ],
};

const BOTH_SET: Case = Case {
    keys: "admin_token = { file = ADMIN }\nclient_keys = [{ file = CLIENT }]\n",
    says: [
        ("health", ["....", "....", "....", "....", "...."]),
        ("models", ["kkk.", "kkk.", "kkk.", "kkk.", "xxxx"]),
        ("metrics", ["kk..", "kk..", "kk..", "kk..", "xxxx"]),
        ("page", ["....", "....", "....", "xxxx", "xxxx"]),
        ("admin", ["kk.k", "kk.k", "kk.k", "kk.k", "xxxx"]),
    ],
};

const ADMIN_TOKEN_SET: Case = Case {
    keys: "admin_token = { file = ADMIN }\n",
    says: [
        ("health", ["....", "....", "....", "....", "...."]),
        ("models", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("metrics", ["....", "xx.x", "xx.x", "xx.x", "xxxx"]),
        ("page", ["....", "....", "....", "xxxx", "xxxx"]),
        ("admin", ["kk.k", "kk.k", "kk.k", "kk.k", "xxxx"]),
    ],
};

const CLIENT_KEYS_SET: Case = Case {
    keys: "client_keys = [{ file = CLIENT }]\n",
    says: [
        ("health", ["....", "....", "....", "....", "...."]),
        ("models", ["kkk.", "kkk.", "kkk.", "kkk.", "xxxx"]),
        ("metrics", ["kk..", "kkk.", "kkk.", "kkk.", "xxxx"]),
        ("page", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("admin", ["kk.k", "xxxx", "xxxx", "xxxx", "xxxx"]),
    ],
};

const OPEN_TO_ALL: Case = Case {
    keys: "allow_without_key = true\n",
    says: [
        ("health", ["....", "....", "....", "....", "...."]),
        ("models", ["....", "....", "....", "xxxx", "xxxx"]),
        ("metrics", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("page", ["....", "xxxx", "xxxx", "xxxx", "xxxx"]),
        ("admin", ["kk.k", "xxxx", "xxxx", "xxxx", "xxxx"]),
    ],
};

pub(crate) struct World {
    pub(crate) here: Rig,
    elsewhere: Rig,
    _keys: [TempFile; 2],
    _a: Fake,
}

impl World {
    pub(crate) async fn new(keys: &str) -> Self {
        let files = [tempfile("the-operators"), tempfile("a-clients")];
        let keys = keys
            .replace("ADMIN", &format!("{:?}", files[0].path()))
            .replace("CLIENT", &format!("{:?}", files[1].path()));
        let a = fake(Mood::Well).await;
        let config =
            format!("[server]\n{keys}") + &provider("a", &a.url(), "") + &route("m", &["a"], "");
        let elsewhere = "192.0.2.7:40000".parse().unwrap();
        Self {
            here: Rig::start(&config).await,
            elsewhere: Rig::start_seeing(&config, elsewhere).await,
            _keys: files,
            _a: a,
        }
    }

    /// The sign for what a door says.
    async fn says(&self, method: &str, path: &str, from: &str, shown: &str) -> (char, String) {
        let rig = if from == "elsewhere" {
            &self.elsewhere
        } else {
            &self.here
        };
        let mut request = ask(rig, method, path);
        let headers = request.headers_mut();
        let token = match shown {
            "the admin token" if rig.token().is_empty() => "the-operators".to_owned(),
            "the admin token" => rig.token(),
            "a client key" => "a-clients".to_owned(),
            shown => shown.to_owned(),
        };
        headers.remove("authorization");
        if !shown.is_empty() {
            let value = HeaderValue::try_from(format!("Bearer {token}")).unwrap();
            headers.insert("authorization", value);
        }
        let (name, value) = match from {
            "a proxy" => ("x-forwarded-for", "10.0.0.1"),
            "another name" => ("host", "evil.example"),
            "another origin" => ("origin", "https://evil.example"),
            _ => ("x-nothing", "1"),
        };
        headers.insert(name, HeaderValue::from_static(value));
        let answer = rig.open(request).await;
        let status = answer.status().as_u16();
        if path == "/admin/events" && status == 200 {
            return ('.', String::new());
        }
        let body = http_body_util::BodyExt::collect(answer.into_body()).await;
        let body = String::from_utf8_lossy(&body.unwrap().to_bytes()).into_owned();
        let sign = match status {
            401 => 'k',
            403 => 'x',
            _ => '.',
        };
        (sign, body)
    }
}

pub(crate) fn ask(rig: &Rig, method: &str, path: &str) -> Request<Full<bytes::Bytes>> {
    let body = match path {
        "/v1/chat/completions" => chat("m", false),
        "/v1/embeddings" => r#"{"model":"m","input":"x"}"#.to_owned(),
        _ if path.ends_with("close") => r#"{"reason":"a test"}"#.to_owned(),
        _ => "{}".to_owned(),
    };
    rig.request(Method::try_from(method).unwrap(), path, body)
}

#[tokio::test]
async fn every_door_lets_in_whom_it_should_and_nobody_else() {
    for case in [
        NOTHING_SET,
        BOTH_SET,
        ADMIN_TOKEN_SET,
        CLIENT_KEYS_SET,
        OPEN_TO_ALL,
    ] {
        let world = World::new(case.keys).await;
        for ((door, paths), (named, says)) in DOORS.iter().zip(&case.says) {
            assert_eq!(door, named);
            for (method, path) in *paths {
                for (from, expected) in FROM.iter().zip(says) {
                    let (mut got, mut bodies) = (String::new(), Vec::new());
                    for shown in SHOWN {
                        let (sign, body) = world.says(method, path, from, shown).await;
                        got.push(sign);
                        bodies.push(body);
                    }
                    let what = format!("{:?}: {method} {path} from {from}: {bodies:?}", case.keys);
                    assert_eq!(got, *expected, "{what}");
                }
            }
        }
    }
}

#[tokio::test]
async fn what_is_refused_says_what_to_set() {
    let world = World::new("").await;
    for (path, from, field) in [
        ("/v1/models", "elsewhere", "server.client_keys"),
        ("/v1/models", "a proxy", "server.client_keys"),
        ("/v1/models", "another name", "server.allowed_hosts"),
        ("/v1/models", "another origin", "server.allowed_origins"),
        ("/metrics", "elsewhere", "server.admin_token"),
        ("/", "a proxy", "server.admin_token"),
        ("/admin/state", "elsewhere", "server.admin_token"),
        ("/admin/state", "here", "printed when the gateway started"),
    ] {
        let (_, body) = world.says("GET", path, from, "wrong").await;
        assert!(body.contains(field), "{path} from {from}: {body}");
    }
}

#[tokio::test]
async fn any_sign_of_a_proxy_closes_what_is_for_this_machine() {
    let world = World::new("").await;
    let rig = &world.here;
    for name in [
        "x-real-ip",
        "via",
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "cf-connecting-ip",
        "cf-ray",
        "true-client-ip",
        "cdn-loop",
        "x-forwarded",
        "forwarded-for",
        "x-original-forwarded-for",
        "x-vercel-forwarded-for",
        "x-original-host",
        "x-client-ip",
        "x-azure-clientip",
        "x-appengine-user-ip",
        "x-proxyuser-ip",
    ] {
        for path in ["/admin/state", "/", "/metrics", "/v1/models"] {
            let mut request = ask(rig, "GET", path);
            let name = HeaderName::from_static(name);
            request
                .headers_mut()
                .insert(name.clone(), HeaderValue::from_static("1"));
            assert_eq!(
                rig.send(request).await.error(),
                "behind_proxy",
                "{name} {path}"
            );
        }
    }
    // What nginx sends for a plain `proxy_pass`: no header of its own, its own name for us, and an old HTTP.
    let plain = format!(
        "GET /v1/models HTTP/1.0\r\nHost: {}\r\nConnection: close\r\n\r\n",
        rig.address
    );
    let answer = rig.raw(plain.as_bytes()).await;
    assert!(answer.contains("behind_proxy"), "{answer}");
    let here = rig.address;
    for (head, code) in [
        (
            format!("/v1/models HTTP/1.1\r\nhost: {here}\r\nhost: evil.example"),
            "unknown_host",
        ),
        (
            format!("http://evil.example/v1/models HTTP/1.1\r\nhost: {here}"),
            "unknown_host",
        ),
        (
            format!("http://{here}/v1/models HTTP/1.1\r\nhost: evil.example"),
            "unknown_host",
        ),
        (
            format!(
                "/v1/models HTTP/1.1\r\nhost: {here}\r\norigin: http://{here}\r\norigin: http://evil.example"
            ),
            "other_origin",
        ),
    ] {
        let answer = rig
            .raw(format!("GET {head}\r\nconnection: close\r\n\r\n").as_bytes())
            .await;
        assert!(answer.contains(code), "{head}: {answer}");
    }
    let to_us = format!(
        "GET http://{here}/v1/models HTTP/1.1\r\nhost: {here}\r\nconnection: close\r\n\r\n"
    );
    let answer = rig.raw(to_us.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
}

#[tokio::test]
async fn only_names_that_are_known_reach_the_gateway() {
    let world = World::new("allowed_hosts = [\"gateway.example\"]\n").await;
    let rig = &world.here;
    for (host, is_known) in [
        ("localhost", true),
        ("LOCALHOST:8080", true),
        ("127.0.0.1:8080", true),
        ("127.0.0.2", true),
        ("[::1]:8080", true),
        ("gateway.example", true),
        ("Gateway.Example:443", true),
        ("evil.example", false),
        ("127.0.0.1.evil.example", false),
        ("localhost.evil.example", false),
        ("gateway.example.evil.example", false),
        // Of this machine, but not by a way that stays on it.
        ("203.0.113.9", false),
        ("0.0.0.0:8080", false),
        ("", false),
    ] {
        for path in ["/v1/models", "/metrics", "/", "/admin/state"] {
            let mut request = ask(rig, "GET", path);
            request
                .headers_mut()
                .insert("host", HeaderValue::from_static(host));
            let status = rig.send(request).await.status.as_u16();
            assert_eq!(status == 200, is_known, "{host:?} {path}: {status}");
        }
    }
}
