"""The names that tools and their parameters had before they were named as in the API; calls by them work."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, InputRequiredResult

TOOLS = {
    "enrich": "enrichment_request",
    "save_profile": "linkedin_save",
    "search_people": "people_searches",
    "search_stored_people": "people",
    "job": "jobs",
}
PARAMETERS = {
    "lookup": {"people": "subjects"},
    "reveal_email": {"person": "subject"},
    "reveal_phone": {"person": "subject"},
    "enrichment_request": {"estimate_only": "dry_run"},
    "linkedin_save": {"list_name": "list"},
    "people_searches": {"estimate_only": "dry_run"},
    "people": {
        "titles": "title",
        "seniorities": "seniority",
        "departments": "department",
        "industries": "industry",
        "headcounts": "headcount",
        "countries": "country",
        "company_website": "company_domain",
    },
    "jobs": {"job_id": "id"},
}


class Server(MCPServer):
    """A server that also takes calls by former names; it lists the present ones only."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context | None = None
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool by its name or its former one."""
        name = TOOLS.get(name, name)
        return await super().call_tool(name, present(name, arguments), context)


def present(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a tool by their present names."""
    renamed = PARAMETERS.get(tool, {})
    arguments = {renamed.get(name, name): value for name, value in arguments.items()}
    return _with_items(arguments) if tool == "enrichment_request" else arguments


def _with_items(arguments: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments with `entity` and `items` in place of `people` or `companies`."""
    for former, entity, key in (("people", "person", "subject"), ("companies", "company", "company")):
        named = arguments.get(former)
        rest = {name: value for name, value in arguments.items() if name not in {"people", "companies"}}
        if isinstance(named, list) and named:
            return {**rest, "entity": entity, "items": [{key: one} for one in named]}
    return arguments
