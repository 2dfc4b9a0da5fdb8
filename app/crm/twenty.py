"""Twenty: people and companies by the REST API of the workspace's own server or of twenty.com, by API key.

Sources: docs.twenty.com/developers/extend/api (REST API, bearer key, 100 calls per minute) and the schema
that each workspace shows under Settings, APIs: `filter=emails.primaryEmail[eq]:"…"`, composite fields such as
`emails.primaryEmail`, answers under `data.people`, `data.createPerson` and `data.updatePerson`. The primary
address and a company's domain are unique; a second one is a 400 whose message mentions a duplicate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from app.crm.vendor import (
    OK,
    Crm,
    CrmField,
    CrmRecord,
    Duplicate,
    Employer,
    Rejected,
    Request,
    Response,
    Send,
    Unreachable,
    filled,
)

BAD_REQUEST = (400, 409, 422)


class Twenty(Crm):
    """Twenty's people; the company is a record of its own."""

    name = "twenty"
    title = "Twenty"
    needs_url = True
    key_help = "An API key: Settings, APIs & Webhooks, Create API key."
    calls_per_minute = 90
    company_property = "companyId"
    mapping = MappingProxyType(
        {
            CrmField.FIRST_NAME: "name.firstName",
            CrmField.LAST_NAME: "name.lastName",
            CrmField.EMAIL: "emails.primaryEmail",
            CrmField.PHONE: "phones.primaryPhoneNumber",
            CrmField.TITLE: "jobTitle",
            CrmField.COMPANY: "companyId",
            CrmField.LINKEDIN_URL: "linkedinLink.primaryLinkUrl",
        }
    )

    def check(self, send: Send) -> None:
        """List one person."""
        self._data(send(Request(method="GET", path="/rest/people", query={"limit": "1"})))

    def find(self, send: Send, properties: Sequence[str], *, email: str) -> CrmRecord | None:
        """Filter the people by the primary address."""
        return self._first(send, properties, f"emails.primaryEmail[eq]:{_quoted(email)}")

    def get(self, send: Send, properties: Sequence[str], *, record_id: str) -> CrmRecord | None:
        """Filter the people by id."""
        return self._first(send, properties, f"id[eq]:{_quoted(record_id)}")

    def create(self, send: Send, values: Mapping[str, str]) -> CrmRecord:
        """Create the person."""
        request = Request(method="POST", path="/rest/people", body=_nested(values))
        return _record(self._data(send(request)).get("createPerson"), tuple(values))

    def update(self, send: Send, record_id: str, values: Mapping[str, str]) -> CrmRecord:
        """Write these fields."""
        request = Request(method="PATCH", path=f"/rest/people/{record_id}", body=_nested(values))
        return _record(self._data(send(request)).get("updatePerson"), tuple(values))

    def find_company(self, send: Send, employer: Employer) -> str | None:
        """Filter the companies by domain, else by name."""
        if employer.domain:
            urls = (f"https://{employer.domain}", employer.domain)
            terms = ",".join(f"domainName.primaryLinkUrl[eq]:{_quoted(url)}" for url in urls)
            return self._company(send, f"or({terms})")
        return self._company(send, f"name[eq]:{_quoted(employer.name)}") if employer.name else None

    def create_company(self, send: Send, employer: Employer) -> str:
        """Create the company."""
        body: dict[str, Any] = {"name": employer.name or employer.domain}
        if employer.domain:
            body["domainName"] = {"primaryLinkUrl": f"https://{employer.domain}"}
        data = self._data(send(Request(method="POST", path="/rest/companies", body=body)))
        return str(data["createCompany"]["id"])

    def raise_for_status(self, response: Response) -> Response:
        """Recognize duplicates, which Twenty reports as an invalid request.

        Raises:
            Duplicate: another record has the address or the domain.
            Rejected: the request is not valid, or as in `Crm.raise_for_status`.
            AccessRefused, Throttled, Unreachable: as there.

        """
        if response.status not in OK and response.status in BAD_REQUEST:
            if "duplicate" in str(response.object.get("messages")).lower():
                raise Duplicate(None)
            raise Rejected("invalid_values")
        return super().raise_for_status(response)

    def _first(self, send: Send, properties: Sequence[str], condition: str) -> CrmRecord | None:
        query = {"filter": condition, "limit": "1"}
        people = self._data(send(Request(method="GET", path="/rest/people", query=query))).get("people") or []
        return _record(people[0], properties) if people else None

    def _company(self, send: Send, condition: str) -> str | None:
        query = {"filter": condition, "limit": "1"}
        data = self._data(send(Request(method="GET", path="/rest/companies", query=query)))
        companies = data.get("companies") or []
        return str(companies[0]["id"]) if companies else None

    def _data(self, response: Response) -> Mapping[str, Any]:
        data = self.raise_for_status(response).object.get("data")
        if not isinstance(data, dict):
            raise Unreachable("unexpected_response")
        return data


def _quoted(value: str) -> str:
    """Return a value of a filter in quotes, without the characters that would end it."""
    return '"' + value.replace("\\", "").replace('"', "") + '"'


def _nested(values: Mapping[str, str]) -> dict[str, Any]:
    """Return the object of dotted names: `name.firstName` is a part of `name`."""
    body: dict[str, Any] = {}
    for name, value in values.items():
        outer, dot, inner = name.partition(".")
        if dot:
            body.setdefault(outer, {})[inner] = value
        else:
            body[outer] = value
    return body


def _record(person: Any, properties: Sequence[str]) -> CrmRecord:  # noqa: ANN401 -- JSON
    return CrmRecord(str(person["id"]), filled({name: _value(person, name) for name in properties}))


def _value(person: Mapping[str, Any], name: str) -> object:
    outer, dot, inner = name.partition(".")
    value = person.get(outer)
    return (value or {}).get(inner) if dot else value
