"""Neither a caller's values nor a vendor's response redirects a request to another server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hostile_support import record_network
from local_servers import http_response

from app.domain.records.subjects import Subject
from app.settings import ProviderSettings
from workers.providers import registry
from workers.providers.apollo import Apollo
from workers.providers.base import ProviderField, ProviderRequest, UnexpectedResponse
from workers.providers.configured import provider
from workers.providers.dropcontact import Dropcontact
from workers.providers.fullenrich import FullEnrich
from workers.providers.rocketreach import RocketReach
from workers.providers.web import Vendor

METADATA = "http://169.254.169.254/latest/meta-data/"
EVIL = (
    "evil.com/../..",
    "../../admin",
    "@evil.com",
    "//evil.com/",
    "http://169.254.169.254/",
    "acme.com?admin=1",
    "acme.com#",
    "acme.com\r\nX-Evil: 1",
    "acme.com HTTP/1.1",
    "\\evil.com",
    "%2e%2e%2fadmin",
    "{email}",
    "${VENDOR_API_KEY}",
    ";admin",
    "\uff41\uff43\uff4d\uff45",
    "\0",
)
TABLE = """
[vendor]
url = "http://127.0.0.1:{port}/api"
headers = {{ X-Key = "${{VENDOR_API_KEY}}" }}
[vendor.email]
path = "/of/{{company_domain}}/people"
query.domain = "{{company_domain}}"
read.email = "email"
"""


@contextmanager
def vendor(answer: bytes) -> Iterator[tuple[int, list[bytes]]]:
    """Run a server with this one response; yield the port and the requests received."""
    received: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def listen() -> None:
            while True:
                connection, _peer = listener.accept()
                with connection:
                    data = connection.recv(65536)
                    if data == b"over":
                        return
                    received.append(data)
                    connection.sendall(answer)

        thread = threading.Thread(target=listen)
        thread.start()
        try:
            yield listener.getsockname()[1], received
        finally:
            with socket.create_connection(listener.getsockname()) as last:
                last.sendall(b"over")
            thread.join()


def described(folder: Path, port: int) -> Vendor:
    path = folder / "providers.toml"
    path.write_text(TABLE.format(port=port))
    [made] = provider.read(str(path), {})
    return made(ProviderSettings(api_key="k"))


@pytest.mark.parametrize("value", EVIL)
def test_a_callers_value_cannot_change_the_request_around_it(tmp_path: Path, value: str) -> None:
    with vendor(http_response(404, body=b"{}")) as (port, received), record_network() as seen:
        described(tmp_path, port).call(
            ProviderRequest(field=ProviderField.EMAIL, subject=Subject(company_domain=value)), seconds=3
        )

    line, *headers = received[0].split(b"\r\n")
    method, target, _version = line.split(b" ")
    path, _, query = target.partition(b"?")
    before, of, _value, people = (
        path.rpartition(b"/people")[0].partition(b"/api/of/")[0],
        *path.split(b"/")[2:],
    )
    assert (method, before, of, people) == (b"GET", b"", b"of", b"people")
    assert (query.count(b"="), query.count(b"&"), query.count(b"#")) == (1, 0, 0)
    assert not [header for header in headers if header.startswith(b"X-Evil")]
    assert {port for _host, port in seen.connected} == {port}


@pytest.mark.parametrize("ticket", [*EVIL, "..", ".", ""])
@pytest.mark.parametrize("adapter", [Apollo, Dropcontact, FullEnrich, RocketReach])
def test_a_poll_token_cannot_change_the_request_around_it(
    adapter: Callable[[ProviderSettings], Vendor], ticket: str
) -> None:
    subject = Subject(full_name="Ada Lovelace", company_domain="acme.com")

    with vendor(http_response(500, body=b"{}")) as (port, received), record_network() as seen:
        asked = adapter(ProviderSettings(api_key="k", base_url=f"http://127.0.0.1:{port}/api/v1"))
        try:
            asked.call(
                ProviderRequest(field=ProviderField.PHONE, subject=subject, poll_token=ticket), seconds=3
            )
        except UnexpectedResponse:
            assert ticket in {"..", "."}

    targets = [head.split(b" ")[1] for head in received]
    assert [target for target in targets if not target.startswith(b"/api/v1/")] == []
    assert [
        target for target in targets if {b"", b".", b".."} & set(target.partition(b"?")[0].split(b"/")[1:-1])
    ] == []
    assert not [head for head in received if b"\r\nX-Evil" in head]
    assert {port for _host, port in seen.connected} <= {port}


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", [METADATA, "/elsewhere", "//169.254.169.254/"])
def test_a_redirect_of_a_vendor_is_not_followed(tmp_path: Path, status: int, where: str) -> None:
    request = ProviderRequest(field=ProviderField.EMAIL, subject=Subject(company_domain="acme.com"))

    with (
        vendor(http_response(status, f"Location: {where}", body=b"{}")) as (port, received),
        record_network() as seen,
    ):
        described(tmp_path, port).call(request, seconds=3)

    assert (seen.connected, len(received)) == ([("127.0.0.1", port)], 1)


def test_no_adapter_follows_redirects() -> None:
    vendors = [made for made in registry.PROVIDERS if issubclass(made, Vendor)]

    clients = [made(ProviderSettings(api_key="k"))._client for made in vendors]  # noqa: SLF001 -- the subject of the test

    assert len(clients) > 5
    assert not any(client.follow_redirects for client in clients)


def test_plain_http_bypasses_proxies_and_https_uses_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An outbound proxy is used, but it never sees keys and personal data in plain text."""
    request = ProviderRequest(field=ProviderField.EMAIL, subject=Subject(company_domain="acme.com"))
    with (
        vendor(http_response(404, body=b"{}")) as (port, received),
        vendor(http_response(502, body=b"{}")) as (proxy, received_by_proxy),
    ):
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        described(tmp_path, port).call(request, seconds=3)
        outside = provider.read(str(tmp_path / "providers.toml"), {})[0](
            ProviderSettings(api_key="secret", base_url="https://api.vendor.com")
        )
        with pytest.raises(UnexpectedResponse):
            outside.call(request, seconds=3)

    assert len(received) == 1
    assert [head.split(b"\r\n")[0] for head in received_by_proxy] == [b"CONNECT api.vendor.com:443 HTTP/1.1"]
    assert b"secret" not in b"".join(received_by_proxy)
