//! The `server` table.

use std::net::SocketAddr;
use std::path::PathBuf;

use serde::Deserialize;

use super::{ClientKey, KeySource, Span};

/// Where the gateway listens, and how much one client may take of it.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields, default)]
pub struct Server {
    /// The address to listen on; a change needs a restart.
    pub listen: SocketAddr,
    /// The certificate and key of a gateway that speaks TLS. They are read again with the configuration.
    pub tls: Option<Tls>,
    /// The token for `/admin` and the dashboard. Without it one is made at each start, and only this machine may use it.
    pub admin_token: Option<KeySource>,
    /// The keys of which clients must present one. Without any only this machine is answered.
    pub client_keys: Vec<ClientKey>,
    /// Whether everyone who reaches the gateway may use its models, without a key and from anywhere.
    pub allow_without_key: bool,
    /// The names, besides addresses and `localhost`, by which browsers and clients without a key may reach the gateway.
    pub allowed_hosts: Vec<String>,
    /// The origins whose pages may call `/v1`, say `https://chat.example`.
    pub allowed_origins: Vec<String>,
    /// Headers of clients that reach the providers, besides those that pass anyway.
    pub pass_headers: Vec<String>,
    /// The largest request body, in bytes.
    pub max_body_bytes: usize,
    /// How much memory the bodies of all requests may take together, in bytes; more get 503.
    pub max_body_memory: usize,
    /// The largest request head, in bytes, at least 8192.
    pub max_header_bytes: usize,
    /// How many header fields a request may have.
    pub max_headers: usize,
    /// How many connections may be open at once; more wait to be accepted.
    pub max_connections: usize,
    /// How many requests may be in flight at once; more get 503.
    pub max_requests: usize,
    /// How many answers may be streaming at once; more get 503.
    pub max_streams: usize,
    /// How long a client may take to send the head of a request, and how long its connection may stay unused: longer than
    /// clients keep theirs, so that none sends a request on one that is just being closed.
    pub header_timeout: Span,
    /// How long a client may take to send the body of a request.
    pub body_timeout: Span,
    /// How long a client may leave a streamed answer unread before it is cut off.
    pub stall_timeout: Span,
    /// How often a client that waits for a stream gets a comment, so that nothing in between takes the connection for dead.
    pub keep_alive: Span,
    /// How long requests and streams in flight may take to end once the gateway is told to stop.
    pub drain_timeout: Span,
}

/// Where a certificate and its key are found.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// A file with the certificate, and those that lead from it to an authority, as PEM.
    pub cert: PathBuf,
    /// A file with its key, as PEM.
    pub key: PathBuf,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            tls: None,
            admin_token: None,
            client_keys: Vec::new(),
            allow_without_key: false,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            pass_headers: Vec::new(),
            // What providers take at most, so that it is they who refuse images.
            max_body_bytes: 64 << 20,
            max_body_memory: 256 << 20,
            max_header_bytes: 32 << 10,
            max_headers: 64,
            max_connections: 4096,
            max_requests: 4096,
            max_streams: 1024,
            header_timeout: Span::seconds(75),
            body_timeout: Span::seconds(30),
            stall_timeout: Span::seconds(30),
            keep_alive: Span::seconds(10),
            drain_timeout: Span::seconds(30),
        }
    }
}
