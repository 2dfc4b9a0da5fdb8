"""The features of the service, and the parts that each process loads of them.

A feature is a package `app.features.<name>`. Its parts are modules with fixed names, because no process may
import all of them: `web` (`WEB`, a `WebPart`: endpoints, pages and gauges) never imports Celery, `work`
(`WORK`, a `WorkPart`: tasks, steps of sweeps and purges) never Flask. `tables` (`TABLES`) declares the
tables, `holdings` (`HOLDINGS`) says what they hold about people and what is secret, `commands` has the
group of `flask <name>`, and `account_commands` (`COMMANDS`) what it adds to `flask accounts`. Nothing imports
a feature, and features do not import one another: a feature is deleted with its folder and its line below.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal, TypeAlias

FEATURES = (
    "company_sign_in",
    "crm",
    "limits",
    "lists",
    "privacy_requests",
    "usage",
    "webhooks",
)

Part: TypeAlias = Literal["web", "work", "tables", "holdings", "commands", "account_commands"]


def parts(part: Part) -> Iterator[ModuleType]:
    """Yield the module of this part of each feature that has one."""
    for feature in FEATURES:
        if module := module_of(feature, part):
            yield module


def module_of(feature: str, part: Part) -> ModuleType | None:
    """Return the part of a feature, or None if it has none."""
    name = f"app.features.{feature}.{part}"
    return import_module(name) if find_spec(name) else None
