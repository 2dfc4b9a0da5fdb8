"""CRMs on loopback, played by their API documents: they store people and refuse duplicates.

`refusals` lets a CRM refuse a property, as it answers to a value that it does not accept.
"""

from __future__ import annotations

import itertools
import json
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar

import phonenumbers
import twenty_graphql
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
    account: str = ""
    """The id of the account to which the token belongs; a CRM does not say it without one."""
    identity: str = ""
    """The URL of the user's identity in the response of the token endpoint, as Salesforce names it."""
    address_name: str = "instance_url"
    """The name of the API's address in the response of the token endpoint."""
    properties: list[dict[str, Any]] | None = None
    """The properties of people as the CRM describes them; the token may not read them if it is None."""
    properties_path: ClassVar[str] = ""
    refusals: dict[str, str] = field(default_factory=dict)
    """The vendor's error code for each property that it refuses."""
    lists: dict[str, list[str]] = field(default_factory=dict)
    """The ids of the members of each list, view or filter."""
    list_page: int = 2
    """The members on a page of a list."""
    type_of_lists: str = "0-1"
    """What HubSpot's lists have: contacts, or 0-2 for companies."""

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
        if not is_token and not self.is_authorized(request):
            return self.unauthorized()
        if request.path == self.properties_path:
            body = {} if self.properties is None else self.described_properties()
            return as_json(200, body) if body else as_json(403, {"category": "MISSING_SCOPES"})
        body = {} if is_token else (request.get_json(silent=True) or {})
        return self.tokens(request) if is_token else self.listed(request) or self.answer(request, body)

    def listed_members(self, list_id: str, after: str) -> tuple[list[str], str | None]:
        """Return the members of a list after a position, and the position of the next page."""
        start = int(after or 0)
        end = start + self.list_page
        return self.lists[list_id][start:end], str(end) if end < len(self.lists[list_id]) else None

    def is_authorized(self, request: Request) -> bool:
        return request.headers.get("Authorization") == f"Bearer {self.token}"

    def listed(self, request: Request) -> Response | None:  # noqa: ARG002 -- for subclasses
        """Answer a request for the members of a list; None if it is another one."""
        return None

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        raise NotImplementedError

    def described_properties(self) -> dict[str, Any]:
        """Return the properties in the body that the CRM makes of them."""
        raise NotImplementedError

    def tokens(self, request: Request) -> Response:
        """Issue the next token for a code or a refresh token."""
        grant = request.form["grant_type"]
        if request.form.get("code") == "used" or request.form.get("refresh_token") == "revoked":
            return as_json(400, {"error": "invalid_grant"})
        self.token = f"{grant}-{next(self.ids)}"
        issued = {"access_token": self.token, "refresh_token": "refresh-1", self.address_name: self.url}
        return as_json(200, issued | {"expires_in": 1800} | ({"id": self.identity} if self.identity else {}))

    def unauthorized(self) -> Response:
        return as_json(401, {"status": "error", "category": "INVALID_AUTHENTICATION"})


