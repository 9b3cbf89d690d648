//! A build without the feature `fleet`: there are no replicas, and a configuration that names some is refused.

use std::sync::Arc;

use cutout::{Breaker, Builder};

use super::{Order, RefusedKey, Status};
use crate::config::File;
use crate::config::Problem;
use crate::suspension::Suspension;

/// There are none in this build.
#[derive(Clone, Debug)]
pub enum Replicas {}

impl Replicas {
    pub(crate) fn check(_: &File) -> Result<(), Problem> {
        Ok(())
    }

    pub(crate) fn start(_: &File) -> Result<Option<Self>, Problem> {
        Ok(None)
    }

    pub(crate) fn build(&self, _: &str, _: Builder) -> Result<Arc<Breaker>, String> {
        match *self {}
    }

    pub(crate) fn order(&self, _: &str, _: Order, _: &str, _: Option<&str>) -> Result<(), String> {
        match *self {}
    }

    pub(crate) fn suspend(&self, _: &str, _: &Suspension) {
        match *self {}
    }

    pub(crate) fn resume(&self, _: &str) {
        match *self {}
    }

    pub(crate) fn refused(&self) -> Vec<RefusedKey> {
        match *self {}
    }

    pub(crate) fn status(&self) -> Status {
        match *self {}
    }

    pub(crate) fn record_metrics(&self) {
        match *self {}
    }
}
