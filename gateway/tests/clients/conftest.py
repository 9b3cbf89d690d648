import pytest

from browser import Page, start
from gateway import BREAKER, Gateway, provider, route
from provider import Provider


@pytest.fixture
def provider_of():
    """Makes providers that end with the test."""
    made = []

    def make():
        made.append(Provider())
        return made[-1]

    yield make
    for provider in made:
        provider.close()


@pytest.fixture
def gateway_of(tmp_path):
    """Makes gateways that end with the test."""
    made = []

    def make(config, **more):
        made.append(Gateway(tmp_path, config, **more))
        return made[-1]

    yield make
    for gateway in made:
        gateway.stop()


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


#: What of a page has too little contrast to be read (WCAG 2, AA).
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


@pytest.fixture
def contrast():
    return CONTRAST