class FakeHubSpot(FakeCrm):
    """HubSpot's contacts: list, batch read, search, create with 409 for a known address, update.

    `owners` are the first and last names of owners by id, which the token may not read if it is None.
    """

    properties_path = "/crm/v3/properties/contacts"

    owners: dict[str, tuple[str, str]] | None = None

    def is_write(self, method: str, path: str) -> bool:
        return super().is_write(method, path) and not path.endswith(("/batch/read", "/search"))

    def described_properties(self) -> dict[str, Any]:
        return {"results": self.properties}

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.path == "/account-info/v3/details":
            missing = {"status": "error", "category": "MISSING_SCOPES"}
            return as_json(200, {"portalId": int(self.account)}) if self.account else as_json(403, missing)
        if request.method == "GET":
            return self._owners(request) if request.path == "/crm/v3/owners" else self._list(request)
        if "sorts" in body:
            return self._changed(body)
        if request.path.endswith("/batch/read"):
            return self._read(body)
        if request.path.endswith("/search"):
            return self._search(body)
        return self._write(request, body["properties"])

    def listed(self, request: Request) -> Response | None:
        if not request.path.startswith("/crm/v3/lists/"):
            return None
        list_id, *rest = request.path.removeprefix("/crm/v3/lists/").split("/")
        if list_id not in self.lists:
            return as_json(404, {"status": "error", "category": "OBJECT_NOT_FOUND"})
        if not rest:
            return as_json(200, {"list": {"listId": list_id, "objectTypeId": self.type_of_lists}})
        assert int(request.args["limit"]) <= 250
        ids, following = self.listed_members(list_id, request.args.get("after", ""))
        results = [{"recordId": id_, "membershipTimestamp": "2026-11-01T00:00:00Z"} for id_ in ids]
        more = {"paging": {"next": {"after": following}}} if following else {}
        return as_json(200, {"results": results} | more)

    def _owners(self, request: Request) -> Response:
        if self.owners is None:
            return as_json(403, {"status": "error", "category": "MISSING_SCOPES"})
        rows = [
            {"id": id_, "firstName": first, "lastName": last} for id_, (first, last) in self.owners.items()
        ]
        start = int(request.args.get("after", 0))
        more = {"paging": {"next": {"after": str(start + 1)}}} if start + 1 < len(rows) else {}
        return as_json(200, {"results": rows[start : start + 1]} | more)  # one on a page

    def _list(self, request: Request) -> Response:
        after, names = int(request.args.get("after", 0)), request.args.get("properties", "").split(",")
        ids = sorted((id_ for id_ in self.people if int(id_) > after), key=int)
        return self._page(ids, names, int(request.args["limit"]))

    def _changed(self, body: dict[str, Any]) -> Response:
        """Find contacts by the filters of one group, in the order of one property."""
        [group], [sort] = body["filterGroups"], body["sorts"]
        assert sort["direction"] == "ASCENDING"
        assert body["limit"] <= 200
        found = [
            id_
            for id_, person in self.people.items()
            if all(_hubspot_compares(person | {"hs_object_id": id_}, one) for one in group["filters"])
        ]
        name = sort["propertyName"]
        found.sort(key=lambda id_: _hubspot_number(self.people[id_] | {"hs_object_id": id_}, name))
        return self._page(found, body["properties"], body["limit"])

    def _page(self, ids: list[str], names: list[str], limit: int) -> Response:
        more = {"paging": {"next": {"after": ids[limit - 1]}}} if len(ids) > limit else {}
        return as_json(200, {"results": [self._contact(id_, names) for id_ in ids[:limit]]} | more)

    def _read(self, body: dict[str, Any]) -> Response:
        wanted = {one["id"] for one in body["inputs"]}
        is_by_email = body.get("idProperty") == "email"
        found = [
            self._contact(id_, body["properties"])
            for id_, person in self.people.items()
            if (person["email"] if is_by_email else id_) in wanted and id_ not in self.hidden
        ]
        self.hidden.clear()
        return as_json(200 if found else 207, {"status": "COMPLETE", "results": found})

    def _search(self, body: dict[str, Any]) -> Response:
        """Find a contact if all filters of a group match; CONTAINS_TOKEN matches each part of an address."""
        assert len(body["filterGroups"]) <= 5
        found = [
            self._contact(id_, body["properties"])
            for id_, person in self.people.items()
            for group in body["filterGroups"]
            if all(_hubspot_matches(person, one) for one in group["filters"])
        ]
        return as_json(200, {"total": len(found), "results": found[: body["limit"]]})

    def _contact(self, id_: str, properties: list[str]) -> dict[str, Any]:
        return {"id": id_, "properties": {name: self.people[id_].get(name) for name in properties}}

    def _write(self, request: Request, values: dict[str, Any]) -> Response:
        if refused := {name: code for name, code in self.refusals.items() if name in values}:
            errors = [
                {"message": f"{values[name]} is refused", "code": code, "context": {"propertyName": [name]}}
                for name, code in refused.items()
            ]
            return as_json(400, {"status": "error", "category": "VALIDATION_ERROR", "errors": errors})
        updated = request.path.rpartition("/")[2] if request.method == "PATCH" else ""
        for id_, person in self.people.items():
            if id_ != updated and values.get("email") and values["email"] in _hubspot_addresses(person):
                message = f"Contact already exists. Existing ID: {id_}"
                return as_json(409, {"status": "error", "message": message, "category": "CONFLICT"})
        if updated:
            self.people[updated] |= values
            return as_json(200, {"id": updated, "properties": values})
        id_ = str(next(self.ids))
        self.people[id_] = dict(values)
        return as_json(201, {"id": id_, "properties": values})


