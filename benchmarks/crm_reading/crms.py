"""A HubSpot, a Salesforce and a Twenty with generated people, as far as a reading asks them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Any, ClassVar

from benchmarks._json_server import JsonServer

PEOPLE_OF_A_COMPANY = 20
SCATTER = 7919
"""A prime number: people with consecutive ids are at different companies."""
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
            "lastname": f"Lovelace{number}",
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
            "LastName": f"Lovelace{number}",
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
    """People, and their companies by id."""

    vendor = "twenty"

    def found(self, path: str, query: Mapping[str, str]) -> dict[str, Any]:
        """Return people, or the companies or owners with these ids."""
        if path.endswith("/people"):
            return self._people(query)
        ids = re.findall(r'"([^"]+)"', query.get("filter", ""))
        if path.endswith("/companies"):
            return self._page("companies", [self._company(int(one)) for one in ids], None)
        members = [{"id": one, "name": {"firstName": "Kim", "lastName": "Example"}} for one in ids]
        return self._page("workspaceMembers", members, None)

    def _people(self, query: Mapping[str, str]) -> dict[str, Any]:
        if "updatedAt[gte]" in query.get("filter", ""):
            return self._page("people", [self._person(number) for number in self.changed()], None)
        after = int(query.get("starting_after", "0"))
        last = min(after + int(query.get("limit", "60")), self.records)
        people = [self._person(number) for number in range(after + 1, last + 1)]
        return self._page("people", people, str(last) if last < self.records else None)

    def _person(self, number: int) -> dict[str, Any]:
        return {
            "id": str(number),
            "updatedAt": self.changed_at(number),
            "name": {"firstName": "Ada", "lastName": f"Lovelace{number}"},
            "emails": {"primaryEmail": self.address(number), "additionalEmails": []},
            "phones": {
                "primaryPhoneNumber": f"212555{number % 10_000:04}",
                "primaryPhoneCallingCode": "+1",
                "primaryPhoneCountryCode": "US",
            },
            "linkedinLink": {"primaryLinkUrl": f"https://www.linkedin.com/in/person-{number}"},
            "companyId": str(self.company(number)),
        }

    def _company(self, number: int) -> dict[str, Any]:
        domain = {"primaryLinkUrl": f"https://www.company{number}.example"}
        owner = str(number % 50 + 1)
        return {"id": str(number), "name": f"Company {number}", "domainName": domain, "accountOwnerId": owner}

    @staticmethod
    def _page(kind: str, found: list[dict[str, Any]], following: str | None) -> dict[str, Any]:
        page = {"endCursor": following, "hasNextPage": following is not None}
        return {"data": {kind: found}, "pageInfo": page, "totalCount": len(found)}


CRMS: tuple[type[FakeCrm], ...] = (HubSpot, Salesforce, Twenty)
