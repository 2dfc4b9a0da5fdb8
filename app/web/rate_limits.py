"""Rate limits of the endpoints, reported as in draft-ietf-httpapi-ratelimit-headers."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial, wraps
from typing import ParamSpec

from flask import Response, after_this_request

from app.domain.errors import RateLimited
from app.infra.broker.rate_limiter import LimitStatus
from app.web.services import services
from app.web.sign_in.auth import caller

P = ParamSpec("P")


class Policy(StrEnum):
    """The rate limit of a view; the setting `limit_<value>` holds its rate."""

    LOOKUP = "lookup"
    SPEND = "spend"
    WRITE = "write"
    READ = "read"
    EVALUATE = "evaluate"
    """Counted per account: with one token more, an account could guess twice as many companies."""
    PREFIX = "prefix"
    """Counted per account, in addition to the lookup: a prefix reads and returns hundreds of companies."""


_PER_ACCOUNT = {Policy.EVALUATE, Policy.PREFIX}


def limited(policy: Policy) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Limit a view per workspace and token, or account; place it below `auth_required`.

    The view raises RateLimited if there were more requests than the policy allows.

    """

    def decorate(view: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(view)
        def limited_view(*args: P.args, **kwargs: P.kwargs) -> Response:
            count(policy)
            return view(*args, **kwargs)

        return limited_view

    return decorate


def count(policy: Policy) -> None:
    """Count this request towards the policy; its headers report the last one that was counted."""
    current = caller()
    rate: str = getattr(services().settings, f"limit_{policy}")
    owner = current.account_id if policy in _PER_ACCOUNT else current.token_id
    status = services().limiter.hit(rate, policy.value, current.workspace_id, owner)

    after_this_request(partial(_set_headers, policy, status))
    if not status.allowed:
        raise RateLimited(retry_after=status.reset)


def _set_headers(policy: Policy, status: LimitStatus, response: Response) -> Response:
    response.headers["RateLimit-Policy"] = f'"{policy}";q={status.quota};w={status.window}'
    response.headers["RateLimit"] = f'"{policy}";r={status.remaining};t={status.reset}'
    return response