class FakePipedrive(FakeCrm):
    """Pipedrive's persons and organizations: exact searches, lists, and two persons with one address.

    The search does not find what was created through the API, as if its index were always behind. `schemes`
    are the headers by which requests were authorized. Without `has_contact_sync`, `job_title` is forbidden.
    `users` are the names of users by id, which the token may not read if it is None; `unreadable` are kinds
    of records that it may not read.
    """

    properties_path = "/api/v1/personFields"

    _WRITABLE = frozenset({"name", "org_id", "emails", "phones", "job_title", "custom_fields"})

    def __post_init__(self) -> None:
        super().__post_init__()
        self.address_name = "api_domain"
        self.schemes: list[str] = []
        self.unindexed: set[str] = set()
        self.has_contact_sync = True
        self.users: dict[int, str] | None = None
        self.unreadable: set[str] = set()

    def is_authorized(self, request: Request) -> bool:
        sent = {name: request.headers.get(name) for name in ("x-api-token", "Authorization")}
        self.schemes += [name for name, value in sent.items() if value]
        return list(sent.values()) in ([self.token, None], [None, f"Bearer {self.token}"])

    def unauthorized(self) -> Response:
        return _failed(401, "unauthorized access")

    def described_properties(self) -> dict[str, Any]:
        return {"success": True, "data": self.properties}

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.path == "/api/v1/users/me":
            user = {"id": 7, "company_id": int(self.account or 0)}
            return _succeeded(user) if self.account else _failed(403, "Scope and URL mismatch")
        if request.path == "/api/v1/users":
            users = [{"id": id_, "name": name} for id_, name in (self.users or {}).items()]
            return _succeeded(users) if users else _failed(403, "Scope and URL mismatch")
        kind, id_ = (*request.path.removeprefix("/api/v2/").split("/"), "")[:2]
        if kind in self.unreadable:
            return _failed(403, "Scope and URL mismatch")
        rows = {"persons": self.people, "organizations": self.companies}[kind]
        if id_ == "search":
            return self._search(request, rows)
        return self._list(request, rows) if request.method == "GET" else self._write(body, rows, id_)

    def listed(self, request: Request) -> Response | None:
        if "filter_id" not in request.args:
            return None
        assert int(request.args["limit"]) <= 500
        if request.args["filter_id"] not in self.lists:
            return _failed(404, "Filter not found")
        ids, following = self.listed_members(request.args["filter_id"], request.args.get("cursor", ""))
        return _succeeded([self.people[id_] | {"id": int(id_)} for id_ in ids], next_cursor=following)

    def _search(self, request: Request, rows: dict[str, Any]) -> Response:
        assert request.args["exact_match"] == "true"
        term = request.args["term"].casefold()
        found = [
            {"result_score": 1.0, "item": {"id": int(id_), "name": row.get("name")}}
            for id_, row in rows.items()
            if id_ not in self.unindexed and not row.get("is_deleted")
            if term in _pipedrive_terms(row, request.args["fields"])
        ]
        return _succeeded({"items": found})

    def _list(self, request: Request, rows: dict[str, Any]) -> Response:
        """List the records with these ids, a page in ascending order, else the latest ones."""
        if request.args.get("sort_direction") == "asc":
            return _pipedrive_page(rows, request.args)
        ids = request.args["ids"].split(",") if "ids" in request.args else list(rows)[::-1]
        limit = int(request.args.get("limit", 100))
        return _succeeded([rows[id_] | {"id": int(id_)} for id_ in ids if id_ in rows][:limit])

    def _write(self, body: dict[str, Any], rows: dict[str, Any], id_: str) -> Response:
        if "job_title" in body and not self.has_contact_sync:
            return _failed(403, "Contact Sync is not enabled")
        names = body.keys() | body.get("custom_fields", {}).keys()
        messages = [
            f"{name}: {text.format(name=name)}" for name, text in self.refusals.items() if name in names
        ]
        messages += [
            f"{name}: Parameter '{name}' is not allowed" for name in sorted(body.keys() - self._WRITABLE)
        ]
        if messages or not (id_ or body.get("name")):
            return _failed(400, f"Validation failed: {'; '.join(messages)}", "ERR_SCHEMA_VALIDATION_FAILED")
        assert isinstance(body.get("org_id", 0), int)
        assert all(
            sum(entry["primary"] for entry in body.get(name, ({"primary": 1},))) == 1 for name in _LISTS
        )
        if not id_:
            id_ = str(next(self.ids))
            self.unindexed.add(id_)
        first, _, last = body.get("name", "").partition(" ")
        parts = {"first_name": first, "last_name": last} if first and rows is self.people else {}
        row = rows.setdefault(id_, {})
        _merge(row, body | parts)
        return _succeeded(row | {"id": int(id_)})


