"""The tables of the documentation, held against the code."""

from __future__ import annotations

import inspect
import re

import click
import pytest
from apiflask import APIFlask
from flask import url_for
from page_support import is_page
from pages import text_of

from app.api.ops import activity_gauges, gauges
from app.domain.errors import all_problems
from app.domain.kinds import TraceOutcome
from app.feature_registry import FEATURES
from app.infra.telemetry import metrics
from app.settings import REQUIRED, Settings
from cli.commands import Commands
from tools.state import ROOT
from workers.providers.registry import load
from workers.providers.sandbox import SCENARIOS

PART_OF_THE_DOCS_PAGE = {"docs_assets.asset", "openapi.swagger_ui_oauth_redirect"}


def section(page: str, title: str) -> str:
    """Return the text below a heading of the second level."""
    _, found, rest = text_of(page).partition(f"\n## {title}\n")
    assert found, title
    return rest.partition("\n## ")[0]


def first_cells(text: str) -> set[str]:
    """Return every name in backticks in the first column of a table."""
    cells = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`([^`]+)`", cell)}


def commands(group: click.Command, path: str) -> set[str]:
    """Return a command, or the commands of a group, as they are typed."""
    if not isinstance(group, click.Group):
        return {path}
    context = click.Context(group)
    children = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {
        command for name, child in children.items() if child for command in commands(child, f"{path} {name}")
    }


def test_the_table_of_endpoints_has_every_route(app: APIFlask) -> None:
    row = re.compile(r"^\|[^|\n]*\| `(GET|POST|PUT|DELETE)` \| `([^`]+)` \|", re.MULTILINE)

    served = {
        (method, re.sub(r"<(?:\w+:)?(\w+)>", r"<\1>", rule.rule))
        for rule in app.url_map.iter_rules()
        for method in rule.methods or ()
        if method in {"GET", "POST", "PUT", "DELETE"}
        and rule.endpoint not in PART_OF_THE_DOCS_PAGE
        and not is_page(app, rule)
        and not f"{rule.rule}/".startswith("/scim/v2/")  # in docs/scim.md: identity providers know them
    }

    assert set(row.findall(text_of("docs/api/endpoints.md"))) == served


def test_the_tables_of_pages_have_every_link_of_the_navigation(app: APIFlask) -> None:
    rows = set(re.findall(r"^\| ([^,|]+), `([^`]+)`", text_of("docs/workspace.md"), re.MULTILINE))

    groups = app.extensions["navigation"]
    with app.test_request_context():
        links = {(entry.label, url_for(entry.endpoint)) for group in groups for entry in group.entries}

    assert links - rows == set()


def test_the_table_of_errors_has_every_code_with_its_status() -> None:
    row = re.compile(r"^\| `(\w+)` \| (\d+) \| (yes|no) \|", re.MULTILINE)

    codes = {
        (code, str(problem.status), "yes" if problem.retryable else "no")
        for code, problem in all_problems().items()
    }

    assert set(row.findall(text_of("docs/api/errors.md"))) == codes


def test_the_table_of_sandbox_identifiers_has_every_scenario() -> None:
    listed = first_cells(text_of("docs/api/sandbox.md"))

    assert listed == {f"sandbox-{name}" for name in SCENARIOS}


def test_the_table_of_commands_has_every_command() -> None:
    listed = first_cells(section("docs/operating.md", "Commands"))

    assert listed == commands(Commands(), "flask")


def test_the_table_of_metrics_has_every_metric() -> None:
    listed = first_cells(section("docs/operating.md", "Metrics"))

    source = "".join(inspect.getsource(module) for module in (metrics, gauges, activity_gauges))
    source += "".join(path.read_text(encoding="utf-8") for path in (ROOT / "app" / "features").rglob("*.py"))
    exported = {name.removesuffix("_total") for name in re.findall(r'"(ext_\w+)"', source)}

    assert {name.removesuffix("_total") for name in listed} == exported


def test_the_table_of_providers_has_every_provider(settings: Settings) -> None:
    listed = set(re.findall(r"^\| `([a-z]+)`", section("docs/providers.md", "List"), re.MULTILINE))

    assert listed == set(load(settings)) - {"sandbox"}


def test_the_table_of_provider_outcomes_has_every_outcome() -> None:
    listed = first_cells(section("docs/providers.md", "Results and costs"))

    assert listed == {outcome.value for outcome in TraceOutcome}


@pytest.mark.parametrize(
    ("page", "start"),
    [("docs/install.md", "Five settings have no default"), ("docs/docker.md", "These five have no default")],
)
def test_the_pages_on_installing_name_the_settings_without_a_default(page: str, start: str) -> None:
    table = text_of(page).partition(start)[2].partition("\n\n")[2].partition("\n\n")[0]
    # Compose builds both addresses from passwords.
    by_compose = {"POSTGRES_PASSWORD": "DATABASE_URL", "REDIS_PASSWORD": "REDIS_URL"}

    assert {by_compose.get(name, name) for name in first_cells(table)} == set(REQUIRED)


def test_the_table_of_the_extension_has_every_module() -> None:
    folder = ROOT / "extension"
    modules = {str(path.relative_to(folder)) for path in (*folder.glob("*.js"), *folder.glob("client/*.js"))}

    assert modules - first_cells(section("extension/README.md", "Files")) == set()


def test_the_table_of_features_has_every_feature() -> None:
    assert first_cells(section("docs/architecture.md", "Features")) == set(FEATURES)
