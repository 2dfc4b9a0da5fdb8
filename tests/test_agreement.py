"""Consistency of lists that are written in more than one place."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import secrets
import tomllib
from collections.abc import Iterator
from pathlib import Path

import feature_tests
import pytest
from access_support import OPEN
from apiflask import APIFlask
from local_servers import empty_database
from sqlalchemy import inspect as inspect_database
from sqlalchemy import text

from app.domain import errors
from app.domain.errors import all_problems
from app.domain.kinds import CLICKS, KINDS, Queue
from app.domain.version import VERSION
from app.infra.broker.celery_app import BEAT_SCHEDULE, celery
from app.infra.database.db import Base, Database
from app.provider_settings import env_name
from app.settings import REQUIRED, Settings
from app.web.operations import operation_of
from cli.application import create_app
from tools.services.supervisor import procfile_commands
from workers import main
from workers.execution.job_runner import JOBS
from workers.providers.registry import load
from workers.providers.web import Vendor

ROOT = Path(__file__).parents[1]
STORING_CALLS = ("begin(session", "is_replay(session")
"""The calls that store an idempotency key, in a view or in a function of another module that it calls."""
OPEN_TO_ALL = {
    "/",
    "/api/ext/sign-in-options",
    "/api/ext/login",
    "/healthz",
    "/readyz",
    "/metrics",
    "/problems",
    "/problems/<code>",
    "/openapi.json",
    "/llms.txt",
    "/docs",
    "/docs/assets/<path:name>",
    "/language",
    "/sign-in",
    "/sign-in/code",
    "/static/<path:filename>",
    "/manual",
    "/manual/",
    "/manual/<path:name>",
} | {
    route.partition(" ")[2]
    for part in feature_tests.parts("access")
    for route, needs in (part.PAGES | {name: rule.needs for name, rule in part.ACCESS_RULES.items()}).items()
    if needs in {OPEN, "nothing"}
}


@pytest.fixture
def migrated(tmp_path: Path, settings: Settings) -> Iterator[Database]:
    """A database created by the migrations."""
    with empty_database(tmp_path, f"migrated_{secrets.token_hex(4)}") as url:
        app = create_app(dataclasses.replace(settings, database_url=url))
        result = app.test_cli_runner().invoke(args=["database", "upgrade"])
        assert result.exit_code == 0, result.output
        yield app.extensions["services"].database
        app.extensions["services"].database.close()


def test_every_kind_has_a_job_and_a_task() -> None:
    assert main.app is celery
    assert set(KINDS) == set(JOBS)
    assert {*KINDS, *BEAT_SCHEDULE} <= set(celery.tasks)


def test_every_queue_has_a_worker_in_the_procfile_and_in_compose() -> None:
    queue_of = re.compile(r"worker -Q (\w+)")

    procfile = set(queue_of.findall((ROOT / "Procfile").read_text()))
    compose = set(queue_of.findall((ROOT / "docker-compose.yml").read_text()))

    assert procfile == compose == {queue.value for queue in Queue}


def test_two_workers_of_the_small_procfile_consume_every_queue() -> None:
    full, small = procfile_commands(), procfile_commands("Procfile.small")
    workers = {name: command for name, command in small.items() if name.startswith("worker_")}
    consumed = [_queues(command) for command in workers.values()]

    assert consumed == [list(CLICKS), [Queue.ENRICHMENT, Queue.UPKEEP]]
    for name, command in small.items():
        assert _without_queues(command) == _without_queues(full[name])


def _queues(command: str) -> list[str]:
    return re.findall(r"worker -Q (\S+)", command)[0].split(",")


def _without_queues(command: str) -> str:
    return re.sub(r"worker -Q \S+|:-\d+\} -n", "", command)


def test_every_route_requires_a_token_or_is_listed_as_open(app: APIFlask) -> None:
    routes = [(rule.rule, app.view_functions[rule.endpoint]) for rule in app.url_map.iter_rules()]

    without = {
        rule
        for rule, view in routes
        if "auth" not in getattr(view, "_spec", {}) and not hasattr(view, "needs")
    }

    assert without == OPEN_TO_ALL


def test_every_view_with_a_token_has_a_limit(app: APIFlask) -> None:
    views = {
        rule.rule: app.view_functions[rule.endpoint]
        for rule in app.url_map.iter_rules()
        if "auth" in getattr(app.view_functions[rule.endpoint], "_spec", {})
        or hasattr(app.view_functions[rule.endpoint], "needs")
    }

    unlimited = {rule for rule, view in views.items() if "@limited(" not in _source(view)}

    assert unlimited == set()


def test_the_views_that_store_an_idempotency_key_are_documented_with_it(app: APIFlask) -> None:
    views = [view for view in app.view_functions.values() if hasattr(view, "_spec")]

    storing = {view.__name__ for view in views if any(call in _with_calls(view) for call in STORING_CALLS)}

    assert storing == {view.__name__ for view in views if operation_of(view).takes_idempotency_key}
    assert storing


def test_the_application_has_the_version_of_the_package(app: APIFlask) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert app.version == project["version"]


def test_the_tree_of_errors_in_the_docstring_is_complete() -> None:
    drawn = set(re.findall(r"\b[A-Z][a-z]+(?:[A-Z][a-z]*)*\b", errors.__doc__ or ""))

    classes = {
        name
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if kind.__module__ == errors.__name__
    }

    assert classes - {"FieldError"} <= drawn


def test_every_code_is_unique_and_has_a_remedy() -> None:
    problems = all_problems().values()

    assert len({problem.code for problem in problems}) == len(problems)
    assert all(problem.title and problem.help for problem in problems)


def test_every_setting_is_explained_in_the_example() -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    several = {"prices", "provider_variables", "crm_variables"}  # of more than one variable
    fields = {field.name for field in dataclasses.fields(Settings)}
    priced = {spec.price_setting for spec in KINDS.values() if spec.price is not None}

    assert several < fields
    assert {name.upper() for name in fields - several} | priced <= named


def test_the_example_names_the_settings_that_have_no_default() -> None:
    example = (ROOT / ".env.example").read_text().partition("these five have no default")[2]

    assert set(re.findall("^([A-Z_]+)=", example.partition("\n\n")[0], re.MULTILINE)) == set(REQUIRED)


def test_every_provider_is_explained_in_the_example(settings: Settings) -> None:
    named = set(re.findall(r"^#?([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))

    web = {name for name, provider in load(settings).items() if isinstance(provider, Vendor)}

    assert {f"{env_name(name)}_API_KEY" for name in web} <= named


def test_the_providers_of_the_default_settings_exist(settings: Settings) -> None:
    named = {
        *settings.providers_email,
        *settings.providers_phone,
        *settings.providers_person,
        *settings.providers_company,
        *settings.providers_people,
    }

    assert named <= set(load(settings))


@pytest.mark.filterwarnings("ignore:Skipped unsupported reflection of expression-based index")
def test_the_migrations_create_the_tables_that_the_code_declares(
    migrated: Database, database: Database
) -> None:
    migrated_tables, declared = inspect_database(migrated.engine), inspect_database(database.engine)

    tables = set(migrated_tables.get_table_names()) - {"alembic_version"}

    assert tables == set(declared.get_table_names()) == set(Base.metadata.tables)
    for table in sorted(tables):
        assert _shape(migrated_tables, table) == _shape(declared, table)


def test_the_migrations_create_the_indexes_that_the_code_declares(
    migrated: Database, database: Database
) -> None:
    """A batch operation on SQLite would drop indexes of expressions, which SQLAlchemy does not read."""
    assert _indexes(migrated) == _indexes(database)


def test_the_migrations_create_the_triggers_that_the_code_declares(
    migrated: Database, database: Database
) -> None:
    """A batch operation on SQLite would drop triggers, too."""
    assert _triggers(migrated) == _triggers(database)
    assert _triggers(database)


def _triggers(database: Database) -> dict[str, str]:
    """Return the definition of each trigger by its name."""
    sql = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        if database.is_sqlite
        else "SELECT tgname, pg_get_triggerdef(pg_trigger.oid) || prosrc FROM pg_trigger JOIN pg_proc"
        " ON pg_proc.oid = tgfoid WHERE NOT tgisinternal"
    )
    with database.engine.connect() as connection:
        return {name: " ".join(definition.split()) for name, definition in connection.execute(text(sql))}


def _indexes(database: Database) -> dict[str, str]:
    """Return the definition of each index by its name."""
    sql = (
        "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL"
        if database.is_sqlite
        else "SELECT indexname, indexdef FROM pg_indexes WHERE tablename <> 'alembic_version'"
        " AND schemaname = 'public'"
    )
    with database.engine.connect() as connection:
        return {name: " ".join(definition.split()) for name, definition in connection.execute(text(sql))}


def _with_calls(view: object) -> str:
    """Return the source of a view, and of the functions of other modules that it calls."""
    source, names = _source(view), vars(inspect.getmodule(inspect.unwrap(view)))  # type: ignore[arg-type]
    called = [
        getattr(names[module], function, None)
        for module, function in re.findall(r"\b(\w+)\.(\w+)\(", source)
        if inspect.ismodule(names.get(module))
    ]
    return source + "".join(
        inspect.getsource(function) for function in called if inspect.isfunction(function)
    )


def _source(view: object) -> str:
    """Return the source of a view with its decorators."""
    inner = inspect.unwrap(view)  # type: ignore[arg-type]
    text = Path(inspect.getsourcefile(inner) or "").read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == inner.__name__:
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
    pytest.fail(f"no source of {inner}")


def _shape(database: object, table: str) -> object:
    columns = {c["name"]: (str(c["type"]), c["nullable"], c["default"]) for c in database.get_columns(table)}
    indexes = {(i["name"], tuple(i["column_names"]), bool(i["unique"])) for i in database.get_indexes(table)}
    unique = {(u["name"], tuple(u["column_names"])) for u in database.get_unique_constraints(table)}
    foreign = {
        (f["name"], tuple(f["constrained_columns"]), f["referred_table"], f["options"].get("ondelete"))
        for f in database.get_foreign_keys(table)
    }
    checks = {(c["name"], c["sqltext"]) for c in database.get_check_constraints(table)}
    return columns, indexes, unique, foreign, checks


def test_the_versions_agree() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

    assert project["version"] == VERSION
