//! TLS at the door, and towards a provider whose authority is its own.

use std::time::Duration;

use cutout_gateway::client::Client;
use cutout_gateway::config::File;
use cutout_gateway::demo::fake::Mood;
use cutout_gateway::gateway::Gateway;
use http::{Request, StatusCode};
use http_body_util::{BodyExt, Full};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::passing::{TempFile, tempfile};
use crate::rig::{Rig, SOON, fake, provider, route};

/// An authority, and a certificate of 127.0.0.1 that it has signed, with its key.
pub(crate) fn certified() -> (TempFile, TempFile, TempFile) {
    let authority_key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&authority_key).unwrap();
    let issuer = Issuer::new(params, authority_key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).unwrap();
    let certificate = params.signed_by(&key, &issuer).unwrap();
    (
        tempfile(&authority.pem()),
        tempfile(&certificate.pem()),
        tempfile(&key.serialize_pem()),
    )
}

pub(crate) fn server(cert: &TempFile, key: &TempFile) -> String {
    format!(
        "[server]\ntls = {{ cert = {:?}, key = {:?} }}\n",
        cert.path(),
        key.path()
    )
}

#[tokio::test]
async fn a_gateway_with_a_certificate_is_a_provider_with_an_authority_of_its_own() {
    let (authority, cert, key) = certified();
    let a = fake(Mood::Well).await;
    let config = server(&cert, &key) + &provider("a", &a.url(), "") + &route("m", &["a"], "");
    let inner = Rig::start(&config).await;
    let url = format!("https://{}/v1", inner.address);
    let more = format!("ca_file = {:?}", authority.path());
    let config = provider("trusting", &url, &more)
        + &provider("wary", &url, "")
        + &route("m", &["trusting"], "")
        + &route("n", &["wary"], "");
    let rig = Rig::start(&config).await;
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    assert!(rig.stream("m").await.text().ends_with("data: [DONE]\n\n"));
    assert_eq!(rig.chat("n").await.error(), "provider_unreachable");
    assert!(
        inner
            .gateway
            .dashboard_url(inner.address)
            .starts_with("https://")
    );
    // Who speaks no TLS gets nothing, and holds nobody.
    let plain = Request::get(format!("http://{}/healthz", inner.address))
        .body(Full::default())
        .unwrap();
    assert!(Client::new(SOON).send(plain).await.is_err());
    assert_eq!(rig.chat("m").await.status, StatusCode::OK);
    rig.stop().await;
    inner.stop().await;
}

#[tokio::test]
async fn a_renewed_certificate_is_taken_with_the_next_reload() {
    let (authority, cert, key) = certified();
    let (renewed_authority, renewed, renewed_key) = certified();
    let folder = std::env::temp_dir().join(format!("cutout-tls-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("gateway.toml");
    let rest = "[log]\nrequests = \"off\"\n".to_owned()
        + &provider("a", "http://a", "")
        + &route("m", &["a"], "");
    std::fs::write(&path, server(&cert, &key) + &rest).unwrap();
    let rig = Rig::start_file(&path).await;
    let reaches = async |authority: &TempFile| {
        let client = Client::trusting(Duration::from_secs(60), Some(authority.path())).unwrap();
        let request = Request::get(format!("https://{}/healthz", rig.address))
            .body(Full::default())
            .unwrap();
        match client.send(request).await {
            Ok(answer) => answer.into_body().collect().await.is_ok(),
            Err(_) => false,
        }
    };
    assert!(reaches(&authority).await && !reaches(&renewed_authority).await);
    std::fs::copy(renewed.path(), cert.path()).unwrap();
    std::fs::copy(renewed_key.path(), key.path()).unwrap();
    rig.gateway.reload(true);
    assert!(!reaches(&authority).await && reaches(&renewed_authority).await);
    // What is wrong with the next is said, and the last stays.
    std::fs::write(cert.path(), "nothing").unwrap();
    rig.gateway.reload(true);
    assert_eq!(rig.gateway.problem().unwrap().field, "server.tls.cert");
    assert!(reaches(&renewed_authority).await);
    rig.stop().await;
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_key_of_another_certificate_is_refused() {
    let ((_, cert, key), (_, _, other)) = (certified(), certified());
    let rest = provider("a", "http://a", "") + &route("m", &["a"], "");
    let check = |cert: &TempFile, key: &TempFile| {
        Gateway::check(File::parse(server(cert, key) + &rest).unwrap())
    };
    check(&cert, &key).unwrap();
    assert_eq!(check(&cert, &other).unwrap_err().field, "server.tls");
    assert_eq!(check(&key, &key).unwrap_err().field, "server.tls.cert");
    assert_eq!(check(&cert, &cert).unwrap_err().field, "server.tls.key");
}
