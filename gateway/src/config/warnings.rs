//! What is legal and still hardly meant.

use super::Config;

/// What is worth a second look, each with what to set.
pub fn warnings(config: &Config) -> Vec<String> {
    let server = &config.server;
    let (listen, mut found) = (server.listen, Vec::new());
    if server.listen.ip().is_loopback() {
        return found;
    }
    if server.allow_without_key {
        found.push(format!(
            "server.allow_without_key: everyone who reaches {listen} may use your providers' keys"
        ));
    } else if server.client_keys.is_empty() {
        found.push(format!(
            "server.listen: others reach {listen}, but without client_keys only this machine is answered; set \
             server.client_keys"
        ));
    }
    if server.admin_token.is_none() {
        found.push(format!(
            "server.listen: others reach {listen}, but without admin_token only this machine may use the dashboard and \
             /admin; set server.admin_token"
        ));
    }
    found
}
