"""Check of the encoding of a PostgreSQL database, before its first query."""

from __future__ import annotations

from typing import Any

from app.settings import SettingsError


def require_utf8(connection: Any, _record: object) -> None:  # noqa: ANN401 -- psycopg's connection
    """Reject a database that cannot store every name; the server reports its encoding at connection.

    Raises:
        SettingsError: the encoding is not UTF8.

    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding == "UTF8":
        return
    name = connection.info.dbname
    connection.close()
    message = (
        f"The database {name!r} has the encoding {encoding}; it must be UTF8. Create another one"
        " and set DATABASE_URL to it: createdb --template=template0 --encoding=UTF8 NAME"
    )
    raise SettingsError(message)
