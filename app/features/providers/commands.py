"""`flask providers`: checks the providers' credentials, and reports their results and cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isinf
from typing import Any, Protocol, cast

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app import settings as app_settings
from app.domain.kinds import TraceOutcome
from app.domain.records.subjects import Subject
from app.features.providers.domain_search_commands import people
from app.features.providers.report_commands import report
from app.provider_settings import KEYS, env_name
from app.settings import SettingsError
from workers.providers.base import (
    Checkable,
    CredentialCheck,
    Provider,
    ProviderField,
    ProviderRequest,
    ProviderTimeout,
    UnexpectedResponse,
)
from workers.providers.configured.provider import ConfiguredProvider
from workers.providers.registry import load

CHECK_SECONDS = 10.0
STATES = {
    TraceOutcome.HIT: "works",
    TraceOutcome.UNCONFIGURED: "key refused",
    TraceOutcome.NO_CREDITS: "no credits left",
    TraceOutcome.RATE_LIMITED: "rate limited",
    TraceOutcome.TIMEOUT: f"no response within {CHECK_SECONDS:.0f} seconds",
}
UNCLEAR = "unreachable, or returned an error"

group = click.Group("providers", help="Check the providers' credentials, and report their results and cost.")
group.add_command(people)
group.add_command(report)


@dataclass(frozen=True, slots=True)
class ProviderStatus:
    """The state of one provider; `check` is None if `setting` is not set, so the provider was not called."""

    name: str
    setting: str
    check: CredentialCheck | None

    @property
    def left(self) -> Mapping[str, float]:
        """Return the remaining vendor credits by pool; unlimited is infinity (null in JSON)."""
        return self.check.remaining if self.check else {}

    @property
    def works(self) -> bool | None:
        """Return whether the key works; None if no key is set."""
        return None if self.check is None else self.check.outcome is TraceOutcome.HIT

    @property
    def state(self) -> str:
        """Return the state as text."""
        if self.check is None:
            return f"unconfigured: set {self.setting}"
        return STATES.get(self.check.outcome, UNCLEAR)

    def as_dict(self) -> dict[str, Any]:
        """Return the state for JSON."""
        return {
            "name": self.name,
            "configured": self.check is not None,
            "works": self.works,
            "outcome": TraceOutcome.UNCONFIGURED if self.check is None else self.check.outcome,
            "setting": self.setting,
            "left": {pool: None if isinf(count) else count for pool, count in self.left.items()},
        }


@group.command()
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def check(*, as_json: bool) -> None:
    """Check the credentials of every configured provider; looks up no one and costs nothing.

    Exits with 1 if a configured provider's key does not work.
    """
    try:
        providers = load(app_settings.load())
    except SettingsError as error:
        raise click.ClickException(str(error)) from error
    checkable = [cast("_CheckableProvider", each) for each in providers.values() if hasattr(each, "check")]
    with ThreadPoolExecutor(max_workers=max(len(checkable), 1)) as pool:
        statuses = list(pool.map(_status, checkable))
    if as_json:
        click.echo(json.dumps({"providers": [status.as_dict() for status in statuses]}))
    else:
        _print(statuses)
    if any(status.works is False for status in statuses):
        raise click.exceptions.Exit(1)


class _CheckableProvider(Provider, Checkable, Protocol):
    """A provider whose key can be checked."""


def _status(provider: _CheckableProvider) -> ProviderStatus:
    setting = _setting(provider)
    if not _is_configured(provider):
        return ProviderStatus(provider.name, setting, None)
    return ProviderStatus(provider.name, setting, _checked(provider))


def _checked(provider: Checkable) -> CredentialCheck:
    try:
        return provider.check(seconds=CHECK_SECONDS)
    except ProviderTimeout:
        return CredentialCheck(outcome=TraceOutcome.TIMEOUT)
    except UnexpectedResponse:
        return CredentialCheck(outcome=TraceOutcome.ERROR)


def _is_configured(provider: Provider) -> bool:
    """Return whether the provider is configured: it checks its settings before the (empty) request."""
    request = ProviderRequest(field=ProviderField.EMAIL, subject=Subject())
    return provider.unavailability(request) is not TraceOutcome.UNCONFIGURED


def _setting(provider: Provider) -> str:
    """Return the names of the settings that the provider needs; a configured one may need several or none."""
    if isinstance(provider, ConfiguredProvider) and provider.variables:
        return ", ".join(sorted(provider.variables))
    return f"{env_name(provider.name)}_{KEYS.get(provider.name, 'API_KEY')}"


def _print(statuses: Sequence[ProviderStatus]) -> None:
    table = Table()
    for column in ("provider", "key", "left"):
        table.add_column(column)
    for status in statuses:
        remaining = ", ".join(
            f"{'unlimited' if isinf(count) else f'{count:,.10g}'} {pool}"
            for pool, count in status.left.items()
        )
        table.add_row(*map(Text, (status.name, status.state, remaining)))
    Console().print(table)
