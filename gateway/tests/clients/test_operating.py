"""What an operator does on the dashboard, by mouse and by keyboard."""

from selenium.webdriver.common.keys import Keys

from browser import Page
from gateway import ask, provider, route, trip


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
    assert page.meaning("a") == "An operator has all calls rejected, until told otherwise."
    assert page.evidence("a")["Reason"] == "“the bill is not paid”"
    assert page.state("b") == "closed"


def test_a_forced_opening_counts_down(page):
    page.operate("a", "Force open", "lunch", 3600)
    page.until_state("a", "forced open")
    assert page.meaning("a").startswith("An operator has all calls rejected; half-open in 59 min")


def test_no_reason_no_action_and_escape_cancels(page, gateway):
    page.operate("a", "Disable", "")
    assert page.dialog_is_open()
    page.find("#operate-reason").send_keys("   ")
    page.find("#operate-submit").click()
    page.wait(lambda: page.text("#operate-error").startswith("Not done: "))
    page.find("#operate-reason").send_keys(Keys.ESCAPE)
    page.wait(lambda: not page.dialog_is_open())
    assert gateway.breaker("a")["generation"] == 0


def test_a_stray_key_does_nothing_and_the_dialog_says_what_will_happen(page, gateway):
    page.press("a", "Force open")
    page.wait(page.dialog_is_open)
    assert page.focused() == "Cancel"
    assert page.text("#operate-submit") == "Reject all calls to a"
    assert "Nobody else is left for alone" in page.text("#operate-effect")
    page.find("#operate-reason").send_keys("an experiment" + Keys.ENTER)
    assert page.dialog_is_open(), "Enter in a field leads to the button and does not press it"
    assert page.focused() == "Reject all calls to a"
    page.find("#operate-seconds").send_keys("0")
    page.find("#operate-submit").click()
    assert page.dialog_is_open() and not page.script("return document.getElementById('operate-seconds').validity.valid")
    page.find("[data-cancel]").send_keys(Keys.ENTER)
    page.wait(lambda: not page.dialog_is_open())
    assert gateway.breaker("a")["generation"] == 0
    page.press("a", "Close")
    assert page.text("#operate-submit") == "Admit calls to a again"
    page.find("[data-cancel]").click()
    page.press("a", "Disable")
    assert page.text("#operate-submit") == "Switch the breaker of a off"


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


def test_a_move_that_someone_else_forestalled_is_said(page):
    # As the gateway answers to an old version; the page's own is never more than a second old.
    page.script("""
        const real = window.fetch;
        window.fetch = (path, options) => path.endsWith("/move")
            ? Promise.resolve(new Response('{"error":{"message":"the version is old"}}', { status: 409 }))
            : real(path, options);""")
    page.find('[aria-label="Move b: chat up"]').click()
    page.wait(lambda: any("someone else" in error.text for error in page.all(".route .error")))
    assert page.queue()[-2:] == ["a: chat", "b: chat"]


def test_what_would_have_opened_is_told_from_what_did(page, gateway, upstream):
    page.operate("a", "Observe only", "first week")
    page.until_state("a", "observe-only")
    upstream.behaviour = 500
    ask(gateway, 4)
    page.wait(lambda: "would have opened" in page.timeline()[0])
    assert page.state("a") == "observe-only"


def test_a_breaker_with_a_strange_name_is_operated_too(driver, gateway_of, upstream):
    model = "<b>x</b>/y z?#%2F\\"
    gateway = gateway_of(provider("a", upstream.base_url, 'scope = "model"') + route(model.replace("\\", "\\\\"), "a"))
    page = Page(driver, gateway)
    page.live()
    (card,) = page.all("article.breaker")
    assert card.find_element("css selector", "h3").text == f"a/{model}"
    card.find_element("css selector", "h3 button").click()
    card.find_element("css selector", "[data-action=disable]").click()
    page.find("#operate-reason").send_keys("strange" + Keys.ENTER)
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    page.wait(lambda: card.get_attribute("data-state") == "disabled")
    assert page.queue() == [f"a: {model}"]
    assert page.errors() == []
    driver.get("about:blank")


def test_a_token_is_asked_for_until_it_is_right(driver, gateway_of, upstream):
    gateway = gateway_of('admin_token = { env = "ADMIN_TOKEN" }\n' + provider("a", upstream.base_url)
                         + route("chat", "a"), env={"ADMIN_TOKEN": "right"})
    page = Page(driver, gateway, token=False)
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