@dataclass
class FakeReport:
    """A report of Salesforce: the type of each column, and the rows of each group, each by column.

    `is_whole` is false if it has more rows than are returned. `run_with` are the columns of the last request.
    """

    columns: dict[str, str]
    groups: dict[str, list[dict[str, Any]]]
    sorted_by: str = ""
    aggregates: list[str] = field(default_factory=lambda: ["RowCount"])
    is_whole: bool = True
    run_with: list[str] = field(default_factory=list)

    def described(self) -> dict[str, Any]:
        order = [{"sortColumn": self.sorted_by, "sortOrder": "Asc"}] if self.sorted_by else []
        types = {name: {"label": name.title(), "dataType": type_} for name, type_ in self.columns.items()}
        return {
            "reportMetadata": {
                "name": "Customers",
                "reportFormat": "TABULAR",
                "detailColumns": list(self.columns),
                "sortBy": order,
                "aggregates": self.aggregates,
                "hasDetailRows": False,
            },
            "reportExtendedMetadata": {"detailColumnInfo": types},
        }

    def run(self, metadata: dict[str, Any]) -> dict[str, Any]:
        assert metadata["hasDetailRows"]
        self.run_with = metadata["detailColumns"]
        facts = {
            key: {"rows": [{"dataCells": self._cells(row)} for row in rows], "aggregates": []}
            for key, rows in self.groups.items()
        }
        return {"factMap": facts, "allData": self.is_whole, "hasDetailRows": True}

    def _cells(self, row: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"label": "-", "value": row.get(name)} for name in self.run_with]


