from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.features.page_rules import rules_file
from app.provider_settings import SettingsError

pytestmark = pytest.mark.any_database

ROOT = Path(__file__).parents[3]
SHIPPED = json.loads(rules_file.SHIPPED.read_text())


def without(path: str) -> str:
    """Return the shipped file without a field."""
    changed = json.loads(json.dumps(SHIPPED))
    *outer, last = path.split("/")
    inner = changed
    for name in outer:
        inner = inner[int(name) if name.isdigit() else name]
    del inner[last]
    return json.dumps(changed)


def with_site(**changes: Any) -> str:
    """Return the shipped file with one site, whose fields are changed."""
    site = {"name": "acme", "kind": "list", "hosts": ["www.acme.com"], "item": [".person"]}
    return json.dumps(SHIPPED | {"sites": [site | changes]})


def test_the_shipped_file_is_valid() -> None:
    assert rules_file.read("", ()) == SHIPPED


def test_the_extension_ships_the_same_rules_without_those_of_sites() -> None:
    text = (ROOT / "extension" / "generic_rules.js").read_text()

    shipped = json.loads(text.partition("GENERIC_RULES = ")[2].rstrip().removesuffix(";"))

    assert shipped == SHIPPED | {"version": 0, "sites": []}


def test_every_shipped_rule_is_in_the_documentation() -> None:
    documented = re.findall(
        r"^\| `([a-z-]+)` \|", (ROOT / "docs" / "page-lists.md").read_text(), re.MULTILINE
    )

    assert sorted(set(rules_file.names(SHIPPED)) - set(documented)) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "It is not JSON"),
        ("[" * 100_000, "It is not JSON"),
        ("[]", "not an object"),
        (f'"{"x" * 200_000}"', "more than 200,000 bytes"),
        (without("words/titles"), "/words/titles: Missing data for required field."),
        (without("version"), "/version: Missing"),
        (json.dumps(SHIPPED | {"version": 0}), "/version: Must be greater"),
        (json.dumps(SHIPPED | {"version": 2**53}), "/version: Must be greater"),
        (json.dumps(SHIPPED | {"extra": 1}), "/extra: Unknown field."),
        (with_site(hosts=["http://acme.com"]), "/sites/0/hosts/0: String does not match"),
        (with_site(hosts=["acme.com/people"]), "/sites/0/hosts/0"),
        (with_site(paths=["people"]), "/sites/0/paths/0"),
        (with_site(kind="table"), "/sites/0/kind: Must be one of: list, person."),
        (with_site(read="everything"), "/sites/0/read: Must be one of"),
        (with_site(item=["a" * 301]), "/sites/0/item/0"),
        (with_site(item=["a{color:red}"]), "/sites/0/item/0"),
        (with_site(fields={"salary": ["."]}), "/sites/0/fields/salary: Unknown field."),
        (with_site(lines=["salary"]), "/sites/0/lines/0"),
        (with_site(name="team"), "Two rules have the name team."),
        (with_site(name="Acme Corp"), "/sites/0/name"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_place(tmp_path: Path, text: str, fault: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text)

    with pytest.raises(SettingsError, match=re.escape(fault)) as raised:
        rules_file.read(str(file), ())

    assert str(raised.value).startswith(f"PAGE_RULES_FILE: {file} is invalid. ")


@pytest.mark.parametrize(
    ("prepare", "fault"),
    [
        (Path.exists, "cannot be read: No such file"),
        (Path.mkdir, "cannot be read: Is a directory"),
        (lambda path: path.write_bytes(b"\xff{}"), "is not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, prepare: Callable[[Path], object], fault: str
) -> None:
    path = tmp_path / "rules.json"
    prepare(path)

    with pytest.raises(SettingsError, match=fault):
        rules_file.read(str(path), ())


@pytest.mark.parametrize("off", ["gmail", "www.acme.com", "*.acme.com", "mail.*", "app-*.hubspot.com", "*"])
def test_rules_and_hosts_can_be_turned_off(off: str) -> None:
    assert rules_file.read("", (off,))["off"] == [*SHIPPED["off"], off]


@pytest.mark.parametrize(
    "off", ["gmial", "https://acme.com", "a b.com", "acme.com/people", "*.*.*", "intranet"]
)
def test_something_else_cannot_be_turned_off(off: str) -> None:
    with pytest.raises(SettingsError, match="neither a rule nor a host"):
        rules_file.read("", (off,))
