"""The plan of the callers: what they request, and what the right answers are."""

from __future__ import annotations

import json
from dataclasses import dataclass

from benchmarks.comparison.people import person

PATHS = {"reveal": "/api/ext/reveal/email", "lookup": "/api/ext/lookup"}
NO_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class Plan:
    """Requests by number, from `first` to `limit` exclusively, for as long as `seconds`.

    A caller waits for `pause` seconds between an answer and its next request. The server is asked to wait for
    a job for `wait` seconds.
    """

    port: int
    workload: str
    callers: int
    seconds: float
    tokens: list[str]
    people: int
    first: int = 0
    limit: int = NO_LIMIT
    pause: float = 0.0
    wait: int = 25

    def request(self, number: int) -> bytes:
        """Return the request with this number; each reveals another person for a workspace."""
        body = json.dumps({"subject": {"linkedin_url": person(self.person_of(number)).profile}})
        token = self.tokens[number % len(self.tokens)]
        head = (
            f"POST {PATHS[self.workload]} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\n"
            f"Prefer: wait={self.wait}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        return (head + body).encode()

    def person_of(self, number: int) -> int:
        """Return the number of the person whom a request is about: another one than in the last requests."""
        workspace, turn = number % len(self.tokens), number // len(self.tokens)
        return (turn + workspace * (self.people // len(self.tokens))) % self.people

    def error(self, number: int, body: bytes) -> str | None:
        """Return what is wrong with the answer to a request, or None."""
        expected, content = person(self.person_of(number)), json.loads(body)
        if self.workload == "lookup":
            name = (content.get("contact") or {}).get("full_name")
            return None if name == expected.name else f"{name} instead of {expected.name}"
        addresses = [email["email"] for email in (content.get("result") or {}).get("emails", [])]
        charged = content["credits"]["charged"]
        if addresses == [expected.address] and charged == 1:
            return None
        return f"{addresses}, charged {charged}, instead of {expected.address}, charged 1"
