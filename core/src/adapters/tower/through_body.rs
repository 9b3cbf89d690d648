//! A permit that is handed on to the response's body.

use http::Response;
use http_body::{Body, Frame};

use crate::adapters::body::GuardedBody;
use crate::adapters::tower::Settle;
use crate::breaker::gate::AnyPermit;
use crate::contract::outcome::Outcome;
use crate::wrap::classify::{Classify, Judge};

/// Settles when the response's body has ended: see
/// [`BreakerLayer::through_body`](crate::adapters::tower::BreakerLayer::through_body).
#[derive(Clone, Copy, Debug)]
pub struct ThroughBody<K, J> {
    head: K,
    body: J,
}

impl<K, J> ThroughBody<K, J> {
    pub(crate) const fn new(head: K, body: J) -> Self {
        Self { head, body }
    }
}

impl<K, J, B, E, P> Settle<Response<B>, E, P> for ThroughBody<K, J>
where
    K: Classify<Response<B>, E>,
    J: Judge<Result<Frame<B::Data>, B::Error>> + Clone,
    B: Body,
    P: AnyPermit,
{
    type Response = Response<GuardedBody<B, J, P>>;

    fn settle(&self, result: Result<Response<B>, E>, permit: P) -> Result<Self::Response, E> {
        let report = self.head.classify(result.as_ref());
        let goes_on = |response: &Response<B>| !response.body().is_end_stream();
        if report.outcome == Outcome::Success && result.as_ref().is_ok_and(goes_on) {
            let guard = |body| GuardedBody::with_judge(body, permit, self.body.clone());
            return result.map(|response| response.map(guard));
        }
        permit.done(report);
        result.map(|response| response.map(GuardedBody::settled))
    }

    fn settle_error(&self, error: E, permit: P) -> E {
        permit.done(self.head.classify(Err(&error)));
        error
    }
}
