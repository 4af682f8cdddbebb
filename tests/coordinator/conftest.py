from __future__ import annotations

import pytest

from tests.client.fake_server import FakeServer


@pytest.fixture
def server():
    fake = FakeServer()
    yield fake
    fake.close()
