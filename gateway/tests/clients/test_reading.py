"""Whether everyone can read and reach the dashboard, and nothing else gets onto it."""

import urllib.request

import pytest
from selenium.webdriver.common.keys import Keys

from gateway import PATIENCE, ask, trip


@pytest.mark.parametrize("name, width, height, scheme", [
    ("light", 1280, 1000, "light"),
    ("dark", 1280, 1000, "dark"),
    ("narrow", 320, 1800, "light"),
    ("narrow-dark", 320, 1800, "dark"),
])
def test_it_can_be_read(page, gateway, upstream, contrast, name, width, height, scheme):
    page.size(width, height)
    page.scheme(scheme)
    ask(gateway, 9)
    upstream.behaviour = 429
    ask(gateway, 3)
    page.operate("b", "Observe only", "new thresholds")
    page.until_state("b", "observe-only")
    page.wait(lambda: "3 of 12" in page.text(f"{page.card('a')} .rules li span"))
    page.expand("a")
    page.picture(f"{name}-closed")
    assert page.script(contrast) == []
    trip(gateway, upstream)
    page.until_state("a", "open")
    assert page.script(contrast) == []
    assert page.script("return document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
    page.picture(f"{name}-open")
    page.press("a", "Force open")
    assert page.script(contrast) == []
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


def test_all_is_reached_by_keyboard(page):
    # A card's name shows what is behind it.
    for name in ["a", "b"]:
        page.script("document.querySelector(arguments[0]).focus()", f"{page.card(name)} h3 button")
        page.driver.switch_to.active_element.send_keys(Keys.ENTER)
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
    page.expand("b")
    page.script("document.querySelector(arguments[0]).open = true", f"{page.card('b')} details")
    page.script("document.querySelector(arguments[0]).focus()", f"{page.card('b')} [data-action=disable]")
    for count in range(1, 4):
        ask(gateway, 1, "chat")
        page.wait(lambda: f"0 of {count} (" in page.text(f"{page.card('a')} .rules li span"))
        assert page.focused() == "Disable…"
    assert page.find(f"{page.card('b')} details").get_attribute("open")


def test_text_from_outside_stays_text(page):
    evil = "<img src=x onerror=document.title='broken'><script>document.title='broken'</script>"
    page.operate("a", "Close", evil)
    page.wait(lambda: page.timeline() != [] and evil in page.timeline()[0])
    assert page.all("#timeline img, #timeline script") == []
    assert page.driver.title == "● all well · cutout gateway"


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
