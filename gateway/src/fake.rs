//! Providers that are none, for the demo and the tests.
