"""Builds the MCP server: its tools, and what clients are told about each."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from mcp.server import MCPServer
from mcp_types import ToolAnnotations

from mcp_server.calls import Calls
from mcp_server.former_names import Server
from mcp_server.settings import Settings
from mcp_server.tools import Tools

INSTRUCTIONS = """
Finds business contacts: who works at a company, and their e-mail addresses and phone numbers. Every answer
says what the call cost (`cost.charged`) and what is left (`cost.balance`), in credits. Looking up is free:
call lookup, leads_by_website or people first, and reveal only what is needed. If too few people
of a company are known, people_searches finds others. A value that was found is paid for once; asking again is
free. If `finished` is false, call the tool jobs with the job's id. An error says what to do. Do not repeat a
call that was refused with 402 or 403; ask the user. If `purposes.required` in the answer of session is true,
ask the user for the purpose of the values, and pass it to reveal_email, reveal_phone,
enrichment_request and people_searches as `purpose`. The people concerned can see it.
"""
READS = ToolAnnotations(
    read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
WRITES = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
)
SPENDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=True
)


def build(settings: Settings) -> MCPServer:
    """Return the server; over HTTP, each request brings its own API key."""
    server: MCPServer = Server(
        "contact-lookup",
        title="Contact lookup",
        version=_version(),
        instructions=INSTRUCTIONS.strip(),
        log_level="WARNING",  # the arguments of a call are personal data
        subscriptions=False,
    )
    tools = Tools(Calls(settings))
    for read in (
        tools.session,
        tools.lookup,
        tools.company_by_website,
        tools.leads_by_website,
        tools.people,
        tools.jobs,
    ):
        server.add_tool(read, annotations=READS)
    server.add_tool(tools.linkedin_save, annotations=WRITES)
    for spend in (
        tools.reveal_email,
        tools.reveal_phone,
        tools.enrichment_request,
        tools.people_searches,
        tools.verifications,
    ):
        server.add_tool(spend, annotations=SPENDS)
    return server


def _version() -> str:
    try:
        return version("contact-lookup")
    except PackageNotFoundError:  # runs from a checkout
        return "0"
