//! Who may use which door. All doors ask here, and nowhere else.
//!
//! A door lets a request in by what it proves, never by where it comes from alone: a connection from this machine may be a
//! proxy that speaks for the world, or a web page that speaks for a stranger. So a request goes three steps:
//!
//! 1. [`check_browser`]: no page of another origin, whatever it knows, and no body of a kind that a page may send unasked.
//! 2. The key or the token of the door, if one is configured. It is proof enough: addresses and names are not looked at.
//! 3. Without one, this machine only, and for operators the token made at the start besides.
//!
//! The README has the table of every path and what it answers to whom.

mod browser;
mod door;
mod keys;
mod local;
mod token;

pub use browser::{allows_origin, check_browser};
pub use door::{Door, KeyName, enter};
pub use keys::Keys;
pub use local::Peer;
pub use token::new_token;
