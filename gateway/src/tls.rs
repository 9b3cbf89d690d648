//! TLS, at the door and towards providers.

use std::path::Path;
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use crate::config::Tls;

/// What is wrong with a field, and which.
type Fault = (&'static str, String);

/// What makes connections to the gateway private, with the certificate and key that these files have now.
///
/// # Errors
///
/// A file cannot be read or has not what it should, or the key is another certificate's.
pub(crate) fn acceptor(tls: &Tls) -> Result<TlsAcceptor, Fault> {
    let certificates = certificates(&tls.cert).map_err(|why| ("server.tls.cert", why))?;
    let key = PrivateKeyDer::from_pem_file(&tls.key);
    let key = key.map_err(|error| ("server.tls.key", said(&tls.key, &error)))?;
    // Ring is named, since a program may have several providers of cryptography built in.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| ("server.tls", error.to_string()))?
        .with_no_client_auth()
        .with_single_cert(certificates, key);
    let mut config = config.map_err(|error| ("server.tls", error.to_string()))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// TLS towards providers, with the roots of Mozilla's programme and those of a file.
///
/// # Errors
///
/// The file cannot be read, or has no certificate, or one that is none.
pub(crate) fn connector(file: Option<&Path>) -> Result<ClientConfig, String> {
    let mut roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    for certificate in file.map(certificates).transpose()?.unwrap_or_default() {
        let added = roots.add(certificate);
        added.map_err(|error| format!("its certificate is not one of an authority: {error}"))?;
    }
    let versions = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    Ok(versions.with_root_certificates(roots).with_no_client_auth())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let found = CertificateDer::pem_file_iter(path).map_err(|error| said(path, &error))?;
    let found: Result<Vec<_>, _> = found.collect();
    let found = found.map_err(|error| said(path, &error))?;
    if found.is_empty() {
        return Err(format!("{} has no certificate as PEM", path.display()));
    }
    Ok(found)
}

fn said(path: &Path, error: &rustls::pki_types::pem::Error) -> String {
    format!("{}: {error}", path.display())
}
