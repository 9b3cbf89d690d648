"""Whether someone who is woken up sees within seconds what is broken, why, since when, and what is left."""

import urllib.error

import pytest

from browser import Page
from gateway import ask, provider, route

#: Turns the text after it around, rings a bell.
REASON = "invoice \u202egnp.exe not paid\a, ask Ann"

BREAKER = 'breaker = { min_calls = 4, window = { count = 20 }, timeout_ratio = 0.5, open_wait = "1h" }'


@pytest.fixture
def seven(gateway_of, provider_of):
    """Seven providers: one dead, one hanging, one whose key is refused, one forced open, three that are well."""
    made = {name: provider_of() for name in ["aleph", "dead", "hanging", "held", "keyless", "mistral", "zulu"]}
    more = {"hanging": BREAKER + '\nlimits = { first_byte = "100ms", whole = "100ms" }'}
    gateway = gateway_of(
        "".join(provider(name, upstream.base_url, more.get(name, BREAKER)) for name, upstream in made.items())
        + route("chat", "dead", "hanging", "mistral", "aleph")
        + route("small", "keyless", "zulu")
        + route("embed", "held"))
    made["dead"].close()
    made["hanging"].behaviour = "hang"
    made["keyless"].behaviour = 401
    ask(gateway, 12, "chat")
    ask(gateway, 3, "small")
    gateway.operate("held", "force_open", REASON)
    ask(gateway, 2, "embed")
    for name in ["dead", "hanging"]:
        gateway.until(name, lambda breaker: breaker["state"] == "open")
    yield gateway
    made["hanging"].release.set()


@pytest.fixture
def night(driver, seven):
    driver.get_log("browser")
    page = Page(driver, seven)
    page.live()
    yield page
    assert page.errors() == []
    driver.get("about:blank")


def test_the_first_line_and_the_tab_say_what_is_broken(night):
    assert night.driver.title == "▲ embed down, 4 of 7 out · cutout gateway"
    line = night.text("#verdict")
    assert line.startswith("Down: nobody is left for embed. 4 of 7 providers out: dead (unreachable), hanging (")
    assert "keyless (key refused)" in line
    assert "held (forced open)" in line
    assert "17 requests in the last minute, 2 failed" in line


def test_the_broken_come_first_with_their_evidence(night):
    assert night.order() == ["dead", "hanging", "keyless", "held", "aleph", "mistral", "zulu"]
    dead = night.evidence("dead")
    assert dead["Tripped by"].startswith("failure ratio reached: 4 of 4 calls failed (100 %), the rule asks for a share of 0.5")
    assert dead["Last error"].startswith("unreachable (")
    assert " ago" in dead["Since"]
    hanging = night.evidence("hanging")
    assert "4 of them timed out" in hanging["Tripped by"]
    assert "limit of 100ms passed" in hanging["Last error"]
    keyless = night.evidence("keyless")
    assert keyless["Left out"] == "key refused: status 401, refused with 401"
    assert " ago" in keyless["Since"]
    # It is there without a click, and what is well takes a line.
    assert night.find(f"{night.card('dead')} .evidence").is_displayed()
    assert not night.find(f"{night.card('zulu')} .more").is_displayed()
    assert night.find(night.card("zulu")).size["height"] < 60


def test_evidence_stays_until_the_breaker_closes(night, seven):
    before = night.evidence("dead")["Tripped by"]
    seven.operate("dead", "force_open", "for a moment", seconds=0.05)
    night.until_state("dead", "half-open")
    assert night.evidence("dead")["Tripped by"] == before
    seven.operate("dead", "close", "over")
    night.until_state("dead", "closed")
    night.wait(lambda: night.evidence("dead") == {})


def test_each_route_says_who_serves_it_and_what_is_left(night):
    routes = night.script("""
        return [...document.querySelectorAll(".route")].map((route) =>
            ["h3", ".left", ".serving"].map((part) => route.querySelector(part).textContent.replaceAll("\\u00a0", " ")))""")
    # Those with the least left first.
    assert routes == [
        ["embed", "▲ nobody left of 1", "Requests fail until a provider is back; 2 requests failed."],
        ["chat", "2 of 4 left", "mistral: chat serves all of 12 requests in the last minute."],
        ["small", "1 of 2 left", "zulu: small serves all of 3 requests in the last minute."],
    ]


def test_signs_that_cannot_be_seen_are_written_out(night):
    assert night.evidence("held")["Reason"] == "“invoice <U+202E>gnp.exe not paid<U+0007>, ask Ann”"
    text = night.script("return document.documentElement.innerText")
    assert not any(sign in text for sign in "\u202e\a")


def test_a_gateway_that_has_gone_is_in_sight_wherever_one_has_scrolled(night, seven):
    night.size(320, 640)
    night.script("scrollTo(0, document.documentElement.scrollHeight)")
    seven.kill()
    night.wait(lambda: night.text("#connection").startswith("not connected"))
    top, bottom = night.script("""
        const box = document.getElementById("connection").getBoundingClientRect();
        return [box.top, box.bottom]""")
    assert 0 <= top < bottom <= 640
    assert night.script("return scrollY") > 0
    assert night.driver.title == "✕ gateway gone · cutout gateway"
    assert "what is shown is of" in night.text("#connection")
    night.picture("night-gone")


def test_a_phone_shows_it_in_few_screens(driver, seven):
    page = Page(driver, seven)
    page.size(320, 640)
    driver.refresh()
    page.live()
    assert page.height() < 2600, "four screens"
    # What is broken and what is left of the routes is on the first two.
    places = page.script("""
        return [...document.querySelectorAll("#verdict, .route, article.breaker")].map((part) => part.getBoundingClientRect().bottom)""")
    assert all(bottom < 1280 for bottom in places[:4])
    assert page.script("return document.documentElement.scrollWidth <= innerWidth")
    driver.get("about:blank")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name, width, height", [("desk", 1280, 900), ("phone", 320, 640)])
def test_pictures_of_the_night(driver, seven, contrast, name, width, height, scheme):
    page = Page(driver, seven)
    page.scheme(scheme)
    page.size(width, height)
    driver.refresh()
    page.live()
    assert page.script(contrast) == []
    page.picture(f"night-{name}-{scheme}", whole=True)
    page.expand("dead")
    page.expand("zulu")
    assert page.script(contrast) == []
    page.picture(f"night-{name}-{scheme}-expanded", whole=True)
    page.press("held", "Close")
    assert page.script(contrast) == []
    page.picture(f"night-{name}-{scheme}-dialog")
    driver.get("about:blank")


def test_what_is_asked_of_seconds_is_more_than_none(seven):
    with pytest.raises(urllib.error.HTTPError) as refused:
        seven.operate("zulu", "force_open", "x", seconds=0)
    assert refused.value.code == 400
