"""Rate limits of the endpoints, told in the headers of draft-ietf-httpapi-ratelimit-headers."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from typing import ParamSpec

from flask import Response, after_this_request

from app.api.http.auth import caller
from app.api.http.services import services
from app.domain.errors import RateLimited
from app.infra.rate_limiter import LimitStatus

P = ParamSpec("P")


class Policy(StrEnum):
    """The limits a view can be under; the setting `limit_<value>` holds the figure."""

    LOOKUP = "lookup"
    SPEND = "spend"
    WRITE = "write"
    READ = "read"


def limited(policy: Policy) -> Callable[[Callable[P, Response]], Callable[P, Response]]:
    """Limit a view per workspace and token; it stands under `auth_required`.

    Raises (the view does):
        RateLimited: there were more requests than the policy allows.

    """

    def decorate(view: Callable[P, Response]) -> Callable[P, Response]:
        @wraps(view)
        def limited_view(*args: P.args, **kwargs: P.kwargs) -> Response:
            _count(policy)
            return view(*args, **kwargs)

        return limited_view

    return decorate


def _count(policy: Policy) -> None:
    who = caller()
    rate: str = getattr(services().settings, f"limit_{policy}")
    standing = services().limiter.hit(rate, policy.value, who.workspace_id, who.token_id)

    def tell(response: Response) -> Response:
        return _set_headers(response, policy, standing)

    after_this_request(tell)
    if not standing.allowed:
        raise RateLimited(retry_after=standing.reset)


def _set_headers(response: Response, policy: Policy, standing: LimitStatus) -> Response:
    response.headers["RateLimit-Policy"] = f'"{policy}";q={standing.quota};w={standing.window}'
    response.headers["RateLimit"] = f'"{policy}";r={standing.remaining};t={standing.reset}'
    return response
