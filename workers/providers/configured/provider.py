"""Providers configured in a file instead of Python, such as a CRM or a data warehouse."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import ClassVar

from app.domain.kinds import TraceOutcome
from app.settings import SettingsError
from workers.providers.base import CredentialCheck, ProviderField, ProviderRequest, ProviderResponse, Terms
from workers.providers.configured import reply, templates
from workers.providers.configured.file import provider_specs
from workers.providers.configured.schemas import ProviderSpec
from workers.providers.web import Vendor

_NO_CONTENT = 204


class ConfiguredProvider(Vendor):
    """A provider configured by a table of the file; `read` creates a class for each."""

    spec: ClassVar[ProviderSpec]
    variables: ClassVar[Mapping[str, str]]

    def unavailability(self, request: ProviderRequest) -> TraceOutcome | None:
        """Return why the request is not possible: no key, an unset variable, or too few identifiers."""
        if not all(self._variables(self._key).get(name) for name in self.spec.variables):
            return TraceOutcome.UNCONFIGURED
        return super().unavailability(request)

    def supports(self, request: ProviderRequest) -> bool:
        """Return whether every required placeholder has a value."""
        endpoint = self.spec.endpoints.get(request.field)
        if endpoint is None or (request.field is ProviderField.VERIFICATION and not request.subject.email):
            return False
        values = templates.values_of(request.subject)
        has_values = all(any(values.get(name) for name in names) for names in endpoint.needs)
        return has_values and templates.filled_path(endpoint.path, values) is not None

    def credentials(self, key: str) -> dict[str, str]:
        """Return the headers of the table, with environment variables filled in."""
        variables = self._variables(key)
        headers = {
            name: templates.with_variables(text, variables) for name, text in self.spec.headers.items()
        }
        key_header = self.spec.key_header
        return headers | ({key_header: key} if key_header else {})

    def call(self, request: ProviderRequest, *, seconds: float) -> ProviderResponse:
        """Request one field by its template, and parse the reply by its expressions."""
        endpoint, values = self.spec.endpoints[request.field], templates.values_of(request.subject)
        response = self.send(
            endpoint.method,
            templates.filled_path(endpoint.path, values) or "/",
            params=templates.filled(endpoint.query, values),
            body=None if endpoint.body is None else templates.filled(endpoint.body, values) or {},
            seconds=seconds,
        )
        if response.status == _NO_CONTENT:
            return ProviderResponse(outcome=TraceOutcome.MISS)
        content = response.body if response.items is None else response.items
        if not response.is_ok or content is None:
            return self.default_response(response)
        return reply.read(self.name, request, endpoint, content)

    def _variables(self, key: str) -> Mapping[str, str]:
        return {**self.variables, f"{self.name.upper()}_API_KEY": key}


class CheckableConfiguredProvider(ConfiguredProvider):
    """A configured provider with a path that checks the credentials."""

    def check(self, *, seconds: float) -> CredentialCheck:
        """Request the path of the check."""
        return self.checked(self.send("GET", self.spec.check or "/", seconds=seconds), {})


def read(
    path: str, variables: Mapping[str, str], reserved: Collection[str] = ()
) -> tuple[type[ConfiguredProvider], ...]:
    """Return a provider class for each table of the file; `variables` are environment variables."""
    specs = provider_specs(path)
    for spec in specs:
        if spec.name in reserved:
            raise SettingsError(f"{path}: [{spec.name}] is the name of a built-in provider; choose another.")
    return tuple(_provider_class(spec, variables) for spec in specs)


def _provider_class(spec: ProviderSpec, variables: Mapping[str, str]) -> type[ConfiguredProvider]:
    base = CheckableConfiguredProvider if spec.check else ConfiguredProvider
    prices = {field: endpoint.price for field, endpoint in spec.endpoints.items()}
    terms = Terms(
        rates=spec.rates,
        prices=MappingProxyType(prices),
        credit_price=spec.credit_price,
        daily_budget=spec.daily_budget,
        miss_days=spec.miss_days,
    )
    attributes = {
        "name": spec.name,
        "base_url": spec.url,
        "fields": frozenset(spec.endpoints),
        "takes_member_ids": spec.member_ids,
        "default_terms": terms,
        "needs_key": spec.key_header is not None,
        "spec": spec,
        "variables": {name: variables.get(name, "").strip() for name in spec.variables},
    }
    return type(base.__name__, (base,), attributes)
