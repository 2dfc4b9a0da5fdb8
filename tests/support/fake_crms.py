"""CRMs on loopback, played by their API documents: they store people and refuse duplicates."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

TOKEN = "crm-token-0123456789"


@dataclass
class Failure:
    """The response to the next request that matches, and whether the request is carried out before."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    method: str | None = None
    path: str = ""
    after_the_write: bool = False

    def is_for(self, request: Request) -> bool:
        return self.method in {None, request.method} and request.path.endswith(self.path)


@dataclass
class FakeCrm:
    """A CRM with its people by id; `requests` are the methods and paths that it received."""

    httpserver: HTTPServer
    people: dict[str, dict[str, Any]] = field(default_factory=dict)
    companies: dict[str, dict[str, Any]] = field(default_factory=dict)
    name: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    token: str = TOKEN
    page: str = ""
    """What is answered instead of JSON, as by another server."""
    hidden: set[str] = field(default_factory=set)
    """People whom the first read does not find, because they are created right after it."""
    ids: Any = field(default_factory=lambda: itertools.count(101))
    on_write: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self.httpserver.expect_request(re.compile(".*")).respond_with_handler(self._handle)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.httpserver.port}"

    @property
    def writes(self) -> list[tuple[str, str]]:
        return [(method, path) for method, path in self.requests if self.is_write(method, path)]

    def fail(self, status: int, body: Any = None, **changes: Any) -> None:
        """Let the next request, or the next with this method, fail."""
        self.failures.append(Failure(status, body, **changes))

    def is_write(self, method: str, path: str) -> bool:
        return method in {"POST", "PATCH"} and "token" not in path

    def _handle(self, request: Request) -> Response:
        self.requests.append((request.method, request.path))
        if self.page:
            return Response(self.page, mimetype="text/html")
        failure = next((failure for failure in self.failures if failure.is_for(request)), None)
        if failure is not None:
            self.failures.remove(failure)
            if failure.after_the_write:
                self._answer(request)
            return as_json(failure.status, failure.body, failure.headers)
        response = self._answer(request)
        if self.is_write(request.method, request.path):
            self.on_write()
        return response

    def _answer(self, request: Request) -> Response:
        is_token = request.path.endswith("/token")
        if not is_token and request.headers.get("Authorization") != f"Bearer {self.token}":
            return self.unauthorized()
        body = {} if is_token else (request.get_json(silent=True) or {})
        return self.tokens(request) if is_token else self.answer(request, body)

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        raise NotImplementedError

    def tokens(self, request: Request) -> Response:
        """Issue the next token for a code or a refresh token."""
        grant = request.form["grant_type"]
        if request.form.get("code") == "used" or request.form.get("refresh_token") == "revoked":
            return as_json(400, {"error": "invalid_grant"})
        self.token = f"{grant}-{next(self.ids)}"
        issued = {"access_token": self.token, "refresh_token": "refresh-1", "instance_url": self.url}
        return as_json(200, issued | {"expires_in": 1800})

    def unauthorized(self) -> Response:
        return as_json(401, {"status": "error", "category": "INVALID_AUTHENTICATION"})


class FakeHubSpot(FakeCrm):
    """HubSpot's contacts: batch read by id or e-mail, create with 409 for a known address, update."""

    def is_write(self, method: str, path: str) -> bool:
        return super().is_write(method, path) and not path.endswith("/batch/read")

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.method == "GET":
            return as_json(200, {"results": []})
        if request.path.endswith("/batch/read"):
            wanted = body["inputs"][0]["id"]
            key = "email" if body.get("idProperty") == "email" else "id"
            found = [
                {"id": id_, "properties": {name: person.get(name) for name in body["properties"]}}
                for id_, person in self.people.items()
                if wanted == (person["email"] if key == "email" else id_) and id_ not in self.hidden
            ]
            self.hidden.clear()
            return as_json(200 if found else 207, {"status": "COMPLETE", "results": found})
        return self._write(request, body["properties"])

    def _write(self, request: Request, values: dict[str, Any]) -> Response:
        if request.method == "PATCH":
            id_ = request.path.rpartition("/")[2]
            self.people[id_] |= values
            return as_json(200, {"id": id_, "properties": values})
        for id_, person in self.people.items():
            if person["email"] == values.get("email"):
                message = f"Contact already exists. Existing ID: {id_}"
                return as_json(409, {"status": "error", "message": message, "category": "CONFLICT"})
        id_ = str(next(self.ids))
        self.people[id_] = dict(values)
        return as_json(201, {"id": id_, "properties": values})


