"""The encoding of a PostgreSQL database, checked before anything else is asked of it."""

from __future__ import annotations

from typing import Any

from app.settings import SettingsError


def require_utf8(connection: Any, _record: object) -> None:  # noqa: ANN401 -- psycopg's connection
    """Refuse a database that cannot store every name; the server reports its encoding at sign-in.

    Raises:
        SettingsError: its encoding is not UTF8.

    """
    encoding = connection.info.parameter_status("server_encoding")
    if encoding == "UTF8":
        return
    name = connection.info.dbname
    connection.close()
    message = (
        f"The database {name!r} has the encoding {encoding}; it must be UTF8. Create another one"
        " and name it in DATABASE_URL: createdb --template=template0 --encoding=UTF8 NAME"
    )
    raise SettingsError(message)
