//! The bus on Redis or Valkey: news by one channel, leases and orders by keys.
//!
//! | what | how |
//! | --- | --- |
//! | news | `PUBLISH` on `{prefix}:news`: nothing is kept, and each heartbeat says all again, so nothing is to be fetched after a reconnect |
//! | the right to probe | `{prefix}:probe:NAME`, by `SET NX PX`; renewed and given back by whoever has the token |
//! | orders | `{prefix}:order:NAME` and `{prefix}:order`, that of all; their names in `{prefix}:orders` |
//!
//! `{prefix}` is in braces in the keys too, so that a cluster keeps them in one place.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Client, IntoConnectionInfo, ProtocolVersion, PushInfo, PushKind, Value,
    cmd,
};
use tokio::sync::Notify;
use tokio::time::{sleep, timeout};

use super::{Bus, BusError, Heard, Kept, Lease};
use crate::statement::{Ignored, MAX_STATEMENT};

/// Gives the lease back, or renews it, if it is still the asker's.
const RELEASE: &str =
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";
const RENEW: &str = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0";
/// So many orders at most and none that is longer than so much, with what is left of them. What is no order is left out.
const KEPT: &str = "
local kept = {}
for _, key in ipairs(redis.call('SRANDMEMBER', KEYS[1], ARGV[1])) do
    local kind = redis.call('TYPE', key).ok
    if kind == 'none' then
        redis.call('SREM', KEYS[1], key)
    elseif kind == 'string' and redis.call('STRLEN', key) <= tonumber(ARGV[2]) then
        kept[#kept + 1] = redis.call('GET', key)
        kept[#kept + 1] = redis.call('PTTL', key)
    end
end
return kept";

/// How long a connection may take, and the longest and shortest pause before the next try.
const CONNECTING: Duration = Duration::from_secs(3);
const PAUSES: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(2)];
/// How often the connection is asked whether it is there.
const PING: Duration = Duration::from_secs(1);
/// A lease that is longer than any is not one.
const LONGEST: i64 = 2 * 3600 * 1000;

/// The bus on Redis or Valkey, 6 or later. Clones are the same bus.
///
/// It uses one connection, which it makes anew when it breaks or stands still. The user of the address needs `+hello`, `+subscribe`,
/// `+publish`, `+ping`, `+set`, `+get`, `+del`, `+pttl`, `+pexpire`, `+sadd`, `+eval` with what its scripts call (`+type`, `+strlen`,
/// `+srandmember`, `+srem`), on the channel `{PREFIX}:news` and the keys `{PREFIX}:*`.
///
/// # Examples
///
/// ```
/// use cutout_fleet::Redis;
///
/// let bus = Redis::new("redis://fleet:secret@127.0.0.1:6379/0", "shop")?;
/// assert!(Redis::new("not an address", "shop").is_err());
/// # Ok::<(), cutout_fleet::StartError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Redis {
    client: Client,
    prefix: Arc<str>,
    link: Arc<Link>,
}

#[derive(Default)]
struct Link {
    connection: Mutex<Option<MultiplexedConnection>>,
    broken: Notify,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Link").finish_non_exhaustive()
    }
}

impl Redis {
    /// A bus at this address, for the fleet of this prefix. It connects when a fleet is started on it.
    ///
    /// `redis://user:password@host:port/database`, `rediss://` for TLS (feature `tls`), `unix:///path`. Members of one
    /// prefix are one fleet.
    ///
    /// # Errors
    ///
    /// [`StartError::Address`](crate::StartError::Address) if the address is none, or the prefix is empty or longer than 256 bytes.
    pub fn new(address: &str, prefix: &str) -> Result<Self, crate::StartError> {
        let refused = |why: String| crate::StartError::Address(why);
        if prefix.is_empty() || prefix.len() > crate::statement::MAX_NAME {
            return Err(refused("the prefix must have 1 to 256 bytes".to_owned()));
        }
        let info = address
            .into_connection_info()
            .map_err(|error| refused(error.to_string()))?;
        #[cfg(feature = "tls")]
        if matches!(info.addr(), redis::ConnectionAddr::TcpTls { .. }) {
            // Without a provider rustls panics; that of the program goes first. One that has come meanwhile is as good.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let settings = info.redis_settings().clone();
        let settings = settings.set_protocol(ProtocolVersion::RESP3);
        let client = Client::open(info.set_redis_settings(settings.set_skip_set_lib_name()));
        Ok(Self {
            client: client.map_err(|error| refused(error.to_string()))?,
            prefix: format!("{{{prefix}}}").into(),
            link: Arc::default(),
        })
    }

    fn key(&self, kind: &str, name: &str) -> String {
        format!("{}:{kind}:{name}", self.prefix)
    }

    fn connection(&self) -> Result<MultiplexedConnection, BusError> {
        let connection = self.link.connection.lock();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection.clone().ok_or(BusError::Down)
    }

    fn set_connection(&self, connection: Option<MultiplexedConnection>) {
        let held = self.link.connection.lock();
        *held.unwrap_or_else(PoisonError::into_inner) = connection;
    }

    async fn ask<T: redis::FromRedisValue>(&self, command: &redis::Cmd) -> Result<T, BusError> {
        let mut connection = self.connection()?;
        command.query_async(&mut connection).await.map_err(|error| {
            if error.is_unrecoverable_error() {
                self.link.broken.notify_one();
                return BusError::Down;
            }
            match error.is_timeout() {
                true => BusError::TooLong,
                false => BusError::Refused(error.to_string()),
            }
        })
    }

    /// Connects, and listens.
    async fn connect(&self, heard: &Heard) -> Result<MultiplexedConnection, redis::RedisError> {
        let (heard, link) = (heard.clone(), Arc::clone(&self.link));
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(CONNECTING))
            .set_response_timeout(Some(CONNECTING))
            .set_push_sender(move |push: PushInfo| {
                pass_on(push, &heard, &link);
                Ok::<(), redis::aio::SendError>(())
            });
        let client = &self.client;
        let mut connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await?;
        connection
            .subscribe(format!("{}:news", self.prefix))
            .await?;
        Ok(connection)
    }

