"""The official client, unchanged, against the gateway."""

import asyncio

import openai
import pytest

from gateway import PATIENCE, provider, route

MESSAGES = [{"role": "user", "content": "Hello"}]


@pytest.fixture
def gateway(gateway_of, upstream):
    return gateway_of(provider("a", upstream.base_url, "breaker = { min_calls = 5, open_wait = \"60s\" }")
                      + route("chat", "a"))


def client_of(gateway, key="any", kind=openai.OpenAI):
    return kind(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0, timeout=PATIENCE)


@pytest.fixture
def client(gateway):
    with client_of(gateway) as client:
        yield client


def test_a_chat_completion(client, upstream):
    answer = client.chat.completions.create(
        model="chat", messages=MESSAGES, temperature=0.5, extra_body={"field_of_tomorrow": {"kept": True}})
    assert answer.choices[0].message.content == "Hello there"
    assert answer.choices[0].finish_reason == "stop"
    (request,) = upstream.requests
    assert request["body"]["field_of_tomorrow"] == {"kept": True}
    assert request["body"]["temperature"] == 0.5


def test_a_streamed_chat_completion(client, gateway):
    stream = client.chat.completions.create(model="chat", messages=MESSAGES, stream=True)
    chunks = list(stream)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello there"
    assert chunks[-1].choices[0].finish_reason == "stop"
    gateway.until("a", lambda breaker: breaker["totals"]["successes"] == 1)


def test_the_async_client_streams_too(gateway):
    async def read():
        async with client_of(gateway, kind=openai.AsyncOpenAI) as client:
            stream = await client.chat.completions.create(model="chat", messages=MESSAGES, stream=True)
            return "".join([chunk.choices[0].delta.content or "" async for chunk in stream])

    assert asyncio.run(read()) == "Hello there"


def test_embeddings(client):
    answer = client.embeddings.create(model="chat", input="Hello", encoding_format="float")
    assert answer.data[0].embedding == [0.25, -0.5]


def test_the_list_of_models(client):
    assert [model.id for model in client.models.list()] == ["chat"]


def test_an_unknown_model_is_not_found(client, upstream):
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="unheard-of", messages=MESSAGES)
    assert caught.value.code == "model_not_found"
    assert "unheard-of" in caught.value.message
    assert upstream.requests == []


def test_a_wrong_key_is_refused(gateway_of, upstream):
    gateway = gateway_of('client_keys = [{ env = "CLIENT_KEY" }]\n' + provider("a", upstream.base_url)
                         + route("chat", "a"), env={"CLIENT_KEY": "right"})
    with client_of(gateway, "wrong") as client, pytest.raises(openai.AuthenticationError):
        client.chat.completions.create(model="chat", messages=MESSAGES)
    with client_of(gateway, "right") as client:
        assert client.chat.completions.create(model="chat", messages=MESSAGES).choices
    # The client's key is the gateway's affair, not the provider's.
    assert all("right" not in str(request["headers"]) for request in upstream.requests)


@pytest.mark.parametrize("status, error", [
    (400, openai.BadRequestError),
    (422, openai.UnprocessableEntityError),
])
def test_a_request_the_provider_refuses_is_the_clients_fault(client, gateway, upstream, status, error):
    upstream.behaviour = status
    for _ in range(10):
        with pytest.raises(error) as caught:
            client.chat.completions.create(model="chat", messages=MESSAGES)
    assert caught.value.message.endswith(f"refused with {status}") or f"refused with {status}" in str(caught.value)
    assert gateway.breaker("a")["state"] == "closed"


def test_a_rate_limit_keeps_its_shape_and_its_wait(client, upstream):
    upstream.behaviour = 429
    upstream.retry_after = 7
    with pytest.raises(openai.RateLimitError) as caught:
        client.chat.completions.create(model="chat", messages=MESSAGES)
    assert caught.value.response.headers["retry-after"] == "7"


def test_when_nothing_is_left_the_error_says_what_was_tried_and_when_to_return(client, gateway, upstream):
    upstream.behaviour = 500
    for _ in range(5):
        with pytest.raises(openai.InternalServerError):
            client.chat.completions.create(model="chat", messages=MESSAGES)
    gateway.until("a", lambda breaker: breaker["state"] == "open")
    asked = len(upstream.requests)
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model="chat", messages=MESSAGES)
    assert caught.value.status_code == 503
    assert 1 <= int(caught.value.response.headers["retry-after"]) <= 60
    assert caught.value.body["tried"][0]["provider"] == "a"
    assert len(upstream.requests) == asked, "an open provider is not asked"


def test_a_stream_closed_early_by_the_client_frees_all_and_judges_nothing(client, gateway, upstream):
    upstream.behaviour = "hold"
    stream = client.chat.completions.create(model="chat", messages=MESSAGES, stream=True)
    assert next(iter(stream)).choices[0].delta.content == "Hello"
    assert gateway.breaker("a")["in_flight"] == 1
    stream.close()
    breaker = gateway.until("a", lambda breaker: breaker["in_flight"] == 0)
    assert upstream.client_gone.wait(PATIENCE), "the provider is let go too"
    assert breaker["counts"]["samples"] == 0
    assert breaker["totals"]["ignored"] == 1


def test_a_stream_that_breaks_off_is_an_error_and_a_failure(client, gateway, upstream):
    upstream.behaviour = "cut"
    received = []
    with pytest.raises(openai.APIError):
        for chunk in client.chat.completions.create(model="chat", messages=MESSAGES, stream=True):
            received.append(chunk.choices[0].delta.content)
    assert received == ["Hello"]
    gateway.until("a", lambda breaker: breaker["counts"]["failures"] == 1)


def test_a_stream_with_numbered_events_and_comments_is_read(client, upstream):
    upstream.behaviour = "numbered"
    chunks = client.chat.completions.create(model="chat", messages=MESSAGES, stream=True)
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks) == "Hello there"


def test_the_next_provider_answers_when_the_first_fails(gateway_of, upstream, provider_of):
    other = provider_of()
    upstream.behaviour = 500
    gateway = gateway_of(provider("a", upstream.base_url) + provider("b", other.base_url) + route("chat", "a", "b"))
    with client_of(gateway) as client:
        answer = client.chat.completions.create(model="chat", messages=MESSAGES)
    assert answer.choices[0].message.content == "Hello there"
    assert len(upstream.requests) == len(other.requests) == 1
