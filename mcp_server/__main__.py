"""`contact-lookup-mcp`, or `python -m mcp_server`: serve MCP over stdio, or with --http over HTTP."""

from __future__ import annotations

import argparse
import os
import sys
from ipaddress import ip_address
from urllib.parse import urlsplit

from mcp_server import connections, http_app
from mcp_server.server import build
from mcp_server.settings import Settings, SettingsError

DEFAULT_PORT = 8765


def main(argv: list[str] | None = None) -> int:
    """Serve until the client disconnects or a signal; return 2 if a setting is missing."""
    options = _parser().parse_args(argv)
    try:
        settings = Settings.read(os.environ, with_key=not options.http)
    except SettingsError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    server = build(settings)
    if not options.http:
        server.run("stdio")
        return 0
    if not options.public_url and not _is_loopback(options.host):
        sys.stderr.write(
            "Behind another address than loopback, name it: --public-url https://mcp.example.com\n"
        )
        return 2
    connections.serve(http_app.application(server, options.public_url), options.host, options.port)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="contact-lookup-mcp",
        description="Serve the contact lookup API as tools for AI agents (MCP). CONTACT_LOOKUP_URL is the"
        " address of the service. Over stdio, CONTACT_LOOKUP_KEY is the API key; over HTTP, each client sends"
        " its own.",
    )
    parser.add_argument("--http", action="store_true", help="serve streamable HTTP at /mcp instead of stdio")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument("--port", type=int, default=DEFAULT_PORT, help="default: %(default)s")
    parser.add_argument(
        "--public-url",
        action="append",
        default=[],
        type=_public_url,
        metavar="URL",
        help="an address by which clients reach this server through a proxy; may be repeated",
    )
    return parser


def _public_url(text: str) -> str:
    if urlsplit(text).scheme not in {"http", "https"} or not urlsplit(text).hostname:
        raise argparse.ArgumentTypeError(f"{text} is not a URL such as https://mcp.example.com")
    return text


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


if __name__ == "__main__":
    sys.exit(main())
