"""The features of the service, and the parts that each process loads of them.

A feature is a package `app.features.<name>`. Its parts are modules with fixed names, because no process may
import all of them: `web` (`WEB`, a `WebPart`: endpoints, pages and gauges) never imports Celery, `work`
(`WORK`, a `WorkPart`: tasks, steps of sweeps and purges) never Flask. `schedule` (`PERIODS`) has the tasks
that Celery beat starts, and the seconds between. `tables` (`TABLES`) declares the tables, `holdings`
(`HOLDINGS`) says what they hold about people and what is secret. `lookup` (`LOOKUP`, a `LookupPart`) adds to
the results of lookups, `own_records` (`OWN_RECORDS`, an `OwnRecordSource`) finds what a workspace has of
people itself, `job_results` (`RESULTS`, a `ResultPart`) shows the results of a kind of jobs, `exclusion`
(`EXCLUSION`, an `ExclusionPart`) says whom workspaces exclude. `commands` has the group of `flask <name>`,
`subcommands` (`SUBCOMMANDS`) commands in groups of others, by group, `import_modes` (`IMPORT_MODES`) flags of
the commands that import lists, and `checks` the `findings` of `flask doctor`.
Nothing imports a feature, and features do not import one another: a feature is deleted with its folder and
its line below.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Literal, TypeAlias

FEATURES = (
    "address_books",
    "backup",
    "call_registers",
    "company_filter",
    "company_sign_in",
    "credit_grants",
    "crm",
    "dialing",
    "exclusions",
    "imports",
    "limits",
    "lists",
    "page_rules",
    "password_resets",
    "people_searches",
    "permissions",
    "privacy_requests",
    "providers",
    "quality",
    "scim",
    "stored_people",
    "suppressions",
    "uploads",
    "usage",
    "vcards",
    "verifications",
    "webhooks",
)

Part: TypeAlias = Literal[
    "web",
    "work",
    "schedule",
    "tables",
    "holdings",
    "lookup",
    "own_records",
    "job_results",
    "exclusion",
    "commands",
    "subcommands",
    "import_modes",
    "checks",
]


def parts(part: Part) -> Iterator[ModuleType]:
    """Yield the module of this part of each feature that has one."""
    for feature in FEATURES:
        if module := module_of(feature, part):
            yield module


def module_of(feature: str, part: Part) -> ModuleType | None:
    """Return the part of a feature, or None if it has none."""
    name = f"app.features.{feature}.{part}"
    return import_module(name) if find_spec(name) else None
