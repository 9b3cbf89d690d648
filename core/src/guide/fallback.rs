//! What to answer when a breaker rejects.
//!
//! A rejection comes at once and says why: the state, the cause, the time to wait. What is
//! best done with it depends on the caller. Four answers, from the cheapest on.
//!
//! # The last good answer
//!
//! An old answer beats none where it may be old. The rejection says for how long it will have to do:
//!
//! ```
//! use std::collections::HashMap;
//! use cutout::{Breaker, Fallback};
//!
//! # #[derive(Debug, PartialEq)]
//! enum NoRate { Down, NeverSeen }
//!
//! struct Rates {
//!     breaker: Breaker,
//!     seen: HashMap<&'static str, f64>,
//! }
//!
//! impl Rates {
//!     fn rate(&mut self, of: &'static str, ask: impl FnOnce() -> Result<f64, NoRate>) -> Result<f64, NoRate> {
//!         let rate = self.breaker.call(ask).or_rejected(|rejected| {
//!             eprintln!("old rate of {of} for another {:?}", rejected.retry_after());
//!             self.seen.get(of).copied().ok_or(NoRate::NeverSeen)
//!         })?;
//!         self.seen.insert(of, rate);
//!         Ok(rate)
//!     }
//! }
//!
//! let mut rates = Rates { breaker: Breaker::builder().build()?, seen: HashMap::new() };
//! assert_eq!(rates.rate("EUR", || Ok(1.09)), Ok(1.09));
//! rates.breaker.force_open(None, "to show it");
//! assert_eq!(rates.rate("EUR", || Ok(1.10)), Ok(1.09));
//! assert_eq!(rates.rate("SEK", || Ok(0.09)), Err(NoRate::NeverSeen));
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # A default
//!
//! Where a call only adds something, its absence is an answer too:
//!
//! ```
//! use cutout::{Breaker, Fallback};
//!
//! fn recommended(breaker: &Breaker) -> Result<Vec<String>, std::io::Error> {
//!     breaker.call(|| Ok(vec![String::from("a book")])).or_rejected(|_| Ok(Vec::new()))
//! }
//! # let breaker = Breaker::builder().build()?;
//! # assert_eq!(recommended(&breaker).unwrap().len(), 1);
//! # breaker.force_open(None, "to show it");
//! # assert_eq!(recommended(&breaker).unwrap().len(), 0);
//! # Ok::<(), cutout::ConfigError>(())
//! ```
//!
//! # Another upstream
//!
//! Behind a breaker of its own: it gets the load of both, and may go down under it. An error of the
//! first upstream is not retried at the second here; only what was not admitted goes there.
//!
//! ```
//! use cutout::{Breaker, CallError, Fallback};
//!
//! async fn read(host: &str) -> Result<String, std::io::Error> {
//!     Ok(format!("from {host}"))
//! }
//!
//! async fn read_any(primary: &Breaker, replica: &Breaker) -> Result<String, CallError<std::io::Error>> {
//!     match primary.call_async(async || read("primary").await).await {
//!         Err(CallError::Rejected(_)) => replica.call_async(async || read("replica").await).await,
//!         answered_or_failed => answered_or_failed,
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), cutout::ConfigError> {
//! # let (primary, replica) = (Breaker::builder().build()?, Breaker::builder().build()?);
//! # primary.force_open(None, "to show it");
//! # assert_eq!(read_any(&primary, &replica).await.unwrap(), "from replica");
//! # Ok(())
//! # }
//! ```
//!
//! With more than two, or when failures are to move on as well, a
//! `Router` (feature `router`) keeps the order.
//!
//! # An older model
//!
//! A lesser answer, marked as such. Here as the last resort of a queue: it is asked when all others
//! reject or have been tried, and even when its own breaker rejects.
//!
//! ```
//! use std::sync::Arc;
//! use cutout::Breaker;
//! use cutout::router::{Attempts, NoTarget, Role, Router, RouterConfig, Target};
//!
//! struct Model { name: &'static str, is_current: bool }
//!
//! /// The answer, and whether it is of the current model.
//! fn ask(models: &Router<Model>, question: &str) -> Result<(String, bool), NoTarget> {
//!     let mut attempts = Attempts::new();
//!     let choice = models.choose(&mut attempts)?;
//!     let model = choice.payload();
//!     let answer = (format!("{} says: {question}?", model.name), model.is_current);
//!     choice.success();
//!     Ok(answer)
//! }
//!
//! let breaker = || Breaker::builder().build().map(Arc::new);
//! let models = Router::new(RouterConfig::default(), [
//!     Target::new("large-2", Model { name: "large-2", is_current: true }, breaker()?),
//!     Target::new("large-1", Model { name: "large-1", is_current: false }, breaker()?)
//!         .role(Role::LastResort),
//! ])?;
//! assert!(ask(&models, "why").unwrap().1);
//! for member in models.members() {
//!     member.breaker().force_open(None, "to show it");
//! }
//! assert!(!ask(&models, "why").unwrap().1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
