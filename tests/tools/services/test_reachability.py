"""Servers that the environment names, and that do not accept connections."""

from __future__ import annotations

import socket

import pytest
from local_servers import closed_port

from tools.services.processes import ServiceError
from tools.services.reachability import wait_for_servers

URLS = {
    "REDIS_URL": "redis://user:secret@127.0.0.1:{}/0",
    "DATABASE_URL": "postgresql+psycopg://user:secret@127.0.0.1:{}/app",
    "BROKER_URL": "amqp://user:secret@127.0.0.1:{}/vhost",
}


@pytest.mark.parametrize("name", URLS)
def test_a_server_that_does_not_answer_is_named_without_its_password(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with closed_port() as port, pytest.raises(ServiceError, match=name) as error:
        wait_for_servers({name: URLS[name].format(port)}, 0.0)

    printed = "".join(capsys.readouterr())
    assert f"Waiting for {name}: 127.0.0.1:{port}" in printed
    assert "secret" not in printed + str(error.value)


def test_servers_that_answer_and_files_and_sockets_are_not_waited_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        wait_for_servers({name: url.format(port) for name, url in URLS.items()}, 0.0)
        wait_for_servers(
            {"REDIS_URL": "unix:///run/redis.sock", "DATABASE_URL": "sqlite:////app.sqlite3"}, 0.0
        )
        wait_for_servers({"DATABASE_URL": "postgresql://a:1,b:2/app", "REDIS_URL": "redis://a:port"}, 0.0)

    assert not "".join(capsys.readouterr())
