"""The dashboard in a real browser, against a gateway whose providers fail on demand."""

import json
import urllib.error
import urllib.request

import pytest
from selenium.webdriver.common.keys import Keys

from browser import Page, start
from gateway import PATIENCE, provider, route, until

BREAKER = 'breaker = { min_calls = 4, window = { count = 20 }, open_wait = "1h" }'


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    driver = start(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture
def upstream(provider_of):
    return provider_of()


@pytest.fixture
def gateway(gateway_of, upstream, provider_of):
    return gateway_of('[store]\npath = "health.sqlite"\n'
                      + provider("a", upstream.base_url, BREAKER)
                      + provider("b", provider_of().base_url, BREAKER)
                      + route("chat", "a", "b") + route("alone", "a"))


@pytest.fixture
def page(driver, gateway):
    driver.get_log("browser")
    page = Page(driver, gateway)
    page.live()
    yield page
    assert page.errors() == []
    # A page that is left open would go on asking the next gateway at this address.
    driver.get("about:blank")


def ask(gateway, times=1, model="alone"):
    body = json.dumps({"model": model, "messages": [{"role": "user", "content": "Hello"}]}).encode()
    for _ in range(times):
        request = urllib.request.Request(f"{gateway.url}/v1/chat/completions", body, {"content-type": "application/json"})
        try:
            urllib.request.urlopen(request, timeout=PATIENCE).read()
        except urllib.error.HTTPError as error:
            error.read()


def trip(gateway, upstream):
    upstream.behaviour = 500
    while gateway.breaker("a")["state"] == "closed":
        ask(gateway)
    gateway.until("a", lambda breaker: breaker["state"] == "open")


def test_it_shows_each_provider_and_the_outcomes_in_its_window(page, gateway, upstream):
    assert page.driver.title == "cutout gateway"
    assert page.state("a") == page.state("b") == "closed"
    ask(gateway, 3)
    upstream.behaviour = 500
    ask(gateway)
    upstream.behaviour = "ok"
    ask(gateway, 1)
    label = f"{page.card('a')} svg.window"
    page.wait(lambda: page.find(label).get_attribute("aria-label")
              == "Window: 5 of 20 outcomes, 1 failures, 0 of them timeouts, 0 slow")
    drawn = page.script("""
        return Object.fromEntries([...document.querySelectorAll(arguments[0] + " path")]
            .map((path) => [path.getAttribute("class"), path.getAttribute("d").split("z").length - 1]))""", label)
    assert drawn == {"space": 15, "success": 4, "slow": 0, "failure": 1, "timeout": 0}
    assert page.text(f"{page.card('a')} .rules li span") == "failures: 1 of 5 (20 %)"


def test_a_time_window_is_drawn_as_its_buckets(driver, gateway_of, upstream):
    breaker = 'breaker = { min_calls = 40, window = { time = "60s", buckets = 6 } }'
    gateway = gateway_of(provider("a", upstream.base_url, breaker) + route("alone", "a"))
    page = Page(driver, gateway)
    page.live()
    ask(gateway, 3)
    upstream.behaviour = 500
    ask(gateway, 1)
    label = f"{page.card('a')} svg.window"
    page.wait(lambda: page.find(label).get_attribute("aria-label").replace("\xa0", " ")
              == "Window: 4 outcomes of the last 1 min 0 s, 1 failures, 0 of them timeouts, 0 slow")
    # All within one bucket of ten seconds, or over two.
    paths = {path.get_attribute("class"): path.get_attribute("d") for path in page.all(f"{label} path")}
    assert paths["space"].count("z") in (4, 5)
    assert paths["failure"].count("z") == 1
    assert page.find(label).get_dom_attribute("viewBox") == "0 0 60 20"
    page.picture("time-window")
    driver.get("about:blank")


def test_the_demo_trips_and_recovers_by_itself(driver, gateway_of):
    page = Page(driver, gateway_of(None))
    page.live()
    assert len(page.all("article.breaker")) == 3
    page.wait(lambda: any("closed → open" in item for item in page.timeline()))
    page.picture("demo-open")
    page.wait(lambda: any("half-open → closed" in item for item in page.timeline()))
    page.picture("demo")
    assert page.errors() == []
    driver.get("about:blank")


def test_it_sees_a_provider_trip_and_recover(page, gateway, upstream):
    trip(gateway, upstream)
    page.until_state("a", "open")
    page.wait(lambda: page.timeline() != [])
    assert "closed → open" in page.timeline()[0]
    assert "failure ratio reached" in page.timeline()[0]
    assert page.text("#announcer") == "a: closed → open, failure ratio reached"
    assert page.meaning("a").startswith("failure ratio reached; next probe in")
    shown = page.meaning("a")
    page.wait(lambda: page.meaning("a") != shown)

    upstream.behaviour = "ok"
    page.operate("a", "Force open", "until the next second", 0.05)
    page.until_state("a", "half-open")
    ask(gateway)
    page.until_state("a", "closed")
    page.wait(lambda: "half-open → closed" in page.timeline()[0])


def test_an_operator_closes_disables_and_observes_and_the_reason_is_kept(page, gateway, upstream):
    trip(gateway, upstream)
    for label, reason, state in [
        ("Close", "it works again", "closed"),
        ("Disable", "maintenance", "disabled"),
        ("Observe only", "new thresholds", "observe-only"),
        ("Force open", "the bill is not paid", "forced open"),
    ]:
        page.operate("a", label, reason)
        page.until_state("a", state)
        page.wait(lambda: reason in page.timeline()[0])
        page.wait(lambda: not page.dialog_is_open())
        assert page.focused().startswith(label), "the focus is back where it was"
        assert gateway.breaker("a")["state"] == state
    assert page.meaning("a") == "rejects all calls until told otherwise"
    assert page.state("b") == "closed"


def test_a_forced_opening_counts_down(page):
    page.operate("a", "Force open", "lunch", 3600)
    page.until_state("a", "forced open")
    assert page.meaning("a").startswith("rejects all calls, half-open in 59 min")


def test_no_reason_no_action_and_escape_cancels(page, gateway):
    page.operate("a", "Disable", "")
    assert page.dialog_is_open()
    page.find("#operate-reason").send_keys("   ")
    page.find("#operate-submit").click()
    page.wait(lambda: page.text("#operate-error").startswith("Not done: "))
    page.find("#operate-reason").send_keys(Keys.ESCAPE)
    page.wait(lambda: not page.dialog_is_open())
    assert gateway.breaker("a")["generation"] == 0


def test_an_action_that_fails_says_why(page, gateway):
    page.press("a", "Disable")
    gateway.kill()
    page.find("#operate-reason").send_keys("too late")
    page.find("#operate-submit").click()
    page.wait(lambda: page.text("#operate-error").startswith("Not done: "))
    assert page.dialog_is_open()
    assert page.find("#operate-submit").is_enabled()


def test_a_probe_is_sent_and_its_result_shown(page, upstream):
    result = f"{page.card('a')} .result"
    page.press("a", "Send a probe")
    page.wait(lambda: page.text(result).startswith("probe answered in"))
    assert len(upstream.requests) == 1
    upstream.behaviour = 500
    page.press("a", "Send a probe")
    page.wait(lambda: page.text(result).startswith("probe failed after"))


def test_the_queue_is_reordered_by_keyboard_and_the_focus_stays(page, gateway):
    assert page.queue()[-2:] == ["a: chat", "b: chat"]
    page.script("document.querySelector('[aria-label=\"Queue of chat\"] [aria-label=\"Move b: chat up\"]').focus()")
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait(lambda: page.queue()[-2:] == ["b: chat", "a: chat"])
    assert page.focused() == "Move b: chat up"
    queue = next(route for route in gateway.state()["routes"] if route["model"] == "chat")["queue"]
    assert [entry["provider"] for entry in queue] == ["b", "a"]
    # It is first now: pressing again does nothing, and says so to a screen reader.
    assert page.script("return document.activeElement.getAttribute('aria-disabled')") == "true"
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert page.focused() == "Move b: chat down"


def test_all_is_reached_by_keyboard(page):
    reached = set()
    for _ in range(60):
        page.driver.switch_to.active_element.send_keys(Keys.TAB)
        reached.add(page.script("""
            const at = document.activeElement;
            return (at.closest("article")?.querySelector("h3").textContent ?? "") + "/" + (at.getAttribute("aria-label") ?? at.textContent.trim())"""))
    for button in ["Force open…", "Close…", "Disable…", "Observe only…", "Send a probe"]:
        assert f"a/{button}" in reached
        assert f"b/{button}" in reached
    assert "chat/Move a: chat down" in reached


def test_focus_and_open_details_stay_over_updates(page, gateway):
    page.script("document.querySelector(arguments[0]).open = true", f"{page.card('b')} details")
    page.script("document.querySelector(arguments[0]).focus()", f"{page.card('b')} [data-action=disable]")
    for count in range(1, 4):
        ask(gateway, 1, "chat")
        page.wait(lambda: f"0 of {count} (" in page.text(f"{page.card('a')} .rules li span"))
        assert page.focused() == "Disable…"
    assert page.find(f"{page.card('b')} details").get_attribute("open")


def test_older_transitions_come_from_the_database(page, gateway, gateway_of):
    for count in range(300):
        gateway.operate("b", "disable", f"number {count}")
    until(lambda: gateway.state()["store"]["transitions"], lambda written: written == 300)
    gateway.stop()
    gateway_of(config_of(gateway), listen=gateway.address)
    page.driver.refresh()
    page.live()
    assert len(page.timeline()) == 64
    page.find("#older").click()
    page.wait(lambda: page.text("#older-result") == "100 more")
    reasons = [line for item in page.timeline() for line in item.split("\n") if "number" in line]
    assert reasons == [f"operator action: number {count}" for count in range(299, 299 - 164, -1)]
    page.find("#older").click()
    page.wait(lambda: len(page.timeline()) == 264)
    page.find("#older").click()
    page.wait(lambda: len(page.timeline()) == 300)
    page.find("#older").click()
    page.wait(lambda: page.text("#older-result") == "there are no older ones")


def test_text_from_outside_stays_text(page):
    evil = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
    page.operate("a", "Close", evil)
    page.wait(lambda: page.timeline() != [] and evil in page.timeline()[0])
    assert page.all("#timeline img, #timeline script") == []
    assert page.driver.title == "cutout gateway"


def test_the_policy_lets_nothing_from_elsewhere_in(page, gateway):
    with urllib.request.urlopen(f"{gateway.url}/", timeout=PATIENCE) as answer:
        policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    names = page.script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert names and all(name.startswith(gateway.url) for name in names)
    assert page.script("""
        const script = document.createElement("div");
        try { script.innerHTML = "<b>x</b>"; return "allowed" } catch { return "refused" }""") == "refused"
    page.driver.get_log("browser")


def test_a_restart_is_noticed_and_the_state_resumes(page, gateway, gateway_of, upstream):
    trip(gateway, upstream)
    page.until_state("a", "open")
    # What was shown was told by the breaker; what is stored follows within a moment.
    until(lambda: gateway.state()["store"]["transitions"], lambda written: written == 1)
    gateway.kill()
    page.wait(lambda: page.text("#connection").startswith("not connected"))
    gateway_of(config_of(gateway), listen=gateway.address)
    page.live()
    assert page.state("a") == "open"
    assert "closed → open" in page.timeline()[0]
    assert page.meaning("a").startswith("failure ratio reached; next probe in 59 min")


def test_a_damaged_database_is_said_and_the_gateway_serves(driver, gateway_of, upstream, tmp_path):
    (tmp_path / "health.sqlite").write_text("no database at all" * 100)
    gateway = gateway_of('[store]\npath = "health.sqlite"\n' + provider("a", upstream.base_url, BREAKER)
                         + route("alone", "a"))
    page = Page(driver, gateway)
    page.live()
    assert "Nothing is being saved" in page.text("#trouble")
    assert "move it away" in page.text("#trouble")
    ask(gateway)
    assert gateway.breaker("a")["counts"]["samples"] == 1
    page.picture("damaged-database")
    driver.get("about:blank")


def config_of(gateway):
    return (gateway.folder / "gateway.toml").read_text().split("\n", 2)[2]


def test_a_token_is_asked_for_until_it_is_right(driver, gateway_of, upstream):
    gateway = gateway_of('admin_token = { env = "ADMIN_TOKEN" }\n' + provider("a", upstream.base_url)
                         + route("chat", "a"), env={"ADMIN_TOKEN": "right"})
    page = Page(driver, gateway)
    page.wait(lambda: page.find("#login").get_attribute("open") is not None)
    assert page.all("article") == []
    page.find("#login-token").send_keys("wrong" + Keys.ENTER)
    page.wait(lambda: page.text("#login-error") == "This token was refused.")
    page.find("#login-token").send_keys("right" + Keys.ENTER)
    page.live()
    page.operate("a", "Disable", "with the token")
    page.until_state("a", "disabled")
    # It stays for the tab.
    driver.refresh()
    page.live()
    page.script("sessionStorage.clear()")
    driver.get("about:blank")


CONTRAST = """
    const luminance = (color) => {
      const [r, g, b] = color.match(/[\\d.]+/g).map(Number)
        .map((value) => value / 255).map((value) => value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
      for (let at = element; at; at = at.parentElement) {
        const color = getComputedStyle(at).backgroundColor;
        if (!/, 0\\)$/.test(color)) return color;
      }
      return "rgb(255, 255, 255)";
    };
    const poor = [];
    for (const element of document.querySelectorAll("body *")) {
      const text = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!text || !element.checkVisibility() || element.closest("[aria-disabled], .unseen, script")) continue;
      const [a, b] = [luminance(getComputedStyle(element).color), luminance(ground(element))].sort((x, y) => y - x);
      const ratio = (a + 0.05) / (b + 0.05);
      if (ratio < 4.5) poor.push([element.textContent, ratio]);
    }
    return poor;
"""


@pytest.mark.parametrize("name, width, height, scheme", [
    ("light", 1280, 1000, "light"),
    ("dark", 1280, 1000, "dark"),
    ("narrow", 320, 1800, "light"),
    ("narrow-dark", 320, 1800, "dark"),
])
def test_it_can_be_read(page, gateway, upstream, name, width, height, scheme):
    page.size(width, height)
    page.scheme(scheme)
    ask(gateway, 9)
    upstream.behaviour = 429
    ask(gateway, 3)
    page.operate("b", "Observe only", "new thresholds")
    page.until_state("b", "observe-only")
    page.wait(lambda: "3 of 12" in page.text(f"{page.card('a')} .rules li span"))
    page.picture(f"{name}-closed")
    assert page.script(CONTRAST) == []
    trip(gateway, upstream)
    page.until_state("a", "open")
    assert page.script(CONTRAST) == []
    assert page.script("return document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
    page.picture(f"{name}-open")
    page.press("a", "Force open")
    assert page.script(CONTRAST) == []
    page.picture(f"{name}-dialog")


def test_each_control_has_a_name_and_each_id_is_one(page):
    nameless = page.script("""
        return [...document.querySelectorAll("button, input, svg[role=img]")].filter((element) =>
            element.checkVisibility() && !(element.getAttribute("aria-label") || element.textContent.trim() || element.labels?.length)).length""")
    assert nameless == 0
    twice = page.script("""
        const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
        return ids.filter((id, index) => ids.indexOf(id) !== index)""")
    assert twice == []
    assert page.script("return document.documentElement.lang") == "en"
    assert page.script("return [...document.querySelectorAll('h1, h2, h3')].map((h) => h.tagName)[0]") == "H1"
