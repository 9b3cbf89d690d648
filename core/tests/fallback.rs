//! Fallbacks take the place of calls that were not made, and of no others.

use cutout::{Breaker, Config, Fallback, State};

fn open() -> Breaker {
    let breaker = Breaker::new(Config::default()).unwrap();
    breaker.force_open(None, "test");
    breaker
}

fn closed() -> Breaker {
    Breaker::new(Config::default()).unwrap()
}

#[test]
fn only_a_rejection_falls_back_and_it_is_in_hand() {
    let never = |_| panic!("the call was made");
    assert_eq!(closed().call(|| Ok::<_, u32>(1)).or_rejected(never), Ok(1));
    assert_eq!(
        closed().call(|| Err::<u32, _>(2)).or_rejected(never),
        Err(2)
    );
    let state = open()
        .call(|| Err(0))
        .or_rejected(|rejected| Ok(rejected.state()));
    assert_eq!(state, Ok(State::ForcedOpen));
    assert_eq!(open().call(|| Ok(())).or_rejected(|_| Err(3)), Err(3));
}

#[test]
fn a_fallback_may_be_awaited_in_a_task() {
    fn is_send(_: &impl Send) {}
    let open = open();
    let answer = async {
        let result = open.call_async(async || Ok::<_, ()>(1)).await;
        result.or_rejected_async(async |_| Ok(2)).await
    };
    is_send(&answer);
    assert_eq!(futures_executor::block_on(answer), Ok(2));
    let made = async { Err::<(), _>(cutout::CallError::Inner(3)) };
    let made = async { made.await.or_rejected_async(async |_| Ok(())).await };
    assert_eq!(futures_executor::block_on(made), Err(3));
}
