"""Checks of the file of page rules: it is valid, and not older than the one that clients may have."""

from __future__ import annotations

from collections.abc import Iterator

from app.features.page_rules import rules_file
from app.provider_settings import SettingsError
from app.settings import Settings
from cli.checks.findings import Finding, error, note, ok

WHAT = "page rules"


def findings(settings: Settings) -> Iterator[Finding]:
    """Check PAGE_RULES_FILE and PAGE_RULES_OFF; nothing if neither is set."""
    file, off = settings.page_rules_file, settings.page_rules_off
    if not file and not off:
        return
    try:
        rules = rules_file.read(file, off)
    except SettingsError as fault:
        remedy = "correct it as docs/page-lists.md describes: the service does not start with it"
        yield error(WHAT, str(fault), remedy)
        return
    shipped = rules_file.read("", ())["version"]
    if rules["version"] < shipped:
        state = f"{rules_file.FILE} has the version {rules['version']}, older than the shipped {shipped}"
        yield note(WHAT, state, "give it a larger version: clients that have the shipped rules keep them")
    else:
        yield ok(WHAT, f"valid, version {rules['version']}, {len(rules['sites'])} rules of sites")
