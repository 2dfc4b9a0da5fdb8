"""/llms.txt: the API in one page of Markdown for language models (llmstxt.org), from the OpenAPI document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from apiflask import APIBlueprint
from flask import Response, current_app

from app.api.docs.openapi import SPEC_VIEW

blueprint = APIBlueprint("llms", __name__, enable_openapi=False)

MEDIA_TYPE = "text/markdown; charset=utf-8"


@blueprint.get("/llms.txt")
def llms() -> Response:
    """Return the page."""
    document = cast("Response", current_app.view_functions[SPEC_VIEW]())
    return Response(_page(json.loads(document.get_data())), content_type=MEDIA_TYPE)


def _page(document: dict[str, Any]) -> str:
    return _PAGE.format(endpoints="\n".join(_endpoints(document)))


def _endpoints(document: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each operation under /api: method, path, what it does, and the token that it takes."""
    for path, operations in sorted(document["paths"].items()):
        if path.startswith("/api/"):
            for method, entry in operations.items():
                needs = _needs(entry.get("security", []))
                yield f"- [{method.upper()} {path}](/docs): {_deprecated(entry)}{entry['summary']}{needs}"


def _deprecated(entry: dict[str, Any]) -> str:
    """Return the sentence that the description of a deprecated operation begins with."""
    if not entry.get("deprecated"):
        return ""
    return f"{entry['description'].splitlines()[0]} "


def _needs(security: list[dict[str, list[str]]]) -> str:
    if not security:
        return " No token."
    scopes = [scope for requirement in security for names in requirement.values() for scope in names]
    return f" Scope `{scopes[0]}`." if scopes else ""


_PAGE = """# Contact lookup

> A self-hosted service that finds business contacts: who works at a company, and their e-mail addresses and
> phone numbers. Looking up is free; revealing an address or a number costs credits, only if it is found and
> only once.

Send `Authorization: Bearer <token>` and JSON. The token is an API key (`key_…`), which a signed-in account
with API access creates with `POST /api/keys`; give a program or an agent a key of its own, with only the
scopes that it needs, and a `spending_cap`. Never put a key into a URL or a log.

- Every response that concerns credits has `X-Credits-Charged` and `X-Credits-Balance`.
- Send an `Idempotency-Key` (a new UUID) with every POST that spends or writes. Repeat a request that got no
  response, a 5xx or a 429 with the same key, after `Retry-After`.
- 202 means that the job is still running: poll the URL in `Location`. `Prefer: wait=N` waits up to 25
  seconds.
- Errors are `application/problem+json`; `detail` says what to do. 402 means that credits or a limit are used
  up: do not repeat the request, ask a person.
- If `purposes.required` in `GET /api/ext/session` is true, send `purpose` with what reveals values: one of
  `purposes.allowed`, as the user states it. The people concerned can see it.
- "Not found" is a result (`outcome: not_found`) and free. A person on the suppression list is never
  returned.

## Reference

- [OpenAPI document](/openapi.json): every field, header and error of every endpoint, as OpenAPI 3.1
- [Documentation](/docs): the same as a page, with a form to try it
- [Problems](/problems): every error code, its meaning and its remedy

## Endpoints

A line without a scope takes any token, unless it names a session or an admin.

{endpoints}
"""