class FakeSalesforce(FakeCrm):
    """Salesforce's contacts, leads and accounts: SOQL, descriptions, and rows by POST and PATCH.

    `described` has the fields of each table; a table without them cannot be described. `unseen` are columns
    that the user may not see. `unreadable` has the status and the error code for tables that may not be read.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.unreadable: dict[str, tuple[int, str]] = {}
        self.leads: dict[str, dict[str, Any]] = {}
        self.described: dict[str, list[dict[str, Any]]] = {}
        self.record_types: list[dict[str, Any]] = []
        self.unseen: set[str] = set()
        self.queries: list[str] = []
        self.reports: dict[str, FakeReport] = {}
        self.tables = {"Contact": self.people, "Lead": self.leads, "Account": self.companies}

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.path.endswith("/query"):
            return self._query(request.args["q"])
        table, id_ = (*request.path.partition("/sobjects/")[2].split("/"), "")[:2]
        if id_ == "describe":
            fields = self.described.get(table)
            described = {"name": table, "fields": fields, "recordTypeInfos": self.record_types}
            return as_json(200, described) if fields else _not_found()
        if refused := {name: code for name, code in self.refusals.items() if name in body}:
            errors = [
                {"errorCode": code, "message": f"{body[name]} is refused", "fields": [name]}
                for name, code in list(refused.items())[:1]  # one after the other
            ]
            return as_json(400, errors)
        if request.method == "PATCH":
            self.tables[table][id_] |= body
            return Response(status=204)
        id_ = f"00{next(self.ids)}"
        self.tables[table][id_] = dict(body)
        return as_json(201, {"id": id_, "success": True, "errors": []})

    def unauthorized(self) -> Response:
        return as_json(401, [{"errorCode": "INVALID_SESSION_ID", "message": "Session expired or invalid"}])

    def listed(self, request: Request) -> Response | None:
        if "/analytics/reports/" in request.path:
            return self._report(request)
        if "/listviews/" in request.path:
            table, _listviews, list_id, _describe = request.path.partition("/sobjects/")[2].split("/")
            columns = f"SELECT Name, toLabel(Status) FROM {table}"  # noqa: S608 -- SOQL
            soql = f"{columns} USING SCOPE mine WHERE View = '{list_id}' ORDER BY Name"
            return as_json(200, {"query": soql}) if list_id in self.lists else _not_found()
        if "/query/" in request.path:
            return self._view_page(*request.path.rpartition("/query/")[2].split("-"))
        view = re.fullmatch(
            r"SELECT Id FROM \w+ USING SCOPE mine WHERE View = '(\w+)' ORDER BY Name",
            request.args.get("q", ""),
        )
        return self._view_page(view[1], "0") if view else None

    def _report(self, request: Request) -> Response:
        report_id, _slash, action = request.path.partition("/reports/")[2].partition("/")
        if report_id not in self.reports:
            return _not_found()
        if action == "describe":
            return as_json(200, self.reports[report_id].described())
        assert (request.method, request.args["includeDetails"]) == ("POST", "true")
        return as_json(200, self.reports[report_id].run(request.get_json()["reportMetadata"]))

    def _view_page(self, list_id: str, start: str) -> Response:
        ids, following = self.listed_members(list_id, start)
        more = {"nextRecordsUrl": f"/services/data/v62.0/query/{list_id}-{following}"} if following else {}
        return as_json(200, {"done": not following, "records": [{"Id": id_} for id_ in ids]} | more)

    def _query(self, soql: str) -> Response:
        match = re.fullmatch(r"SELECT (.+) FROM (\w+) WHERE (.+) ORDER BY (.+) LIMIT (\d+)", soql)
        assert match, soql
        self.queries.append(soql)
        names, table, condition, order, limit = match.groups()
        columns = names.split(", ")
        if table in self.unreadable:
            status, code = self.unreadable[table]
            return as_json(status, [{"errorCode": code, "message": f"sObject type '{table}'"}])
        if table == "Organization":
            rows: dict[str, dict[str, Any]] = {self.account: {}} if self.account else {}
        elif unseen := self.unseen.intersection(columns):
            message = f"No such column '{min(unseen)}' on entity '{table}'."
            return as_json(400, [{"errorCode": "INVALID_FIELD", "message": message}])
        elif table not in self.tables:
            message = f"sObject type '{table}' is not supported."
            return as_json(400, [{"errorCode": "INVALID_TYPE", "message": message}])
        else:
            rows = self.tables[table]
        found = [
            _salesforce_row(row | {"Id": id_}, columns, self.companies)
            for id_, row in rows.items()
            if _salesforce_matches(row | {"Id": id_}, condition)
        ]
        if order != "CreatedDate":
            found.sort(key=lambda row: [row[name] for name in order.split(", ")])
        return as_json(200, {"totalSize": len(found), "done": True, "records": found[: int(limit)]})


class FakeTwenty(FakeCrm):
    """Twenty's people and companies: filters, composite fields, the trash, and 400 for a known value.

    `stored_form` has the fields that it stores otherwise than they were sent. `unreadable` are the kinds of
    records, and the fields of people, that the key may not read. `fields` are those with their types that a
    workspace can change.
    """

    properties_path = "/rest/metadata/objects"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.stored_form: dict[str, Any] = {}
        self.members: dict[str, dict[str, Any]] = {}
        self.unreadable: set[str] = set()
        self.fields = {"linkedinLink": "Links"}

    def is_write(self, method: str, path: str) -> bool:
        return super().is_write(method, path) and path != "/graphql"

    def described_properties(self) -> dict[str, Any]:
        others = {"nameSingular": "company", "fields": [{"name": "name", "type": "TEXT"}]}
        person = {"nameSingular": "person", "fields": self.properties}
        return {"data": {"objects": [others, person]}}

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        if request.path == "/graphql":
            return self._queried(body)
        kind = request.path.split("/")[2]
        rows = {"people": self.people, "companies": self.companies}[kind]
        if request.method == "GET":
            return as_json(200, {"data": {kind: _twenty_filtered(rows, request.args.get("filter") or "")}})
        single = "Person" if kind == "people" else "Company"
        id_ = request.path.rpartition("/")[2] if request.method == "PATCH" else ""
        if refused := next((name for name in self.refusals if name in body), None):
            return _bad_request(self.refusals[refused].format(name=refused))
        unique = ("emails", "primaryEmail") if kind == "people" else ("domainName", "primaryLinkUrl")
        key = (body.get(unique[0]) or {}).get(unique[1])
        taken = {(row.get(unique[0]) or {}).get(unique[1]) for other, row in rows.items() if other != id_}
        if key and key in taken:
            return _bad_request("A duplicate entry was detected")
        if id_:
            _merge(rows[id_], _split_number(body))
            return as_json(200, {"data": {f"update{single}": rows[id_] | {"id": id_}}})
        id_ = f"00000000-0000-4000-8000-{next(self.ids):012}"
        rows[id_] = _split_number(body) | (self.stored_form if kind == "people" else {})
        return as_json(201, {"data": {f"create{single}": rows[id_] | {"id": id_}}})

    def _answer(self, request: Request) -> Response:
        if request.path == "/graphql" and not self.is_authorized(request):
            return as_json(200, twenty_graphql.failure("This API Key is revoked", "FORBIDDEN"))
        return super()._answer(request)

    def _queried(self, body: dict[str, Any]) -> Response:
        found = twenty_graphql.answered(
            body,
            self.people,
            self.companies,
            self.members,
            fields=self.fields,
            unreadable=self.unreadable,
        )
        return as_json(200, found)

    def listed(self, request: Request) -> Response | None:
        if request.args.get("filter") not in self.lists:
            return None
        assert int(request.args["limit"]) <= 60
        ids, following = self.listed_members(request.args["filter"], request.args.get("starting_after", ""))
        page = [self.people[id_] | {"id": id_} for id_ in ids]
        info = {"hasNextPage": following is not None, "endCursor": following}
        return as_json(200, {"data": {"people": page}, "pageInfo": info})

    def unauthorized(self) -> Response:
        return as_json(401, {"statusCode": 401, "error": "UnauthorizedException", "messages": []})


class FakeZoho(FakeCrm):
    """Zoho's contacts, leads and accounts: searches, lists, lookups, and an error of the record in `data`.

    The search does not find what was created through the API, as if its index were always behind. `may_read`
    are the modules that the user may read. With `is_unique`, an address cannot be in two contacts. Rows of
    the time of `If-Modified-Since` are left out if `is_since_exclusive`.
    """

    properties_path = "/crm/v8/settings/fields"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.address_name = "api_domain"
        self.leads: dict[str, dict[str, Any]] = {}
        self.modules = {"Contacts": self.people, "Leads": self.leads, "Accounts": self.companies}
        self.may_read = set(self.modules)
        self.unindexed: set[str] = set()
        self.is_unique = False
        self.is_since_exclusive = False

    def is_write(self, method: str, path: str) -> bool:
        return method in {"POST", "PUT"} and "token" not in path

    def is_authorized(self, request: Request) -> bool:
        return request.headers.get("Authorization") == f"Zoho-oauthtoken {self.token}"

    def unauthorized(self) -> Response:
        return as_json(401, _zoho_error("INVALID_TOKEN"))

    def described_properties(self) -> dict[str, Any]:
        return {"fields": self.properties}

    def answer(self, request: Request, body: dict[str, Any]) -> Response:
        module, id_ = (*request.path.removeprefix("/crm/v8/").split("/"), "")[:2]
        if module == "org":
            missing = _zoho_error("OAUTH_SCOPE_MISMATCH")
            return as_json(200, {"org": [{"zgid": self.account}]}) if self.account else as_json(401, missing)
        if module not in self.may_read:
            return as_json(403, _zoho_error("NO_PERMISSION", permissions=[f"Crm_Implied_View_{module}"]))
        if request.args.get("sort_order") == "asc":
            return self._page(request, module)
        if request.method == "GET":
            found = self._found(request, module, is_search=id_ == "search")
            return as_json(200, {"data": found}) if found else Response(status=204)
        return self._write(module, id_, body["data"][0])

    def _found(self, request: Request, module: str, *, is_search: bool) -> list[dict[str, Any]]:
        rows, query = self.modules[module], request.args
        if is_search and "email" in query:
            term = query["email"].casefold()
            ids = [id_ for id_, row in rows.items() if term in str(row).casefold()]
        elif is_search:
            match = re.fullmatch(r"\(Account_Name:equals:((?:[^(),\\]|\\.)*)\)", query["criteria"])
            assert match, query["criteria"]
            name = re.sub(r"\\(.)", r"\1", match[1])
            ids = [id_ for id_, row in rows.items() if row["Account_Name"].startswith(name)]
        else:
            ids = query["ids"].split(",") if "ids" in query else list(rows)[::-1]
        hidden = self.unindexed if is_search else set()
        columns = query["fields"].split(",") if "fields" in query else None
        found = [self._row(module, id_, columns) for id_ in ids if id_ in rows and id_ not in hidden]
        return found[: int(query.get("per_page", 200))]

    def listed(self, request: Request) -> Response | None:
        if "cvid" not in request.args:
            return None
        assert int(request.args["per_page"]) <= 200
        if request.args["cvid"] not in self.lists:
            return as_json(400, _zoho_error("INVALID_DATA", api_name="cvid"))
        ids, following = self.listed_members(request.args["cvid"], request.args.get("page_token", ""))
        info = {"more_records": following is not None, "next_page_token": following}
        module, columns = request.path.rpartition("/")[2], request.args["fields"].split(",")
        rows = [self._row(module, id_, columns) for id_ in ids]
        return as_json(200, {"data": rows, "info": info}) if rows else Response(status=204)

    def _page(self, request: Request, module: str) -> Response:
        """List a page in the order of the changes, after a token, which contains the time and the id."""
        query, since = request.args, request.headers.get("If-Modified-Since")
        columns, limit = query["fields"].split(","), int(query["per_page"])
        assert (query["sort_by"], limit <= 200, len(columns) <= 50) == ("Modified_Time", True, True)
        is_after = operator.gt if self.is_since_exclusive else operator.ge
        rows = {
            id_: row
            for id_, row in self.modules[module].items()
            if query.get("converted") == "both" or not row.get("Converted__s")
            if not since or is_after(_time(row["Modified_Time"]), datetime.fromisoformat(since))
        }
        keys = {id_: f"{row['Modified_Time']} {id_.zfill(20)}" for id_, row in rows.items()}
        token = query.get("page_token", "")
        ids = sorted((id_ for id_ in rows if keys[id_] > token), key=keys.__getitem__)
        if not ids:
            return Response(status=304 if since else 204)
        info = {"more_records": len(ids) > limit, "next_page_token": None}
        if len(ids) > limit:
            info["next_page_token"] = keys[ids[limit - 1]]
        return as_json(200, {"data": [self._row(module, id_, columns) for id_ in ids[:limit]], "info": info})

    def _row(self, module: str, id_: str, columns: list[str] | None) -> dict[str, Any]:
        row = self.modules[module][id_]
        found = {name: row.get(name) for name in (row if columns is None else columns)}
        if module == "Contacts" and found.get("Account_Name"):
            id_of_account = found["Account_Name"]
            name = self.companies.get(id_of_account, {}).get("Account_Name", "Acme")
            found["Account_Name"] = {"id": id_of_account, "name": name}
        return found | {"id": id_}

    def _write(self, module: str, id_: str, values: dict[str, Any]) -> Response:
        rows = self.modules[module]
        for name, refusal in self.refusals.items():
            if name in values:
                code, _, detail = refusal.partition(" ")
                where = {"api_name": name, "json_path": f"$.data[0].{name}"} | ({detail: 1} if detail else {})
                return as_json(400, {"data": [_zoho_error(code, **where)]})
        email = values.get("Email")
        known = [other for other, row in rows.items() if email and row.get("Email") == email and other != id_]
        if self.is_unique and known:
            where = {"api_name": "Email", "duplicate_record": {"id": known[0]}}
            return as_json(400, {"data": [_zoho_error("DUPLICATE_DATA", **where)]})
        if module == "Contacts" and "Account_Name" in values:
            values["Account_Name"] = values["Account_Name"]["id"]
        if not id_:
            id_ = str(next(self.ids))
            self.unindexed.add(id_)
        rows.setdefault(id_, {}).update(values)
        done = {"code": "SUCCESS", "details": {"id": id_}, "status": "success"}
        return as_json(201, {"data": [done]})


def _time(text: str) -> datetime:
    """Return a time without the parts of its second, as Zoho compares it."""
    return datetime.fromisoformat(text or "2000-01-01T00:00:00+00:00").replace(microsecond=0)


def _zoho_error(code: str, **details: Any) -> dict[str, Any]:
    return {"code": code, "details": details, "message": "refused", "status": "error"}


def _hubspot_addresses(person: dict[str, Any]) -> list[str]:
    return [person.get("email") or "", *(person.get("hs_additional_emails") or "").split(";")]


def _hubspot_matches(person: dict[str, Any], one: dict[str, Any]) -> bool:
    present = person.get(one["propertyName"]) or ""
    if one["operator"] == "IN":
        return present in one["values"]
    assert one["operator"] == "CONTAINS_TOKEN"
    return bool(set(re.split(r"[@;]", one["value"])) & set(re.split(r"[@;]", present)))


def _hubspot_number(person: dict[str, Any], name: str) -> int:
    """Return an id, or a date in milliseconds since 1970."""
    text = person[name]
    return int(text) if text.isdigit() else int(datetime.fromisoformat(text).timestamp() * 1000)


def _hubspot_compares(person: dict[str, Any], one: dict[str, Any]) -> bool:
    present, value = _hubspot_number(person, one["propertyName"]), int(one["value"])
    return bool({"GTE": operator.ge, "GT": operator.gt, "EQ": operator.eq}[one["operator"]](present, value))


def _salesforce_matches(row: dict[str, Any], condition: str) -> bool:
    """Return whether a row meets a condition of equalities, lists and `!= null`, joined by one operator."""
    if " > " in condition or " >= " in condition:
        return _salesforce_follows(row, condition)
    if condition.startswith("("):
        return any(_salesforce_matches(row, part) for part in condition[1:-1].split(" OR "))
    if " AND " in condition:
        return all(_salesforce_matches(row, part) for part in condition.split(" AND "))
    column, operator_, values = condition.split(" ", 2)
    if operator_ == "LIKE":
        return values.strip("'%").lower() in str(row.get(column) or "").lower()
    wanted = [re.sub(r"\\(.)", r"\1", one) for one in re.findall(r"'((?:[^'\\]|\\.)*)'", values)]
    present = row.get(column)
    return present is not None and (values == "null" or str(present).lower() in map(str.lower, wanted))


def _salesforce_follows(row: dict[str, Any], condition: str) -> bool:
    """Return whether a row is behind a key: an id, a time, or a time and an id."""
    by_id = re.fullmatch(r"Id > '(\w+)'", condition)
    since = re.fullmatch(r"SystemModstamp >= ([\dT:.Z-]+)", condition)
    by_both = re.fullmatch(
        r"\(SystemModstamp > ([\dT:.Z-]+) OR \(SystemModstamp = \1 AND Id > '(\w+)'\)\)", condition
    )
    if by_id:
        return bool(row["Id"] > by_id[1])
    changed_at = datetime.fromisoformat(row["SystemModstamp"])
    if since:
        return changed_at >= datetime.fromisoformat(since[1])
    assert by_both, condition
    return (changed_at, row["Id"]) > (datetime.fromisoformat(by_both[1]), by_both[2])


def _salesforce_row(row: dict[str, Any], columns: list[str], accounts: dict[str, Any]) -> dict[str, Any]:
    found = {name: row.get(name) for name in columns if "." not in name}
    if "Account.Name" in columns:
        found["Account"] = accounts.get(row.get("AccountId") or "")
    if "Owner.Name" in columns:
        found["Owner"] = row.get("Owner")
    return found


_LISTS = ("emails", "phones")


def _pipedrive_terms(row: dict[str, Any], field: str) -> list[str]:
    """Return what an exact search in a field finds a record by."""
    texts = (
        [entry["value"] for entry in row.get("emails", ())] if field == "email" else [row.get(field) or ""]
    )
    return [text.casefold() for text in texts]


def _pipedrive_page(rows: dict[str, Any], query: Any) -> Response:
    """List records in the order of one field and the id, after a cursor, which contains both."""
    limit, name, since = int(query["limit"]), query["sort_by"], query.get("updated_since")
    assert limit <= 500
    assert not since or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", since), since
    from_then = datetime.fromisoformat(since or "2000-01-01T00:00:00Z")
    found = [
        row | {"id": int(id_)}
        for id_, row in rows.items()
        if datetime.fromisoformat(row["update_time"]) >= from_then
    ]
    keys = {row["id"]: [str(row[name]).zfill(40), row["id"]] for row in found}
    after = json.loads(query.get("cursor", "[]"))
    found = sorted((row for row in found if keys[row["id"]] > after), key=lambda row: keys[row["id"]])
    cursor = json.dumps(keys[found[limit - 1]["id"]]) if len(found) > limit else None
    return _succeeded(found[:limit], next_cursor=cursor)


def _succeeded(data: Any, **additional: Any) -> Response:
    return as_json(200, {"success": True, "data": data, "additional_data": additional})


def _failed(status: int, error: str, code: str = "") -> Response:
    return as_json(status, {"success": False, "error": error, "code": code, "data": None})


def _not_found() -> Response:
    return as_json(404, [{"errorCode": "NOT_FOUND", "message": "The requested resource does not exist"}])


def _bad_request(message: str) -> Response:
    return as_json(400, {"statusCode": 400, "error": "BadRequestException", "messages": [message]})


def _twenty_filtered(rows: dict[str, Any], condition: str) -> list[Any]:
    """Return the records that meet any of the terms; those in the trash only if the filter asks for them."""
    is_of_trash = "deletedAt[is]:NOT_NULL" in condition
    terms = re.findall(r'([\w.]+)\[(eq|like|ilike)\]:"([^"]*)"', condition)
    return [
        row | {"id": id_}
        for id_, row in rows.items()
        if bool(row.get("deletedAt")) == is_of_trash
        and (not terms or any(_twenty_matches(_at(row | {"id": id_}, name), *rest) for name, *rest in terms))
    ][:60]


def _twenty_matches(present: Any, comparator: str, value: str) -> bool:
    if comparator == "eq":
        return bool(present == value)
    pattern = ".*".join(map(re.escape, value.split("%")))
    text = present if isinstance(present, str) else json.dumps(present)
    return re.fullmatch(pattern, text, re.IGNORECASE if comparator == "ilike" else 0) is not None


def _split_number(body: dict[str, Any]) -> dict[str, Any]:
    """Return the record with its number in parts, as Twenty stores it."""
    number = (body.get("phones") or {}).get("primaryPhoneNumber")
    if not number:
        return dict(body)
    parsed = phonenumbers.parse(number)
    parts = {
        "primaryPhoneNumber": phonenumbers.national_significant_number(parsed),
        "primaryPhoneCallingCode": f"+{parsed.country_code}",
        "primaryPhoneCountryCode": phonenumbers.region_code_for_number(parsed),
    }
    return body | {"phones": parts}


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
