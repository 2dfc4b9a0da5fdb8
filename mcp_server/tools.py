"""The tools, one for each endpoint that an agent has a use for, with its name and the names of its fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from pydantic import BaseModel, Field

from mcp_server import answers
from mcp_server.answers import Answer
from mcp_server.api import Api, Progress
from mcp_server.calls import Calls
from mcp_server.inputs import (
    EmailType,
    EnrichedField,
    EnrichedItem,
    Entity,
    Known,
    MaxAge,
    MinStatus,
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
VERIFY = "/api/verifications"
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
        self, subjects: Annotated[list[Person], Field(min_length=1, max_length=MAX_PEOPLE)], context: Context
    ) -> Answer:
        """Find out what is stored about people, with contact data masked. Free, and no provider is asked.

        `results` has one entry for each person, in order. `available` lists what can be revealed, and
        `revealed` what the workspace already owns; `crm` and `address_books` have the person's records
        in the workspace's CRM and in its address books.
        """
        api = self.calls.api(context)
        response = await api.post("/api/ext/lookup", {"subjects": [_sent(one) for one in subjects]})
        return answers.of_free_call(response, await _balance(api))

    async def reveal_email(
        self,
        subject: Person,
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
        return await self._submit(context, "/api/ext/reveal/email", {"subject": _sent(subject), **options})

    async def reveal_phone(
        self,
        subject: Person,
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
        already owns or has in its CRM is free. Observe `do_not_call`; `call_registers` names the do-not-call
        registers and their dates.
        """
        options = {
            "types": types,
            "min_status": min_status,
            "max_age_days": max_age_days,
            "purpose": purpose,
            "use_own_records": use_own_records,
        }
        return await self._submit(context, "/api/ext/reveal/phone", {"subject": _sent(subject), **options})

    async def enrichment_request(  # noqa: PLR0913 -- the protocol passes arguments by name
        self,
        context: Context,
        entity: Entity,
        items: Annotated[list[EnrichedItem], Field(min_length=1, max_length=MAX_ITEMS)],
        max_credits: Annotated[int, Field(ge=0, description="The most that this call may spend.")],
        fields: list[EnrichedField] | None = None,
        *,
        purpose: Purpose = None,
        use_own_records: UseOwnRecords = None,
        skip: Skip = None,
        skip_when: SkipWhen = None,
        dry_run: Annotated[bool, Field(description="Return the price; do nothing.")] = False,
    ) -> Answer:
        """Complete up to 100 people, or up to 100 companies, in one job.

        `fields` are profile, company and email by default; phone must be named. Each address or number that
        is found spends its price, never more than `max_credits` in total. Estimate first: the answer says
        how many of the people are in the CRM of the workspace, and `skip` leaves them out.
        """
        options = {
            "fields": fields,
            "max_credits": max_credits,
            "purpose": purpose,
            "use_own_records": use_own_records,
            "skip": skip,
            "skip_when": skip_when,
        }
        body = _set({"entity": entity, "items": [_sent(one) for one in items], **options})
        if not dry_run:
            return await self._submit(context, "/api/ext/enrichment-request", body)
        api = self.calls.api(context)
        response = await api.post("/api/ext/enrichment-request", {**body, "dry_run": True})
        return answers.of_estimate(response, await _balance(api))

    async def linkedin_save(
        self,
        profile: Profile,
        context: Context,
        list: str | None = None,  # noqa: A002 -- the name of the API's field
        tags: list[str] | None = None,
        note: str | None = None,
    ) -> Answer:
        """Save a profile for the workspace, or update the saved one. Free.

        `list`, `tags` and `note` replace those that are saved. `job_change` says whether the person has
        another company or title than when the profile was last saved.
        """
        path = "/api/ext/linkedin-save"
        body = _set({"profile": _sent(profile), "list": list, "tags": tags, "note": note})
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

    async def people_searches(  # noqa: PLR0913, PLR0917 -- the protocol passes arguments by name
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
        dry_run: Annotated[bool, Field(description="Return the price; do nothing.")] = False,
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
        if not dry_run:
            return await self._submit(context, SEARCH, body)
        api = self.calls.api(context)
        return answers.of_estimate(await api.post(SEARCH, {**body, "dry_run": True}), await _balance(api))

    async def verifications(
        self,
        context: Context,
        values: Annotated[list[str], Field(min_length=1, max_length=MAX_ITEMS)],
        max_credits: Annotated[int, Field(ge=0, description="The most that this call may spend.")],
        country: Annotated[str | None, Field(description="Of numbers without a country code.")] = None,
        *,
        dry_run: Annotated[bool, Field(description="Return the price; do nothing.")] = False,
    ) -> Answer:
        """Verify up to 100 e-mail addresses and phone numbers that the user has.

        Each address with a verdict (valid, accept_all, risky, invalid) costs a credit or what session says;
        unknown ones, duplicates and numbers are free. A number is checked against the numbering plan only.
        """
        body = _set({"values": values, "max_credits": max_credits, "country": country})
        if not dry_run:
            return await self._submit(context, VERIFY, body)
        api = self.calls.api(context)
        return answers.of_estimate(await api.post(VERIFY, {**body, "dry_run": True}), await _balance(api))

    async def people(  # noqa: PLR0913, PLR0917 -- the protocol passes arguments by name
        self,
        context: Context,
        q: Annotated[
            str | None, Field(description="A name, a part of one, a company, or both; without criteria.")
        ] = None,
        title: list[str] | None = None,
        seniority: list[str] | None = None,
        department: list[str] | None = None,
        industry: list[str] | None = None,
        headcount: list[str] | None = None,
        country: list[str] | None = None,
        company_domain: Website | None = None,
        limit: Annotated[int, Field(ge=1, le=100)] = 25,
        cursor: Annotated[str | None, Field(description="next_cursor of the previous page.")] = None,
    ) -> Answer:
        """Search the stored people by criteria, most senior first, or by a query; masked. Free.

        A person meets every criterion, each by any of its values: `title` such as VP Sales, `seniority`
        such as vp, `department` such as sales, `headcount` such as 51-200, `country` such as DE. At most
        1,000 people are found; if `at_least` is true, add criteria. Pass `contact_id` of a person to
        reveal_email or reveal_phone.
        """
        query = {
            "q": q,
            "title": title,
            "seniority": seniority,
            "department": department,
            "industry": industry,
            "headcount": headcount,
            "country": country,
            "company_domain": company_domain,
            "limit": limit,
            "cursor": cursor,
        }
        api = self.calls.api(context)
        response = await api.get("/api/people", _set(query))
        return answers.of_free_call(response, await _balance(api))

    async def jobs(self, id: str, context: Context) -> Answer:  # noqa: A002 -- the name of the API's field
        """Wait for a job that another tool returned unfinished, and return its result. Free.

        `cost` is what the job cost when it was created, not the price of this call.
        """
        response = await self.calls.api(context).poll(id, progress=_reporter(context))
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


async def _balance(api: Api) -> int | None:
    balance: int | None = (await api.get(SESSION)).body["credits"]["balance"]
    return balance


def _reporter(context: Context) -> Progress:
    async def report(progress: dict[str, Any]) -> None:
        await context.report_progress(progress["done"], progress["total"])

    return report
