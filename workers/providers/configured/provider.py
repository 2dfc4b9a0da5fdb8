"""Providers configured in a file instead of Python, such as a CRM or a data warehouse."""

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
    """A provider configured by a table of the file; `read` creates a class for each."""

    description: ClassVar[ProviderSpec]
    variables: ClassVar[Mapping[str, str]]

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return why the request is not possible: no key, an unset variable, or too few identifiers."""
        if not all(self._known(self._key).get(name) for name in self.description.variables):
            return TraceOutcome.UNCONFIGURED
        return super().unavailability(request)

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether every required placeholder has a value."""
        question = self.description.questions.get(request.field)
        if question is None or (request.field is ProviderField.VERIFICATION and not request.subject.email):
            return False
        values = templates.values_of(request.subject)
        enough = all(any(values.get(name) for name in names) for names in question.needs)
        return enough and templates.filled_path(question.path, values) is not None

    def credentials(self, key: str) -> dict[str, str]:
        """Return the headers of the table, with environment variables filled in."""
        known = self._known(key)
        headers = {
            name: templates.with_variables(text, known) for name, text in self.description.headers.items()
        }
        own = self.description.key_header
        return headers | ({own: key} if own else {})

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Request one field by its template, and parse the reply by its expressions."""
        question, values = self.description.questions[request.field], templates.values_of(request.subject)
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
        return reply.read(self.name, request, question, said)

    def _known(self, key: str) -> Mapping[str, str]:
        return {**self.variables, f"{self.name.upper()}_API_KEY": key}


class GenericWithCheck(ConfiguredProvider):
    """A configured provider with a path that checks the credentials."""

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the path of the check."""
        return self.checked(self.send("GET", self.description.check or "/", seconds=seconds), {})


def read(
    path: str, variables: Mapping[str, str], taken: Collection[str] = ()
) -> tuple[type[ConfiguredProvider], ...]:
    """Return a provider class for each table of the file; `variables` are environment variables.

    Raises:
        SettingsError: the file cannot be read or is invalid, or a name in it is one of `taken`.

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
