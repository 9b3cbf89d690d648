import pytest

from gateway import Gateway
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
