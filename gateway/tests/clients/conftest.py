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
