"""The HTTP client of the API: one request with retries, polling, and errors as sentences for an agent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

import httpx2
from mcp.server.mcpserver.exceptions import ToolError

JOBS = "/api/ext/jobs"
WAIT_SECONDS = 20
"""How long one request waits for its job."""
BUDGET_SECONDS = 45.0
"""How long one call waits for its job; MCP clients give up after 60 seconds."""
POLL_SECONDS = 1.0
"""The `Retry-After` of a 202: the service may wait less than asked, and then responds at once."""
TIMEOUT = httpx2.Timeout(WAIT_SECONDS + 10.0, connect=5.0)
RETRY_DELAYS = (0.5, 2.0)
ACCEPTED, FIRST_ERROR, UNAVAILABLE = 202, 400, 503

Progress = Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A successful response."""

    status: int
    body: dict[str, Any]
    is_replay: bool = False
    """Whether an earlier call with the same idempotency key has this response; retries are not calls."""


@dataclass(frozen=True, slots=True)
class Api:
    """The API for one caller."""

    base_url: str
    token: str = field(repr=False)

    async def get(self, path: str, params: dict[str, Any] | None = None, **headers: str) -> ApiResponse:
        """Return the response to a GET request; `post` has the errors."""
        return await self._send(httpx2.Request("GET", self.base_url + path, params=params, headers=headers))

    async def post(self, path: str, body: dict[str, Any], *, key: str = "", **headers: str) -> ApiResponse:
        """Return the response to a POST request; `key` is its idempotency key."""
        if key:
            headers["Idempotency-Key"] = key
        return await self._send(httpx2.Request("POST", self.base_url + path, json=body, headers=headers))

    async def submit(self, path: str, body: dict[str, Any], *, key: str, progress: Progress) -> ApiResponse:
        """Send the request of a queued endpoint; return its job once finished, or when the time is over."""
        deadline = time.monotonic() + BUDGET_SECONDS
        first = await self.post(path, body, key=key, Prefer=f"wait={WAIT_SECONDS}")
        if first.status != ACCEPTED:
            return first
        last = await self.poll(first.body["job"]["id"], progress=progress, deadline=deadline)
        return replace(last, is_replay=first.is_replay)

    async def poll(self, job_id: str, *, progress: Progress, deadline: float | None = None) -> ApiResponse:
        """Return the job once it has finished, or as it is when the time is over."""
        deadline = deadline or time.monotonic() + BUDGET_SECONDS
        while True:
            poll_at = time.monotonic() + POLL_SECONDS
            seconds = max(0, min(WAIT_SECONDS, int(deadline - time.monotonic())))
            response = await self.get(JOBS, {"id": job_id}, Prefer=f"wait={seconds}")
            if response.status != ACCEPTED or time.monotonic() >= deadline - 1:
                return response
            await progress(response.body["job"]["progress"])
            await asyncio.sleep(poll_at - time.monotonic())

    async def _send(self, request: httpx2.Request) -> ApiResponse:
        request.headers["Authorization"] = f"Bearer {self.token}"
        async with httpx2.AsyncClient(timeout=TIMEOUT) as client:
            for delay in RETRY_DELAYS:
                try:
                    response = await client.send(request)
                except httpx2.ReadTimeout as error:  # another one would outlast the client
                    raise ToolError(_unreachable(self.base_url)) from error
                except httpx2.TransportError:
                    await asyncio.sleep(delay)
                    continue
                if response.status_code != UNAVAILABLE:
                    return _checked(response, is_first=delay == RETRY_DELAYS[0])
                await asyncio.sleep(delay)
            try:
                return _checked(await client.send(request), is_first=False)
            except httpx2.TransportError as error:
                raise ToolError(_unreachable(self.base_url)) from error


def _checked(response: httpx2.Response, *, is_first: bool) -> ApiResponse:
    """Return the response, or raise ToolError with what its problem says."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        raise ToolError(
            f"The response with status {response.status_code} is not from the API. "
            "Check the address in CONTACT_LOOKUP_URL."
        )
    if response.status_code >= FIRST_ERROR:
        raise ToolError(_sentence(response.status_code, body))
    is_replay = is_first and response.headers.get("Idempotent-Replay") == "true"
    return ApiResponse(response.status_code, body, is_replay)


def _sentence(status: int, problem: dict[str, Any]) -> str:
    """Return a problem as text: code, what to do, the invalid fields, and when to try again."""
    parts = [f"{status} {problem.get('code', 'error')}: {problem.get('detail') or problem.get('title', '')}"]
    parts += [f"{error['pointer']}: {error['detail']}" for error in problem.get("errors", ())]
    if "required" in problem:
        balance = f"; balance: {problem['balance']}" if "balance" in problem else ""
        parts.append(f"Required: {problem['required']} credits{balance}.")
    if problem.get("retry_after") is not None:
        parts.append(f"Try again in {problem['retry_after']} seconds.")
    return " ".join(part for part in parts if part)


def _unreachable(base_url: str) -> str:
    return (
        f"The service at {base_url} cannot be reached. It is safe to make this call again: "
        "a value that was found is not paid for twice."
    )
