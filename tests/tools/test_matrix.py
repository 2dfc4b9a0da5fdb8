from __future__ import annotations

from pathlib import Path

import pytest

from tools import matrix
from tools.matrix import Cell
from tools.services import pgbouncer, postgres_versions, rabbitmq
from tools.services.processes import ServiceError
from tools.state import ROOT


def test_the_table_has_a_row_for_each_database_and_says_what_failed_or_is_missing() -> None:
    cells = [
        Cell("Valkey", "SQLite", passed=40, failed=0, seconds=31.4, is_green=True),
        Cell("Redis", "SQLite", passed=39, failed=1, seconds=30.0, is_green=False),
    ]

    assert matrix.table(cells, ["SQLite", "PostgreSQL 15"], ["Valkey", "Redis"]) == (
        "| | Valkey | Redis |\n"
        "| --- | --- | --- |\n"
        "| SQLite | 40 passed, 31 s | 1 failed, 39 passed, 30 s |\n"
        "| PostgreSQL 15 | not installed | not installed |\n"
    )


def test_the_suite_exists() -> None:
    assert all((ROOT / test.partition("::")[0]).exists() for test in matrix.SUITE)


def test_a_directory_without_a_server_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert matrix.main(["--postgres", str(tmp_path)]) == 1

    assert f"{tmp_path}/postgres is not a PostgreSQL server" in capsys.readouterr().err


def test_named_binaries_are_a_row_with_the_version_of_the_server(tmp_path: Path) -> None:
    postgres = tmp_path / "postgres"
    postgres.write_text('#!/bin/sh\necho "postgres (PostgreSQL) 15.14 (Debian 15.14-0+deb12u1)"\n')
    postgres.chmod(0o755)

    assert postgres_versions.name_of(tmp_path) == "PostgreSQL 15.14 (Debian 15.14-0+deb12u1)"


@pytest.mark.parametrize("server", [rabbitmq, pgbouncer], ids=["rabbitmq", "pgbouncer"])
def test_a_server_that_is_not_installed_is_named(server: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "program", lambda: None)
    start = rabbitmq.server() if server is rabbitmq else pgbouncer.running("postgresql://127.0.0.1/x")

    with pytest.raises(ServiceError, match="Install it"), start:
        pass
