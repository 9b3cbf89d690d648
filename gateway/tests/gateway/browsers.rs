//! What pages may do to the gateway, and what providers may tell browsers.

use http::{HeaderName, HeaderValue, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::doors::{World, ask};
use crate::rig::{Rig, provider, route};

#[tokio::test]
async fn pages_of_other_origins_are_refused_however_they_ask() {
    let world = World::new("").await;
    let rig = &world.here;
    let own = format!("http://{}", rig.address);
    let cases: &[(&[(&str, &str)], u16)] = &[
        (&[], 200),
        (&[("origin", &own)], 200),
        (&[("sec-fetch-site", "same-origin")], 200),
        (&[("sec-fetch-site", "none")], 200),
        (&[("origin", "null")], 403),
        (&[("origin", "http://127.0.0.1:1")], 403),
        (&[("origin", "https://evil.example")], 403),
        (&[("sec-fetch-site", "cross-site")], 403),
        (&[("sec-fetch-site", "same-site")], 403),
        (&[("sec-fetch-site", "cross-site"), ("origin", &own)], 403),
        (&[("content-type", "text/plain")], 415),
        (
            &[("content-type", "application/x-www-form-urlencoded")],
            415,
        ),
        (&[("content-type", "text/plain; application/json")], 415),
        (&[("content-type", "application/jsonp")], 415),
        (&[("content-type", "Application/JSON; charset=utf-8")], 200),
        (&[("content-type", "")], 415),
    ];
    for (headers, status) in cases {
        for path in ["/v1/chat/completions", "/admin/breakers/a/close"] {
            let mut request = ask(rig, "POST", path);
            for (name, value) in *headers {
                let name = HeaderName::try_from(*name).unwrap();
                request
                    .headers_mut()
                    .insert(name, HeaderValue::try_from(*value).unwrap());
            }
            let got = rig.send(request).await;
            assert_eq!(
                got.status.as_u16(),
                *status,
                "{path} {headers:?} {:?}",
                got.body
            );
        }
    }
    let mut untyped = ask(rig, "POST", "/v1/chat/completions");
    untyped.headers_mut().remove("content-type");
    assert_eq!(rig.send(untyped).await.error(), "unsupported_content_type");
}

#[tokio::test]
async fn a_link_from_elsewhere_leads_to_the_page_and_to_nothing_else() {
    let world = World::new("").await;
    let rig = &world.here;
    for (path, mode, dest, status) in [
        ("/", "navigate", "document", 200),
        ("/", "navigate", "iframe", 403),
        ("/", "no-cors", "script", 403),
        ("/assets/main.js", "no-cors", "script", 403),
        ("/admin/state", "navigate", "document", 403),
        ("/v1/models", "navigate", "document", 403),
    ] {
        let mut request = ask(rig, "GET", path);
        for (name, value) in [
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-mode", mode),
            ("sec-fetch-dest", dest),
        ] {
            request
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        assert_eq!(
            rig.send(request).await.status.as_u16(),
            status,
            "{path} {mode} {dest}"
        );
    }
}

#[tokio::test]
async fn an_allowed_origin_may_call_the_models_and_nothing_else() {
    let world = World::new("allowed_origins = [\"https://chat.example\"]\n").await;
    let rig = &world.here;
    let from = |origin: &'static str, mut request: Request<_>| {
        request
            .headers_mut()
            .insert("origin", HeaderValue::from_static(origin));
        request
            .headers_mut()
            .insert("sec-fetch-site", HeaderValue::from_static("cross-site"));
        request
    };
    let mut preflight = ask(rig, "OPTIONS", "/v1/chat/completions");
    for (name, value) in [
        ("access-control-request-method", "POST"),
        (
            "access-control-request-headers",
            "authorization,content-type",
        ),
    ] {
        preflight
            .headers_mut()
            .insert(name, HeaderValue::from_static(value));
    }
    let allowed = rig
        .send(from("https://chat.example", preflight.clone()))
        .await;
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("https://chat.example")
    );
    assert_eq!(
        allowed.header("access-control-allow-headers"),
        Some("authorization,content-type")
    );
    let refused = rig.send(from("https://evil.example", preflight)).await;
    assert_eq!(refused.error(), "other_origin");
    assert_eq!(refused.header("access-control-allow-origin"), None);
    let answer = rig
        .send(from(
            "https://chat.example",
            ask(rig, "POST", "/v1/chat/completions"),
        ))
        .await;
    assert_eq!(answer.status.as_u16(), 200);
    assert_eq!(
        answer.header("access-control-allow-origin"),
        Some("https://chat.example")
    );
    for path in ["/admin/state", "/metrics", "/"] {
        let answer = rig
            .send(from("https://chat.example", ask(rig, "GET", path)))
            .await;
        assert_eq!(answer.error(), "other_origin", "{path}");
    }
}

#[tokio::test]
async fn a_provider_does_not_say_which_origins_may_read() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut request = vec![0; 65536];
        let _ = socket.read(&mut request).await;
        let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},"finish_reason":"stop"}]}"#;
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\naccess-control-allow-origin: *\r\n\
                    clear-site-data: \"*\"\r\nopenai-processing-ms: 7";
        let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(answer.as_bytes()).await.unwrap();
        let _ = socket.read(&mut request).await;
    });
    let rig = Rig::start(&(provider("a", &url, "") + &route("m", &["a"], ""))).await;
    let answer = rig.chat("m").await;
    assert_eq!(answer.status.as_u16(), 200, "{:?}", answer.body);
    assert_eq!(answer.header("openai-processing-ms"), Some("7"));
    assert_eq!(answer.header("access-control-allow-origin"), None);
    assert_eq!(answer.header("clear-site-data"), None);
}
