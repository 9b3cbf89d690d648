//! The kinds of requests.

use super::speech::Speech;
use super::{Dialect, Usage, chat, counted, gemini, messages, responses};

/// A kind of request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// OpenAI's chat completions.
    Chat,
    /// OpenAI's completions of a text.
    Completions,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's embeddings.
    Embeddings,
    /// Anthropic's messages.
    Messages,
    /// The counting of a message's tokens.
    CountTokens,
    /// Gemini's `generateContent`.
    Generate,
    /// Gemini's `streamGenerateContent`.
    StreamGenerate,
    /// Gemini's `countTokens`.
    CountContent,
}

/// Where a request says which model it is for, and whether it wants a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// `model` and `stream` in the body.
    InBody,
    /// `model` in the body, and it is never a stream.
    WholeInBody,
    /// The model in the path; a stream or not by the path too.
    InPath {
        /// Whether it is a stream.
        stream: bool,
    },
}

/// All that is known of an endpoint.
struct Row {
    name: &'static str,
    dialect: Dialect,
    /// Behind the provider's `base_url`; or, for those whose model is in the path, what follows it.
    path: &'static str,
    asks: Asks,
    speech: &'static dyn Speech,
}

impl Endpoint {
    /// Those that clients reach at `/v1` and the path.
    pub(crate) const AT_PATHS: [Self; 6] = [
        Self::Chat,
        Self::Completions,
        Self::Responses,
        Self::Embeddings,
        Self::Messages,
        Self::CountTokens,
    ];

    /// Those that a verb behind a model's name tells.
    const AT_MODELS: [Self; 3] = [Self::Generate, Self::StreamGenerate, Self::CountContent];

    fn row(self) -> Row {
        let row = |name, dialect, path, asks, speech| Row {
            name,
            dialect,
            path,
            asks,
            speech,
        };
        let (chat, messages): (&dyn Speech, &dyn Speech) = (&chat::Chat, &messages::Messages);
        let generate = &gemini::Generate;
        let body = Asks::InBody;
        match self {
            Self::Chat => row("chat", Dialect::OpenAi, "/chat/completions", body, chat),
            Self::Completions => row("completions", Dialect::OpenAi, "/completions", body, chat),
            Self::Responses => row(
                "responses",
                Dialect::OpenAi,
                "/responses",
                body,
                &responses::Responses,
            ),
            Self::Embeddings => row(
                "embeddings",
                Dialect::OpenAi,
                "/embeddings",
                Asks::WholeInBody,
                &chat::Embeddings,
            ),
            Self::Messages => row("messages", Dialect::Anthropic, "/messages", body, messages),
            Self::CountTokens => row(
                "count_tokens",
                Dialect::Anthropic,
                "/messages/count_tokens",
                Asks::WholeInBody,
                &counted::Counted("input_tokens"),
            ),
            Self::Generate => row(
                "generate_content",
                Dialect::Gemini,
                "generateContent",
                Asks::InPath { stream: false },
                generate,
            ),
            Self::StreamGenerate => row(
                "generate_content",
                Dialect::Gemini,
                "streamGenerateContent",
                Asks::InPath { stream: true },
                generate,
            ),
            Self::CountContent => row(
                "count_tokens",
                Dialect::Gemini,
                "countTokens",
                Asks::InPath { stream: false },
                &counted::Counted("totalTokens"),
            ),
        }
    }

    /// Its name in metrics and in the log.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The family that it is of.
    pub fn dialect(self) -> Dialect {
        self.row().dialect
    }

    /// Where its requests say what they ask for.
    pub(crate) fn asks(self) -> Asks {
        self.row().asks
    }

    /// How its answers are read.
    pub(crate) fn speech(self) -> &'static dyn Speech {
        self.row().speech
    }

    /// What a whole answer says of the tokens that it cost.
    pub(crate) fn usage(self, body: &[u8]) -> Option<Usage> {
        tells_usage(body)?;
        self.speech().usage(body)
    }

    /// The path at which clients find it, where that does not name the model.
    pub(crate) fn client_path(self) -> String {
        format!("/v1{}", self.row().path)
    }

    /// The endpoint of a verb behind a model's name.
    pub(crate) fn of_verb(verb: &str) -> Option<Self> {
        let mut known = Self::AT_MODELS.into_iter();
        known.find(|endpoint| endpoint.row().path == verb)
    }

    /// What follows a provider's `base_url`. The model's name is written so that it stays one part of the path.
    pub(crate) fn provider_path(self, model: &str) -> String {
        let Row { path, asks, .. } = self.row();
        match asks {
            Asks::InBody | Asks::WholeInBody => path.to_owned(),
            Asks::InPath { stream } => {
                let events = if stream { "?alt=sse" } else { "" };
                format!("/models/{}:{path}{events}", in_path(model))
            }
        }
    }
}

/// Where a text speaks of usage. Nearly all events do not: looked for before anything is taken apart.
pub(super) fn tells_usage(text: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, b"\"usage")
}

/// A name as a part of a path, or of a query.
pub(crate) fn in_path(name: &str) -> String {
    let mut written = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            written.push(char::from(byte));
        } else {
            written.push_str(&format!("%{byte:02X}"));
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_name_cannot_leave_its_part_of_the_path() {
        assert_eq!(
            Endpoint::Generate.provider_path("gemini-2.0_x~"),
            "/models/gemini-2.0_x~:generateContent"
        );
        assert_eq!(
            Endpoint::StreamGenerate.provider_path("../a?b#ä:c"),
            "/models/..%2Fa%3Fb%23%C3%A4%3Ac:streamGenerateContent?alt=sse"
        );
    }

    #[test]
    fn a_verb_tells_the_endpoint() {
        assert_eq!(
            Endpoint::of_verb("countTokens"),
            Some(Endpoint::CountContent)
        );
        assert_eq!(Endpoint::of_verb("embedContent"), None);
        assert_eq!(Endpoint::of_verb("/messages"), None);
    }
}
