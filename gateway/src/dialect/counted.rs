//! Answers that are a number of tokens.

use serde_json::Value;

use super::speech::{Event, Said, Speech, Unfit, parse, refusal};
use super::{ApiError, Usage};

/// An answer has this field, and it is a number.
#[derive(Debug)]
pub(super) struct Counted(pub(super) &'static str);

impl Speech for Counted {
    fn whole(&self, text: &str) -> Result<(), Unfit> {
        let answer: serde_json::Map<String, Value> = parse(text)?;
        if answer.get(self.0).is_some_and(Value::is_number) {
            return Ok(());
        }
        Err(refusal(text).map_or(Unfit::Invalid("empty"), Unfit::from))
    }

    fn event(&self, _: Event<'_>) -> Said {
        Said::Broken("an event where no stream was asked for")
    }

    /// Counting costs none.
    fn usage(&self, _: &[u8]) -> Option<Usage> {
        None
    }

    fn failure(&self, _: &ApiError) -> String {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_a_number() {
        let counted = Counted("input_tokens");
        assert_eq!(counted.whole(r#"{"input_tokens":7}"#), Ok(()));
        for none in [r#"{"input_tokens":"7"}"#, "{}", "null"] {
            assert_eq!(counted.whole(none), Err(Unfit::Invalid("empty")), "{none}");
        }
        let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"no"}}"#;
        assert!(matches!(counted.whole(error), Err(Unfit::Refused(_))));
    }
}
