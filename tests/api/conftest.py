from __future__ import annotations

import pytest
from apiflask import APIFlask
from users_support import SignedInUser, create_user


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)
