"""The tools, one for each endpoint that an agent has a use for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, Field

from mcp_server import answers
from mcp_server.answers import Answer
from mcp_server.api import Api, Progress
from mcp_server.calls import Calls
from mcp_server.inputs import (
    EmailType,
    EnrichedField,
    Known,
    MaxAge,
    MinStatus,
    NamedCompany,
    Person,
    PhoneType,
    Profile,
    Purpose,
    Skip,
    SkipWhen,
    UseOwnRecords,
    Website,
)
from mcp_server.websites import website_hashes

SESSION, SEARCH = "/api/ext/session", "/api/people-searches"
MAX_PEOPLE, MAX_ITEMS = 50, 100


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one server; each method is a tool, and its docstring is what the agent reads."""

    calls: Calls

    async def session(self, context: Context) -> Answer:
        """Return the account, workspace, credits, prices, purposes, and the scopes of the key. Free."""
        response = await self.calls.api(context).get(SESSION)
        return answers.of_free_call(response, response.body["credits"]["balance"])

    async def lookup(
        self, people: Annotated[list[Person], Field(min_length=1, max_length=MAX_PEOPLE)], context: Context
    ) -> Answer:
        """Find out what is stored about people, with contact data masked. Free, and no provider is asked.

        `results` has one entry for each person, in order. `available` lists what can be revealed, and
        `revealed` what the workspace already owns; `crm` and `address_books` have the person's records
        in the workspace's CRM and in its address books.
        """
        api = self.calls.api(context)
        response = await api.post("/api/ext/lookup", {"subjects": [_sent(person) for person in people]})
        return answers.of_free_call(response, await _balance(api))

    async def reveal_email(
        self,
        person: Person,
        context: Context,
        types: list[EmailType] | None = None,
        min_status: MinStatus | None = None,
        max_age_days: MaxAge = None,
        *,
        purpose: Purpose = None,
        use_own_records: UseOwnRecords = None,
    ) -> Answer:
        """Reveal a person's e-mail addresses.

        This spends a credit if an address of at least `min_status` (default: valid) is found; what the
        workspace already owns or has in its CRM is free. Data providers may be asked, which takes seconds.
        """
        options = {
            "types": types,
            "min_status": min_status,
            "max_age_days": max_age_days,
            "purpose": purpose,
            "use_own_records": use_own_records,
        }
        return await self._submit(context, "/api/ext/reveal/email", {"subject": _sent(person), **options})

    async def reveal_phone(
        self,
        person: Person,
        context: Context,
        types: list[PhoneType] | None = None,
        min_status: MinStatus | None = None,
        max_age_days: MaxAge = None,
        *,
        purpose: Purpose = None,
        use_own_records: UseOwnRecords = None,
    ) -> Answer:
        """Reveal a person's phone numbers.

        This spends credits if a number of at least `min_status` (default: any) is found; what the workspace
        already owns or has in its CRM is free. Observe `do_not_call`.
        """
        options = {
            "types": types,
            "min_status": min_status,
            "max_age_days": max_age_days,
            "purpose": purpose,
            "use_own_records": use_own_records,
        }
        return await self._submit(context, "/api/ext/reveal/phone", {"subject": _sent(person), **options})

    async def enrich(  # noqa: PLR0913 -- the protocol passes arguments by name
        self,
        context: Context,
        max_credits: Annotated[int, Field(ge=0, description="The most that this call may spend.")],
        people: Annotated[list[Person], Field(max_length=MAX_ITEMS)] | None = None,
        companies: Annotated[list[NamedCompany], Field(max_length=MAX_ITEMS)] | None = None,
        fields: list[EnrichedField] | None = None,
        *,
        purpose: Purpose = None,
        use_own_records: UseOwnRecords = None,
        skip: Skip = None,
        skip_when: SkipWhen = None,
        estimate_only: Annotated[bool, Field(description="Return the price; do nothing.")] = False,
    ) -> Answer:
        """Complete up to 100 people, or up to 100 companies, in one job.

        `fields` are profile, company and email by default; phone must be named. Each address or number that
        is found spends its price, never more than `max_credits` in total. Estimate first: the answer says
        how many of the people are in the CRM of the workspace, and `skip` leaves them out.
        """
        if bool(people) == bool(companies):
            raise ToolError("Pass either people or companies, with at least one item.")
        items = [{"subject": _sent(one)} for one in people or ()]
        items += [{"company": _sent(one)} for one in companies or ()]
        entity = "person" if people else "company"
        options = {
            "fields": fields,
            "max_credits": max_credits,
            "purpose": purpose,
            "use_own_records": use_own_records,
            "skip": skip,
            "skip_when": skip_when,
        }
        body = _set({"entity": entity, "items": items, **options})
        if not estimate_only:
            return await self._submit(context, "/api/ext/enrichment-request", body)
        api = self.calls.api(context)
        response = await api.post("/api/ext/enrichment-request", {**body, "dry_run": True})
        return answers.of_estimate(response, await _balance(api))

    async def save_profile(
        self,
        profile: Profile,
        context: Context,
        list_name: str | None = None,
        tags: list[str] | None = None,
        note: str | None = None,
    ) -> Answer:
        """Save a profile for the workspace, or update the saved one. Free.

        `list_name`, `tags` and `note` replace those that are saved. `job_change` says whether the person has
        another company or title than when the profile was last saved.
        """
        path = "/api/ext/linkedin-save"
        body = _set({"profile": _sent(profile), "list": list_name, "tags": tags, "note": note})
        api = self.calls.api(context)
        response = await api.post(path, body, key=self.calls.idempotency_key(context, path, body))
        return answers.of_free_call(response, await _balance(api))

    async def company_by_website(self, website: Website, context: Context) -> Answer:
        """Find the company of a website, and how its e-mail addresses are formed. Free."""
        return await self._submit(context, "/api/ext/company-by-hash", {"hashes": website_hashes(website)})

    async def leads_by_website(  # noqa: PLR0917 -- the protocol passes arguments by name
        self,
        website: Website,
        context: Context,
        department: str | None = None,
        seniority: str | None = None,
        has: list[Known] | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 25,
        cursor: Annotated[str | None, Field(description="next_cursor of the previous page.")] = None,
    ) -> Answer:
        """List the known people of a website's company, most senior first. Free.

        Pass `contact_id` of a lead to reveal_email or reveal_phone. `has` leaves out people without a known
        address or number.
        """
        page = {"has": has, "limit": limit, "cursor": cursor}
        body = {"hashes": website_hashes(website), "department": department, "seniority": seniority, **page}
        return await self._submit(context, "/api/ext/leads-by-website-hash", body)

    async def search_people(  # noqa: PLR0913, PLR0917 -- the protocol passes arguments by name
        self,
        context: Context,
        max_credits: Annotated[int, Field(ge=0, description="The most that this call may spend.")],
        company_domain: Website | None = None,
        company_name: Annotated[str | None, Field(description="If its website is not known.")] = None,
        titles: Annotated[list[str], Field(max_length=10)] | None = None,
        seniorities: Annotated[list[str], Field(max_length=10)] | None = None,
        departments: Annotated[list[str], Field(max_length=10)] | None = None,
        countries: Annotated[list[str], Field(max_length=10)] | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 25,
        page: Annotated[int, Field(ge=1, le=20, description="next_page of the search before.")] = 1,
        *,
        purpose: Purpose = None,
        estimate_only: Annotated[bool, Field(description="Return the price; do nothing.")] = False,
    ) -> Answer:
        """Find people of a company through data providers, by title, seniority, department and country.

        `stored` has the people who are known already, free; with `max_credits` 0 no provider is asked for
        others. Each person in `people` who was not known costs a credit or what session says, once. Pass a
        contact_id to reveal_email or reveal_phone.
        """
        criteria = {
            "company_domain": company_domain,
            "company_name": company_name,
            "titles": titles,
            "seniorities": seniorities,
            "departments": departments,
            "countries": countries,
        }
        body = _set(
            {**criteria, "limit": limit, "page": page, "max_credits": max_credits, "purpose": purpose}
        )
        if not estimate_only:
            return await self._submit(context, SEARCH, body)
        api = self.calls.api(context)
        return answers.of_estimate(await api.post(SEARCH, {**body, "dry_run": True}), await _balance(api))

    async def search_stored_people(  # noqa: PLR0913, PLR0917 -- the protocol passes arguments by name
        self,
        context: Context,
        query: Annotated[
            str | None, Field(description="A name, a part of one, a company, or both; without criteria.")
        ] = None,
        titles: list[str] | None = None,
        seniorities: list[str] | None = None,
        departments: list[str] | None = None,
        industries: list[str] | None = None,
        headcounts: list[str] | None = None,
        countries: list[str] | None = None,
        company_website: Website | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 25,
        cursor: Annotated[str | None, Field(description="next_cursor of the previous page.")] = None,
    ) -> Answer:
        """Search the stored people by criteria, most senior first, or by a query; masked. Free.

        A person meets every criterion, each by any of its values: `titles` such as VP Sales, `seniorities`
        such as vp, `departments` such as sales, `headcounts` such as 51-200, `countries` such as DE. At most
        1,000 people are found; if `at_least` is true, add criteria. Pass `contact_id` of a person to
        reveal_email or reveal_phone.
        """
        parameters = {
            "q": query,
            "title": titles,
            "seniority": seniorities,
            "department": departments,
            "industry": industries,
            "headcount": headcounts,
            "country": countries,
            "company_domain": company_website,
            "limit": limit,
            "cursor": cursor,
        }
        api = self.calls.api(context)
        response = await api.get("/api/people", _set(parameters))
        return answers.of_free_call(response, await _balance(api))

    async def job(self, job_id: str, context: Context) -> Answer:
        """Wait for a job that another tool returned unfinished, and return its result. Free.

        `cost` is what the job cost when it was created, not the price of this call.
        """
        response = await self.calls.api(context).poll(job_id, progress=_reporter(context))
        return answers.of_job(response)

    async def _submit(self, context: Context, path: str, body: dict[str, Any]) -> Answer:
        body = _set(body)
        response = await self.calls.api(context).submit(
            path, body, key=self.calls.idempotency_key(context, path, body), progress=_reporter(context)
        )
        return answers.of_job(response)


def _sent(model: BaseModel) -> dict[str, Any]:
    return model.model_dump(exclude_none=True)


def _set(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}


async def _balance(api: Api) -> int:
    balance: int = (await api.get(SESSION)).body["credits"]["balance"]
    return balance


def _reporter(context: Context) -> Progress:
    async def report(progress: dict[str, Any]) -> None:
        await context.report_progress(progress["done"], progress["total"])

    return report
