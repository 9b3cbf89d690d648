//! What a running gateway cannot change.

use super::Config;

/// The fields in which `now` differs from `started` and which only a restart puts in force.
pub fn needing_restart(started: &Config, now: &Config) -> Vec<&'static str> {
    let (a, b) = (&started.server, &now.server);
    let store = |config: &Config| config.store.clone();
    let fields = [
        ("server.listen", a.listen == b.listen),
        (
            "server.max_body_memory",
            a.max_body_memory == b.max_body_memory,
        ),
        (
            "server.max_header_bytes",
            a.max_header_bytes == b.max_header_bytes,
        ),
        ("server.max_headers", a.max_headers == b.max_headers),
        (
            "server.max_connections",
            a.max_connections == b.max_connections,
        ),
        ("server.max_requests", a.max_requests == b.max_requests),
        ("server.max_streams", a.max_streams == b.max_streams),
        (
            "server.header_timeout",
            a.header_timeout == b.header_timeout,
        ),
        ("server.drain_timeout", a.drain_timeout == b.drain_timeout),
        ("store", store(started) == store(now)),
        ("fleet", started.fleet == now.fleet),
    ];
    let changed = fields.into_iter().filter(|(_, same)| !same);
    changed.map(|(field, _)| field).collect()
}