    /// Until the connection breaks, or does not answer.
    async fn watch(&self) -> String {
        loop {
            let rest = timeout(PING, self.link.broken.notified());
            if rest.await.is_ok() {
                return "the connection is closed".to_owned();
            }
            match timeout(PING * 2, self.ask::<Value>(&cmd("PING"))).await {
                Ok(Ok(_) | Err(BusError::Refused(_))) => {}
                Ok(Err(error)) => return error.to_string(),
                Err(_) => return BusError::TooLong.to_string(),
            }
        }
    }
}

fn pass_on(push: PushInfo, heard: &Heard, link: &Link) {
    match (push.kind, push.data.into_iter().nth(1)) {
        (PushKind::Message, Some(Value::BulkString(statement))) => {
            if statement.len() > MAX_STATEMENT {
                heard.ignored(Ignored::TooLong);
            } else {
                heard.said(statement);
            }
        }
        (PushKind::Disconnection, _) => link.broken.notify_one(),
        _ => {}
    }
}

impl Bus for Redis {
    async fn run(self, heard: Heard) {
        let mut pause = PAUSES[0];
        loop {
            match timeout(CONNECTING * 2, self.connect(&heard)).await {
                Ok(Ok(connection)) => {
                    pause = PAUSES[0];
                    self.set_connection(Some(connection));
                    heard.up();
                    let why = self.watch().await;
                    self.set_connection(None);
                    heard.down(why);
                }
                Ok(Err(error)) => heard.down(error),
                Err(_) => heard.down(BusError::TooLong),
            }
            // Half of it at random: the members of a fleet lose their server together.
            sleep(pause.mul_f64(0.5 + 0.5 * fastrand::f64())).await;
            pause = (pause * 2).min(PAUSES[1]);
        }
    }

    async fn tell(&self, statement: Vec<u8>) -> Result<(), BusError> {
        let channel = format!("{}:news", self.prefix);
        self.ask(cmd("PUBLISH").arg(channel).arg(statement)).await
    }

    async fn lease(&self, name: &str, token: &str, length: Duration) -> Result<Lease, BusError> {
        let key = self.key("probe", name);
        let millis = length.as_millis().max(1) as u64;
        let set: Option<String> = self
            .ask(
                cmd("SET")
                    .arg(&key)
                    .arg(token)
                    .arg("NX")
                    .arg("PX")
                    .arg(millis),
            )
            .await?;
        if set.is_some() {
            return Ok(Lease::Granted);
        }
        match self.ask::<i64>(cmd("PTTL").arg(&key)).await? {
            // It has ended just now.
            -2 => Ok(Lease::Taken(Duration::from_millis(1))),
            // Nobody of the fleet has put that there: it would keep all from probing for ever.
            left if !(0..=LONGEST).contains(&left) => Err(BusError::Refused(format!(
                "{key} is no lease: it is to be deleted"
            ))),
            left => Ok(Lease::Taken(Duration::from_millis(left as u64))),
        }
    }

    async fn renew(&self, name: &str, token: &str, length: Duration) -> Result<bool, BusError> {
        let key = self.key("probe", name);
        let millis = length.as_millis().max(1) as u64;
        self.ask(
            cmd("EVAL")
                .arg(RENEW)
                .arg(1)
                .arg(key)
                .arg(token)
                .arg(millis),
        )
        .await
    }

    async fn release(&self, name: &str, token: &str) -> Result<(), BusError> {
        let key = self.key("probe", name);
        self.ask(cmd("EVAL").arg(RELEASE).arg(1).arg(key).arg(token))
            .await
    }

    async fn keep(
        &self,
        key: &str,
        order: Vec<u8>,
        length: Option<Duration>,
    ) -> Result<(), BusError> {
        let key = self.key("order", key);
        let mut set = cmd("SET");
        set.arg(&key).arg(order);
        if let Some(length) = length {
            set.arg("PX").arg(length.as_millis().max(1) as u64);
        }
        self.ask::<()>(&set).await?;
        self.ask(cmd("SADD").arg(format!("{}:orders", self.prefix)).arg(key))
            .await
    }

    async fn kept(&self, most: usize) -> Result<Vec<Kept>, BusError> {
        let orders = format!("{}:orders", self.prefix);
        let mut script = cmd("EVAL");
        script.arg(KEPT).arg(1).arg(orders).arg(most).arg(4096);
        let kept: Vec<(Vec<u8>, i64)> = self.ask(&script).await?;
        let kept = kept.into_iter().map(|(order, millis)| Kept {
            order,
            left: u64::try_from(millis).ok().map(Duration::from_millis),
        });
        Ok(kept.collect())
    }
}
