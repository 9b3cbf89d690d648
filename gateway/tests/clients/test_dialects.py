"""The official clients of all dialects, unchanged, against the gateway."""

import threading

import pytest

from dialects import ALL, FAMILIES, PICTURE, WITH_TOOLS, Messages
from fake import Fake
from gateway import provider, route

LIMITS = 'limits = { first_byte = "300ms", whole = "300ms", idle = "300ms" }'


@pytest.fixture
def fake_of():
    """Makes providers that end with the test."""
    made = []

    def make():
        made.append(Fake())
        return made[-1]

    yield make
    for fake in made:
        fake.close()


@pytest.fixture
def client_of():
    made = []

    def make(kind, gateway, **more):
        made.append(kind(gateway, **more))
        return made[-1]

    yield make
    for client in made:
        client.close()


def gateway_over(gateway_of, kind, *fakes, more=""):
    names = "abc"[:len(fakes)]
    speaks = f'dialect = "{kind.dialect}"\n{LIMITS}\n{more}'
    providers = [provider(name, fake.base_url, speaks) for name, fake in zip(names, fakes)]
    return gateway_of("".join(providers) + route("m", *names))


@pytest.mark.parametrize("kind", ALL)
def test_answers_and_streams(kind, gateway_of, fake_of, client_of):
    fake = fake_of()
    gateway = gateway_over(gateway_of, kind, fake)
    client = client_of(kind, gateway)
    assert client.ask() == "Hello there"
    assert list(client.stream()) == ["Hello", " ", "there"]
    gateway.until("a", lambda breaker: breaker["totals"]["successes"] == 2)


@pytest.mark.parametrize("kind", WITH_TOOLS)
def test_tools_and_pictures(kind, gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, fake))
    assert client.tool() == "look_up"
    client.look()
    # Google's client writes base64 in its other alphabet.
    assert PICTURE in str(fake.seen["body"]).replace("-", "+").replace("_", "/")


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("mood", ["dead", "hanging", "refusing 429", "refusing 529", "refusing 401", "empty",
                                  "error-first", "html"])
def test_what_fails_before_its_first_content_is_never_seen(kind, mood, gateway_of, fake_of, client_of):
    ill, well = fake_of(), fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, ill, well))
    if mood == "dead":
        ill.close()
    else:
        ill.set(mood)
    assert client.ask() == "Hello there"
    assert list(client.stream()) == ["Hello", " ", "there"]


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("mood", ["cutting", "unfinished", "stalling", "error-last"])
def test_a_stream_that_breaks_is_raised_after_what_came(kind, mood, gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, fake))
    fake.set(mood)
    seen = []
    with pytest.raises(kind.broken):
        for piece in client.stream():
            seen.append(piece)
    assert "".join(seen).startswith("Hello")


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("mood,status", [("hanging", 504), ("refusing 500", 502), ("refusing 529", 502), ("empty", 502),
                                         ("refusing 400", 400), ("refusing 404", 404), ("refusing 401", 502)])
def test_with_nobody_left_the_client_raises_an_error_that_it_knows(kind, mood, status, gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, fake))
    fake.set(mood)
    for ask in (client.ask, lambda: list(client.stream())):
        with pytest.raises(kind.refused) as caught:
            ask()
        raised = caught.value
        code = getattr(raised, "status_code", None) or raised.code
        assert code == (503 if mood == "refusing 401" and ask != client.ask else status)
        assert raised.message


@pytest.mark.parametrize("kind", ALL)
def test_a_limit_is_known_as_one(kind, gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, fake))
    fake.set("refusing 429 1")
    with pytest.raises(kind.limited) as caught:
        client.ask()
    assert "fake refusal" in caught.value.message


@pytest.mark.parametrize("kind", ALL)
def test_a_client_that_tries_again_is_answered(kind, gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(kind, gateway_over(gateway_of, kind, fake, more='breaker = { min_calls = 20 }'), retries=2)
    fake.set("refusing 429 1")
    threading.Timer(0.5, lambda: fake.set("well")).start()
    assert client.ask() == "Hello there"
    assert fake.seen["calls"] >= 2


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_wrong_key_is_refused_and_the_right_one_stays_here(kind, gateway_of, fake_of, client_of):
    fake = fake_of()
    gateway = gateway_of(
        'client_keys = [{ env = "CLIENT_KEY" }]\n'
        + provider("a", fake.base_url, f'dialect = "{kind.dialect}"\napi_key = {{ env = "THEIR_KEY" }}')
        + route("m", "a"), env={"CLIENT_KEY": "right", "THEIR_KEY": "theirs"})
    with pytest.raises(kind.refused) as caught:
        client_of(kind, gateway, key="wrong").ask()
    assert (getattr(caught.value, "status_code", None) or caught.value.code) == 401
    assert client_of(kind, gateway, key="right").ask() == "Hello there"
    headers = fake.seen["headers"]
    assert headers[kind.key_header].endswith("theirs")
    assert "right" not in str(headers)


def test_tokens_are_counted_and_models_listed(gateway_of, fake_of, client_of):
    fake = fake_of()
    client = client_of(Messages, gateway_over(gateway_of, Messages, fake)).client
    assert client.messages.count_tokens(model="m", messages=Messages.asked).input_tokens == 7
    assert [model.id for model in client.models.list()] == ["m"]
    assert client.models.retrieve("m").id == "m"
    assert client.beta.messages.create(model="m", max_tokens=9, messages=Messages.asked, betas=["x"]).content
    assert fake.seen["headers"]["anthropic-beta"] == "x"
