//! What a well provider says at each endpoint.

use serde_json::{Value, json};

/// An endpoint of some dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Chat,
    Completions,
    Responses,
    Embeddings,
    Messages,
    CountTokens,
    Generate,
    StreamGenerate,
    CountContent,
}

/// The good answer to a request, and what trouble looks like in its dialect.
pub(super) struct Voice {
    kind: Kind,
    pub(super) answer: Value,
    /// The events before the first content.
    pub(super) head: Vec<String>,
    /// Those with content.
    pub(super) content: Vec<String>,
    /// Those that end a stream well.
    pub(super) end: Vec<String>,
    /// An error inside a 200.
    pub(super) trouble: Value,
}

const WORDS: [&str; 3] = ["Hello", " ", "there"];

impl Voice {
    /// The answer to a request: "Hello there", or a call of its first tool.
    pub(super) fn of(kind: Kind, asked: &Value) -> Self {
        let model = asked["model"].as_str().unwrap_or_default();
        let tool = tool_of(asked);
        let mut voice = Self {
            kind,
            answer: Value::Null,
            head: Vec::new(),
            content: Vec::new(),
            end: Vec::new(),
            trouble: match kind {
                Kind::Messages | Kind::CountTokens => {
                    json!({"type": "error", "error": {"type": "api_error", "message": "fake trouble"}})
                }
                Kind::Generate | Kind::StreamGenerate | Kind::CountContent => {
                    json!({"error": {"code": 500, "message": "fake trouble", "status": "INTERNAL"}})
                }
                _ => json!({"error": {"message": "fake trouble", "type": "server_error"}}),
            },
        };
        match kind {
            Kind::Chat => voice.chat(
                model,
                tool,
                asked["stream_options"]["include_usage"] == true,
            ),
            Kind::Completions => voice.completions(model),
            Kind::Responses => voice.responses(model, tool),
            Kind::Messages => voice.messages(model, tool),
            Kind::Generate | Kind::StreamGenerate => voice.generate(tool),
            Kind::Embeddings => {
                voice.answer = json!({
                    "object": "list", "model": model,
                    "data": [{"object": "embedding", "index": 0, "embedding": [0.5, -0.25]}],
                    "usage": {"prompt_tokens": 1, "total_tokens": 1},
                });
            }
            Kind::CountTokens => voice.answer = json!({"input_tokens": 7}),
            Kind::CountContent => voice.answer = json!({"totalTokens": 7}),
        }
        voice
    }

