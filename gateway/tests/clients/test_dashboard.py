"""What the dashboard shows, in a real browser, of a gateway whose providers fail on demand."""

from browser import Page
from gateway import BREAKER, ask, config_of, provider, route, trip, until


def test_it_shows_each_provider_and_the_outcomes_in_its_window(page, gateway, upstream):
    assert page.driver.title == "● all well · cutout gateway"
    assert page.text("#verdict").startswith("All well: 2 providers, 2 routes.")
    assert page.state("a") == page.state("b") == "closed"
    ask(gateway, 3)
    upstream.behaviour = 500
    ask(gateway)
    upstream.behaviour = "ok"
    ask(gateway)
    label = f"{page.card('a')} svg.window"
    page.wait(lambda: page.find(label).get_attribute("aria-label")
              == "Window: 5 of 20 outcomes, 1 failures, 0 of them timeouts, 0 slow")
    drawn = page.script("""
        return Object.fromEntries([...document.querySelectorAll(arguments[0] + " path")]
            .map((path) => [path.getAttribute("class"), path.getAttribute("d").split("z").length - 1]))""", label)
    assert drawn == {"space": 15, "success": 4, "slow": 0, "failure": 1, "timeout": 0}
    assert page.text(f"{page.card('a')} .rules li span") == "failures: 1 of 5 (20 %)"


def test_a_share_over_its_limit_is_no_alarm_before_there_are_enough_calls(page, gateway, upstream):
    bar = f"{page.card('a')} .bar"
    upstream.behaviour = 500
    ask(gateway, 3)
    page.wait(lambda: page.text(f"{page.card('a')} .rules li span") == "failures: 3 of 3 (100 %)")
    assert page.find(bar).get_attribute("data-over") is None
    assert page.text(f"{page.card('a')} .bound") == "limit 50 % from 4 calls on"


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
    assert page.text("#announcer") == "a: closed → open, failure ratio reached: status 500"
    assert page.meaning("a").startswith("Rejects calls; next probe in")
    shown = page.meaning("a")
    page.wait(lambda: page.meaning("a") != shown)

    upstream.behaviour = "ok"
    page.operate("a", "Force open", "for a second", 1)
    page.until_state("a", "half-open")
    ask(gateway)
    page.until_state("a", "closed")
    page.wait(lambda: "half-open → closed" in page.timeline()[0])


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
    assert page.meaning("a").startswith("Rejects calls; next probe in 59 min")


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
