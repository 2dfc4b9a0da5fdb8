"""A HubSpot, a Salesforce and a Twenty with generated people, as far as a reading asks them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, ClassVar

from benchmarks._json_server import JsonServer

PEOPLE_OF_A_COMPANY = 20
SCATTER = 7919
"""A prime number: people with consecutive ids are at different companies."""
_LETTERS = str.maketrans("0123456789", "abcdefghij")
_CREATED = datetime(2026, 1, 1, tzinfo=UTC)


class FakeCrm(JsonServer):
    """A CRM with people 1 to `records`; `moved` is who has another address, which one, and since when."""

    vendor: ClassVar[str]

    def __init__(self, records: int) -> None:
        super().__init__()
        self.records = records
        self.moved: tuple[int, str, datetime] | None = None

    def move(self, number: int, address: str) -> None:
        """Change the address of a person now."""
        self.moved = (number, address, datetime.now(UTC))

    def address(self, number: int) -> str:
        """Return the address of a person."""
        if self.moved is not None and self.moved[0] == number:
            return self.moved[1]
        return f"contact{number}@company{self.company(number)}.example"

    @staticmethod
    def surname(number: int) -> str:
        """Return the family name of a person, which nobody else has; one with digits would be unusual."""
        return "Lovelace" + str(number).translate(_LETTERS)

    def changed_at(self, number: int) -> str:
        """Return when the person was changed last."""
        at = _CREATED + timedelta(seconds=number)
        if self.moved is not None and self.moved[0] == number:
            at = self.moved[2]
        return at.isoformat(timespec="milliseconds")

    def changed(self) -> list[int]:
        """Return who was changed while the CRM is read."""
        return [] if self.moved is None else [self.moved[0]]

    def company(self, number: int) -> int:
        """Return the number of a person's company."""
        return number * SCATTER % max(1, self.records // PEOPLE_OF_A_COMPANY)

    def answer(
        self,
        method: str,  # noqa: ARG002 -- the path says what is asked
        path: str,
        query: Mapping[str, str],
        body: Mapping[str, Any],  # noqa: ARG002 -- a search is always for the changes
    ) -> tuple[HTTPStatus, object]:
        """Return what is asked for."""
        return HTTPStatus.OK, self.found(path, query)

    def found(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return what is asked for."""
        raise NotImplementedError


class HubSpot(FakeCrm):
    """Contacts, by the list and by the search."""

    vendor = "hubspot"

    def found(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return contacts, or a list of nobody for what else is asked."""
        if path.endswith("/search"):
            return {"results": [self._contact(number) for number in self.changed()]}
        if not path.endswith("/contacts"):
            return {"results": [], "portalId": 4242}
        after = int(query.get("after", 0))
        last = min(after + int(query.get("limit", 100)), self.records)
        more = {"paging": {"next": {"after": str(last)}}} if last < self.records else {}
        return {"results": [self._contact(number) for number in range(after + 1, last + 1)]} | more

    def _contact(self, number: int) -> dict[str, Any]:
        company = self.company(number)
        properties = {
            "firstname": "Ada",
            "lastname": self.surname(number),
            "email": self.address(number),
            "phone": f"+1 212 555 {number % 10_000:04}",
            "hs_linkedin_url": f"https://www.linkedin.com/in/person-{number}",
            "company": f"Company {company} GmbH",
            "website": f"https://www.company{company}.example",
            "lifecyclestage": "customer",
            "lastmodifieddate": self.changed_at(number),
        }
        return {"id": str(number), "properties": properties}


class Salesforce(FakeCrm):
    """Four contacts for each lead, by queries in the order of ids or of changes."""

    vendor = "salesforce"
    _LAST = re.compile(r"Id > '00[3Q](\d+)'")
    _TABLE = re.compile(r" FROM (\w+) ")
    _LIMIT = re.compile(r" LIMIT (\d+)$")
    _PREFIXES: ClassVar[dict[str, str]] = {"Contact": "003", "Lead": "00Q"}

    def found(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return the rows of a query; nothing is said of the tables."""
        if not path.endswith("/query"):
            return {"fields": []}
        soql = query["q"]
        table, limit = self._found(self._TABLE, soql), int(self._found(self._LIMIT, soql))
        if table not in self._PREFIXES:
            return {"records": []}
        last = int(self._found(self._LAST, soql, "0"))
        contacts = self.records * 4 // 5
        people = range(1, contacts + 1) if table == "Contact" else range(contacts + 1, self.records + 1)
        if "SystemModstamp >" in soql:
            found = [number for number in self.changed() if number in people and number > last]
        else:
            found = list(range(max(last + 1, people.start), people.stop))[:limit]
        return {"records": [self._row(table, number) for number in found]}

    def _row(self, table: str, number: int) -> dict[str, Any]:
        company = self.company(number)
        employer = {"Name": f"Company {company} GmbH", "Website": f"https://www.company{company}.example"}
        row = {
            "Id": f"{self._PREFIXES[table]}{number:012}",
            "FirstName": "Ada",
            "LastName": self.surname(number),
            "Email": self.address(number),
            "Phone": f"+1 212 555 {number % 10_000:04}",
            "SystemModstamp": self.changed_at(number),
            "Owner": {"Name": "Kim Example"},
        }
        if table == "Contact":
            return row | {"Account": employer}
        return row | {"Company": employer["Name"], "Website": employer["Website"], "Status": "Open"}

    @staticmethod
    def _found(pattern: re.Pattern[str], soql: str, default: str = "") -> str:
        found = pattern.search(soql)
        return found.group(1) if found else default


class Twenty(FakeCrm):
    """People with their companies and the owners of those, by the query of a page."""

    vendor = "twenty"

    def answer(
        self, method: str, path: str, query: Mapping[str, str], body: Mapping[str, Any]
    ) -> tuple[HTTPStatus, object]:
        """Return a page of people, or nobody if something else is asked."""
        if path != "/graphql":
            return super().answer(method, path, query, body)
        variables = body["variables"]
        if "filter" in variables:
            return HTTPStatus.OK, self._page(self.changed(), None)
        after = int(variables.get("after", "0"))
        last = min(after + variables["first"], self.records)
        return HTTPStatus.OK, self._page(range(after + 1, last + 1), last if last < self.records else None)

    def found(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:  # noqa: ARG002 -- it is a check
        """Return nobody."""
        return {"data": {"people": [], "objects": []}}

    def _person(self, number: int) -> dict[str, Any]:
        return {
            "id": str(number),
            "updatedAt": self.changed_at(number),
            "name": {"firstName": "Ada", "lastName": self.surname(number)},
            "emails": {"primaryEmail": self.address(number), "additionalEmails": []},
            "phones": {
                "primaryPhoneNumber": f"212555{number % 10_000:04}",
                "primaryPhoneCallingCode": "+1",
                "primaryPhoneCountryCode": "US",
            },
            "linkedinLink": {"primaryLinkUrl": f"https://www.linkedin.com/in/person-{number}"},
            "company": self._company(self.company(number)),
        }

    def _company(self, number: int) -> dict[str, Any]:
        domain = {"primaryLinkUrl": f"https://www.company{number}.example"}
        owner = {"name": {"firstName": "Kim", "lastName": "Example"}}
        return {"name": f"Company {number}", "domainName": domain, "accountOwner": owner}

    def _page(self, numbers: Iterable[int], following: int | None) -> dict[str, Any]:
        edges = [{"node": self._person(number)} for number in numbers]
        info = {"endCursor": following and str(following), "hasNextPage": following is not None}
        return {"data": {"people": {"edges": edges, "pageInfo": info}}}


CRMS: tuple[type[FakeCrm], ...] = (HubSpot, Salesforce, Twenty)