class FakeSalesforce(FakeCrm):
    """Salesforce's contacts and accounts: SOQL queries by e-mail, id and name, rows by POST and PATCH."""

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.path.endswith("/query"):
            return self._query(request.args["q"])
        rows = self.people if "/Contact" in request.path else self.companies
        if request.method == "PATCH":
            rows[request.path.rpartition("/")[2]] |= body
            return Response(status=204)
        id_ = f"00{next(self.ids)}"
        rows[id_] = dict(body)
        return as_json(201, {"id": id_, "success": True, "errors": []})

    def unauthorized(self) -> Response:
        return as_json(401, [{"errorCode": "INVALID_SESSION_ID", "message": "Session expired or invalid"}])

    def _query(self, soql: str) -> Response:
        match = re.fullmatch(
            r"SELECT (.+) FROM (\w+) WHERE (\w+) (?:= '((?:[^'\\]|\\.)*)'|!= null)"
            r" ORDER BY CreatedDate LIMIT 1",
            soql,
        )
        assert match, soql
        columns, table, column, value = match.groups()
        rows = self.people if table == "Contact" else self.companies
        wanted = re.sub(r"\\(.)", r"\1", value or "")
        found = [
            {name: (row | {"Id": id_}).get(name) for name in columns.split(", ")}
            for id_, row in rows.items()
            if wanted in {"", id_ if column == "Id" else row.get(column)}
        ]
        return as_json(200, {"totalSize": len(found), "done": True, "records": found[:1]})


class FakeTwenty(FakeCrm):
    """Twenty's people and companies: filters, composite fields, and 400 for a known address or domain."""

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        kind = "people" if "/people" in request.path else "companies"
        rows = self.people if kind == "people" else self.companies
        if request.method == "GET":
            return as_json(200, {"data": {kind: self._filtered(rows, request.args.get("filter"))}})
        single = "Person" if kind == "people" else "Company"
        if request.method == "PATCH":
            id_ = request.path.rpartition("/")[2]
            _merge(rows[id_], body)
            return as_json(200, {"data": {f"update{single}": rows[id_] | {"id": id_}}})
        for row in rows.values():
            if kind == "people" and row["emails"]["primaryEmail"] == body["emails"]["primaryEmail"]:
                return as_json(400, {"statusCode": 400, "messages": ["A duplicate entry was detected"]})
        id_ = f"00000000-0000-4000-8000-{next(self.ids):012}"
        rows[id_] = dict(body)
        return as_json(201, {"data": {f"create{single}": rows[id_] | {"id": id_}}})

    def unauthorized(self) -> Response:
        return as_json(401, {"statusCode": 401, "error": "UnauthorizedException", "messages": []})

    def _filtered(self, rows: dict[str, Any], condition: str | None) -> list[Any]:
        terms = re.findall(r'([\w.]+)\[eq\]:"([^"]*)"', condition or "")
        return [
            row | {"id": id_}
            for id_, row in rows.items()
            if not terms or any(_at(row | {"id": id_}, name) == value for name, value in terms)
        ][:1]


def _at(row: dict[str, Any], name: str) -> Any:
    value: Any = row
    for step in name.split("."):
        value = (value or {}).get(step)
    return value


def _merge(row: dict[str, Any], changes: dict[str, Any]) -> None:
    for name, value in changes.items():
        row[name] = row.get(name, {}) | value if isinstance(value, dict) else value


def as_json(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    return Response(json.dumps(body), status, headers or {}, mimetype="application/json")
