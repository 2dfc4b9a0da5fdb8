"""Providers of one's own, described in a file instead of in Python: a CRM, a data warehouse."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import ClassVar

from app.domain.kinds import TraceOutcome
from app.settings import SettingsError
from workers.providers.base import CredentialCheck, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.providers.configured import reply, templates
from workers.providers.configured.file import descriptions
from workers.providers.configured.schemas import ProviderSpec
from workers.providers.web import Vendor

_NO_CONTENT = 204


class ConfiguredProvider(Vendor):
    """A provider described by a table of the file; `read` makes a class of each."""

    description: ClassVar[ProviderSpec]
    variables: ClassVar[Mapping[str, str]]

    def unavailability(self, ask: ProviderRequest) -> TraceOutcome | None:
        """Tell why this cannot be asked: no key, a header's variable is not set, or too little to go by."""
        if not all(self._known(self._key).get(name) for name in self.description.variables):
            return TraceOutcome.UNCONFIGURED
        return super().unavailability(ask)

    def supports(self, ask: ProviderRequest) -> bool:
        """Tell whether every placeholder that is needed has a value."""
        question = self.description.questions.get(ask.field)
        if question is None or (ask.field is ProviderField.VERIFICATION and not ask.subject.email):
            return False
        values = templates.values_of(ask.subject)
        enough = all(any(values.get(name) for name in names) for names in question.needs)
        return enough and templates.filled_path(question.path, values) is not None

    def credentials(self, key: str) -> dict[str, str]:
        """Give the headers of the table, the environment's variables in them."""
        known = self._known(key)
        headers = {
            name: templates.with_variables(text, known) for name, text in self.description.headers.items()
        }
        own = self.description.key_header
        return headers | ({own: key} if own else {})

    def ask(self, ask: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Ask for one field by its template, and read the reply by its expressions."""
        question, values = self.description.questions[ask.field], templates.values_of(ask.subject)
        answer = self.send(
            question.method,
            templates.filled_path(question.path, values) or "/",
            params=templates.filled(question.query, values),
            body=None if question.body is None else templates.filled(question.body, values) or {},
            seconds=seconds,
        )
        if answer.status == _NO_CONTENT:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        said = answer.body if answer.items is None else answer.items
        if not answer.is_ok or said is None:
            return self.default_response(answer)
        return reply.read(self.name, ask, question, said)

    def _known(self, key: str) -> Mapping[str, str]:
        return {**self.variables, f"{self.name.upper()}_API_KEY": key}


class GenericWithCheck(ConfiguredProvider):
    """One that has a path which tells whether it lets us in."""

    def check(self, *, seconds: float) -> CredentialCheck:
        """Ask for that path."""
        return self.checked(self.send("GET", self.description.check or "/", seconds=seconds), {})


def read(
    path: str, variables: Mapping[str, str], taken: Collection[str] = ()
) -> tuple[type[ConfiguredProvider], ...]:
    """Make a provider of each table of the file; `variables` are the environment's.

    Raises:
        SettingsError: the file cannot be read or makes no sense, or a name in it is one of those taken.

    """
    found = descriptions(path)
    for description in found:
        if description.name in taken:
            raise SettingsError(
                f"{path}: [{description.name}] is the name of a provider that comes with this."
            )
    return tuple(_made(description, variables) for description in found)


def _made(description: ProviderSpec, variables: Mapping[str, str]) -> type[ConfiguredProvider]:
    base = GenericWithCheck if description.check else ConfiguredProvider
    prices = {field: question.price for field, question in description.questions.items()}
    terms = Terms(
        rates=description.rates,
        prices=MappingProxyType(prices),
        credit_price=description.credit_price,
        daily_budget=description.daily_budget,
        miss_days=description.miss_days,
    )
    own = {
        "name": description.name,
        "base_url": description.url,
        "fields": frozenset(description.questions),
        "usual_terms": terms,
        "needs_key": description.key_header is not None,
        "description": description,
        "variables": {name: variables.get(name, "").strip() for name in description.variables},
    }
    return type(base.__name__, (base,), own)
