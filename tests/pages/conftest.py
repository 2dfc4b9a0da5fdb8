from __future__ import annotations

import pytest
from apiflask import APIFlask
from page_support import Visitor, visitor
from users_support import SignedInUser, create_user


@pytest.fixture
def user(app: APIFlask) -> SignedInUser:
    return create_user(app)


@pytest.fixture
def browser(app: APIFlask, user: SignedInUser) -> Visitor:
    """A browser that is signed in as the user."""
    return visitor(app, user)