    fn chat(&mut self, model: &str, tool: Option<&str>, tells_usage: bool) {
        let usage = json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
        let call = |name: &str| json!([{"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": "{}"}}]);
        let (message, finish) = match tool {
            Some(name) => (
                json!({"role": "assistant", "content": null, "tool_calls": call(name)}),
                "tool_calls",
            ),
            None => (
                json!({"role": "assistant", "content": "Hello there"}),
                "stop",
            ),
        };
        self.answer = json!({
            "id": "chatcmpl-fake", "object": "chat.completion", "created": 1, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage,
        });
        let chunk = |delta: Value, finish: Option<&str>| {
            data(&json!({
                "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
            }))
        };
        self.content = match tool {
            Some(name) => vec![chunk(json!({"tool_calls": call(name)}), None)],
            None => WORDS
                .map(|word| chunk(json!({"content": word}), None))
                .to_vec(),
        };
        self.end.push(chunk(json!({}), Some(finish)));
        if tells_usage {
            self.end.push(data(&json!({
                "id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1, "model": model,
                "choices": [], "usage": usage,
            })));
        }
        self.end.push("data: [DONE]\n\n".to_owned());
    }

    fn completions(&mut self, model: &str) {
        let answer = |text: &str, finish: Option<&str>| {
            json!({
                "id": "cmpl-fake", "object": "text_completion", "created": 1, "model": model,
                "choices": [{"index": 0, "text": text, "logprobs": null, "finish_reason": finish}],
            })
        };
        self.answer = answer("Hello there", Some("stop"));
        self.answer["usage"] =
            json!({"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3});
        self.content = WORDS.map(|word| data(&answer(word, None))).to_vec();
        self.end = vec![
            data(&answer("", Some("stop"))),
            "data: [DONE]\n\n".to_owned(),
        ];
    }

    fn responses(&mut self, model: &str, tool: Option<&str>) {
        let answer = |status: &str, output: Value| {
            json!({
                "id": "resp_fake", "object": "response", "created_at": 1, "status": status, "error": null,
                "incomplete_details": null, "instructions": null, "metadata": {}, "model": model, "output": output,
                "parallel_tool_calls": true, "temperature": 1.0, "tool_choice": "auto", "tools": [], "top_p": 1.0,
                "usage": null,
            })
        };
        let part = json!({"type": "output_text", "text": "Hello there", "annotations": []});
        let item = match tool {
            Some(name) => json!({
                "type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name, "arguments": "{}", "status": "completed",
            }),
            None => json!({
                "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part],
            }),
        };
        self.answer = answer("completed", json!([item]));
        self.answer["usage"] = json!({
            "input_tokens": 1, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 2,
            "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 3,
        });
        let mut events = vec![
            json!({"type": "response.created", "response": answer("in_progress", json!([]))}),
            json!({"type": "response.in_progress", "response": answer("in_progress", json!([]))}),
        ];
        let head = match tool {
            Some(_) => {
                events.extend([
                    json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
                    json!({"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0, "delta": "{}"}),
                ]);
                2
            }
            None => {
                let empty = json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "in_progress", "content": []});
                let begun = json!({"type": "output_text", "text": "", "annotations": []});
                events.extend([
                    json!({"type": "response.output_item.added", "output_index": 0, "item": empty}),
                    json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0, "part": begun}),
                ]);
                events.extend(WORDS.map(|word| {
                    json!({
                        "type": "response.output_text.delta", "item_id": "msg_1", "output_index": 0, "content_index": 0,
                        "delta": word, "logprobs": [],
                    })
                }));
                4
            }
        };
        let end = events.len();
        events.extend([
            json!({"type": "response.output_item.done", "output_index": 0, "item": item}),
            json!({"type": "response.completed", "response": self.answer}),
        ]);
        for (number, event) in events.iter_mut().enumerate() {
            event["sequence_number"] = number.into();
        }
        self.say(&events, head, end);
    }

    fn messages(&mut self, model: &str, tool: Option<&str>) {
        let (block, reason) = match tool {
            Some(name) => (
                json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
                "tool_use",
            ),
            None => (json!({"type": "text", "text": "Hello there"}), "end_turn"),
        };
        let message = |content: Value, reason: Option<&str>, output: u64| {
            json!({
                "id": "msg_fake", "type": "message", "role": "assistant", "model": model, "content": content,
                "stop_reason": reason, "stop_sequence": null, "usage": {"input_tokens": 1, "output_tokens": output},
            })
        };
        self.answer = message(json!([block]), Some(reason), 2);
        let mut events =
            vec![json!({"type": "message_start", "message": message(json!([]), None, 1)})];
        let head = match tool {
            Some(_) => {
                events.push(
                    json!({"type": "content_block_start", "index": 0, "content_block": block}),
                );
                events.push(json!({
                    "type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "{}"},
                }));
                1
            }
            None => {
                events.push(json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}));
                events.push(json!({"type": "ping"}));
                events.extend(WORDS.map(|word| {
                    json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})
                }));
                3
            }
        };
        let end = events.len();
        events.extend([
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": {"output_tokens": 2}}),
            json!({"type": "message_stop"}),
        ]);
        self.say(&events, head, end);
    }

    fn generate(&mut self, tool: Option<&str>) {
        let answer = |part: Value, finish: Option<&str>| {
            let mut candidate = json!({"content": {"role": "model", "parts": [part]}, "index": 0});
            if let Some(finish) = finish {
                candidate["finishReason"] = finish.into();
            }
            json!({
                "candidates": [candidate], "modelVersion": "fake", "responseId": "fake",
                "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 2, "totalTokenCount": 3},
            })
        };
        let event = |answer: Value| format!("data: {answer}\r\n\r\n");
        match tool {
            Some(name) => {
                self.answer = answer(
                    json!({"functionCall": {"name": name, "args": {}}}),
                    Some("STOP"),
                );
                self.content = vec![event(self.answer.clone())];
            }
            None => {
                self.answer = answer(json!({"text": "Hello there"}), Some("STOP"));
                self.content = WORDS[..2]
                    .iter()
                    .map(|word| event(answer(json!({"text": word}), None)))
                    .collect();
                self.end = vec![event(answer(json!({"text": WORDS[2]}), Some("STOP")))];
            }
        }
    }

    /// Named events: those before `head` begin the stream, those from `end` on end it.
    fn say(&mut self, events: &[Value], head: usize, end: usize) {
        let named = |event: &Value| {
            let name = event["type"].as_str().unwrap_or_default();
            format!("event: {name}\ndata: {event}\n\n")
        };
        self.head = events[..head].iter().map(named).collect();
        self.content = events[head..end].iter().map(named).collect();
        self.end = events[end..].iter().map(named).collect();
    }

    /// The event that says in the middle of a stream that it failed.
    pub(super) fn trouble_event(&self) -> String {
        let name = match self.kind {
            Kind::Messages => "event: error\n",
            _ => "",
        };
        format!("{name}{}", data(&self.trouble))
    }

    /// What it says with the status of an error.
    pub(super) fn refusal(&self, status: u16) -> Value {
        match self.kind {
            Kind::Messages | Kind::CountTokens => {
                let kind = match status {
                    400 => "invalid_request_error",
                    401 => "authentication_error",
                    404 => "not_found_error",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    _ => "api_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": "fake refusal"}})
            }
            Kind::Generate | Kind::StreamGenerate | Kind::CountContent => {
                json!({"error": {"code": status, "message": "fake refusal", "status": "FAKE"}})
            }
            _ => json!({"error": {"message": "fake refusal", "type": "fake"}}),
        }
    }
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// The name of the first tool, in any dialect.
fn tool_of(asked: &Value) -> Option<&str> {
    let tool = asked["tools"].get(0)?;
    let names = [
        tool.pointer("/function/name"),
        tool.pointer("/functionDeclarations/0/name"),
        tool.get("name"),
    ];
    names.into_iter().flatten().find_map(Value::as_str)
}
