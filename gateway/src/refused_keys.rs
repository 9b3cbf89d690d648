//! Leaves out targets for what other replicas have found of their keys.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use crate::gateway::Gateway;
use crate::replicas::Replicas;

/// How often the others' refused keys are looked at.
const TICK: Duration = Duration::from_millis(100);

/// Does to this replica's targets what the others have found of their keys, for ever.
pub(crate) async fn follow(gateway: Arc<Gateway>) {
    let Some(replicas) = gateway.replicas.clone() else {
        return;
    };
    let mut done = HashMap::new();
    let mut ticks = interval(TICK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        ticks.tick().await;
        look(&gateway, &replicas, &mut done);
    }
}

/// Each order is done once: a configuration that was read again begins without suspensions.
fn look(gateway: &Gateway, replicas: &Replicas, done: &mut HashMap<String, (u64, Arc<str>)>) {
    let refused = replicas.refused();
    if refused.is_empty() && done.is_empty() {
        return;
    }
    let fleet = gateway.fleet.load();
    for (provider, model) in fleet.config.route.iter().flat_map(|route| route.targets()) {
        let Some(provider) = fleet.providers.get(provider) else {
            continue;
        };
        let name = provider.key_name(model);
        match refused.iter().find(|one| one.name == name) {
            Some(one) if done.get(&name) != Some(&one.rank) => {
                provider.follow(one.suspension(model));
                done.insert(name, one.rank.clone());
            }
            Some(_) => {}
            None => {
                if done.remove(&name).is_some() {
                    provider.lift(model);
                }
            }
        }
    }
    // Of targets that are no longer there.
    done.retain(|name, _| refused.iter().any(|one| one.name == *name));
}
