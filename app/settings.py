"""The settings, read once from the environment; `.env.example` describes each of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from functools import cache
from typing import Concatenate, ParamSpec, TypeVar, cast

from app import encryption_settings, mail_settings, provider_settings, sign_in_readers
from app import setting_readers as readers
from app.domain import kinds
from app.domain.kinds import KINDS
from app.domain.purposes import PurposeRule
from app.domain.regional_rules import RegionalRules
from app.domain.reverse_lookups import ReverseLookupLimits
from app.provider_settings import ProviderSettings, SettingsError
from app.secret_strength import GENERATE
from app.setting_readers import Environment

__all__ = ["REQUIRED", "ProviderSettings", "Settings", "SettingsError", "load", "read"]

REQUIRED = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY", "SUPPRESSION_KEY", "FLOWER_BASIC_AUTH")
"""Settings without a default. Docker Compose derives the first two from the passwords it requires."""
READER = "reader"
"""The key of the reader in the metadata of a field."""
P = ParamSpec("P")
R = TypeVar("R")
MIN_JOB_RETENTION_DAYS = 8
"""More than the retention of idempotency keys, which refer to jobs."""
MAX_DAYS = 36_500
YEAR_SECONDS = 31_536_000
MAX_PRICE = 1_000_000
SPOOL_FOLDER = ".data/spool"
_CRM_VARIABLE = re.compile(r"CRM_[A-Z0-9]+_(?:CLIENT_ID|CLIENT_SECRET|BASE_URL)")
MAX_REVERSE_LOOKUPS = 10_000
"""All that a workspace has tried in a day is read before a new value is counted."""


def _setting(reader: Callable[Concatenate[Environment, str, P], R], *args: P.args, **options: P.kwargs) -> R:
    """Declare a setting: a field whose variable is its name in capitals, and the reader of the variable.

    The annotation of the field must be the type that the reader returns.
    """
    return cast("R", field(metadata=_read_by(reader, args, options)))


def _secret(reader: Callable[Concatenate[Environment, str, P], R], *args: P.args, **options: P.kwargs) -> R:
    """Declare a setting that is not shown in the representation of the settings."""
    return cast("R", field(metadata=_read_by(reader, args, options), repr=False))


def _read_by(
    reader: Callable[..., object], args: tuple[object, ...], options: Mapping[str, object]
) -> dict[str, Callable[[Environment, str], object]]:
    return {READER: lambda env, name: reader(env, name, *args, **options)}


def _prices(env: Environment, _name: str) -> Mapping[str, int]:
    """Return the credits for a result of each kind that has a price, by kind."""
    return {
        spec.name: readers.between(env, spec.price_setting, spec.price, 0, MAX_PRICE)
        for spec in KINDS.values()
        if spec.price is not None
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of an operator; times are in seconds unless the name says otherwise."""

    database_url: str = _secret(readers.required, "for example postgresql://user:password@host/database")
    redis_url: str = _secret(readers.redis_url, "redis://:password@127.0.0.1:6379/0")
    broker_url: str = _secret(readers.broker_url, "amqp://user:password@127.0.0.1:5672/vhost")
    """The URL of RabbitMQ, or of another Redis than `redis_url`; empty if the queues are in `redis_url`."""
    secret_key: str = _secret(readers.secret)
    suppression_key: str = _secret(readers.secret, may_be_guessable=True)
    encryption_keys: tuple[tuple[int, bytes], ...] = _secret(encryption_settings.keys, "ENCRYPTION_KEYS_FILE")
    suppression_journal: str = _setting(readers.absolute_path)
    log_level: str = _setting(readers.one_of, "info", "debug", "warning", "error", "critical")
    log_format: str = _setting(readers.one_of, "logfmt", "json")
    metrics_token: str = _secret(readers.text)
    otel_exporter_otlp_endpoint: str = _setting(readers.otlp_endpoint)
    trusted_proxies: int = _setting(readers.between, 0, 0, 100)
    public_url: str = _setting(sign_in_readers.public_url)
    web_concurrency: int = _setting(readers.between, 1, 1, 1000)
    cors_origins: tuple[str, ...] = _setting(readers.origins)
    session_idle_days: int = _setting(readers.between, 14, 1, MAX_DAYS)
    session_absolute_days: int = _setting(readers.between, 90, 1, MAX_DAYS)
    session_max_per_account: int = _setting(readers.between, 100, 1, 10_000)
    operators: tuple[str, ...] = _setting(readers.emails)
    flower_url: str = _setting(readers.text)
    password_sign_in: bool = _setting(sign_in_readers.is_on)
    totp_required_for: str = _setting(readers.one_of, "nobody", "admins")
    oidc_issuer: str = _setting(sign_in_readers.issuer)
    oidc_client_id: str = _setting(readers.text)
    oidc_client_secret: str = _secret(readers.text)
    oidc_name: str = _setting(readers.text, "your company account")
    oidc_role_claim: str = _setting(readers.text)
    oidc_admin_values: tuple[str, ...] = _setting(sign_in_readers.words)
    oidc_member_values: tuple[str, ...] = _setting(sign_in_readers.words)
    oidc_create_accounts: tuple[tuple[str, str], ...] = _setting(sign_in_readers.workspaces_by_domain)
    oidc_extension_ids: tuple[str, ...] = _setting(sign_in_readers.extension_ids)
    prices: Mapping[str, int] = field(hash=False, metadata={READER: _prices})
    feedback_unconfirmed_refund_share: float = _setting(readers.decimal_between, 0.05, 0, 1)
    known_fresh_days: int = _setting(readers.between, 180, 0, MAX_DAYS)
    answer_fresh_seconds: int = _setting(readers.between, 3600, 0, YEAR_SECONDS)
    not_found_fresh_seconds: int = _setting(readers.between, 86400, 0, YEAR_SECONDS)
    hash_job_retention_hours: int = _setting(readers.between, 24, 24, 8760)
    job_retention_days: int = _setting(readers.between, 90, MIN_JOB_RETENTION_DAYS, MAX_DAYS)
    contact_retention_days: int = _setting(readers.between, 1095, 0, MAX_DAYS)
    notice_days: int = _setting(readers.between, 30, 0, 365)
    hide_personal_emails_in: frozenset[str] = _setting(readers.places)
    hide_mobiles_in: frozenset[str] = _setting(readers.places)
    require_purpose_in: frozenset[str] = _setting(readers.places)
    purposes: tuple[str, ...] = _setting(readers.purposes)
    reverse_lookups_per_person: int = _setting(readers.between, 3, 0, MAX_REVERSE_LOOKUPS)
    reverse_lookups_per_domain: int = _setting(readers.between, 5, 0, MAX_REVERSE_LOOKUPS)
    reverse_lookups_per_workspace: int = _setting(readers.between, 50, 0, MAX_REVERSE_LOOKUPS)
    job_deadline_seconds: int = _setting(readers.between, 3600, 1, YEAR_SECONDS)
    lease_seconds: int = _setting(readers.between, 20, 1, 3600)
    sweep_seconds: float = _setting(readers.decimal_between, 1.0, 0.1, 3600)
    republish_seconds: float = _setting(readers.decimal_between, 5.0, 0.1, 3600)
    ready_progress_seconds: float = _setting(readers.decimal_between, 60.0, 1, YEAR_SECONDS)
    max_attempts: int = _setting(readers.between, 4, 1, 1000)
    max_crashes: int = _setting(readers.between, 8, 1, 1000)
    hash_prefix_length: int = _setting(readers.between, 2, 1, 8)
    company_filter_seconds: int = _setting(readers.between, 600, 0, 86_400)
    company_filter_key: bytes | None = _secret(readers.signing_seed)
    company_filter_oprf_key: bytes | None = _secret(readers.signing_seed)
    page_rules_file: str = _setting(readers.absolute_path)
    page_rules_off: tuple[str, ...] = _setting(sign_in_readers.words)
    limit_lookup: str = _setting(readers.limit, "6000/minute")
    limit_spend: str = _setting(readers.limit, "6000/minute")
    limit_write: str = _setting(readers.limit, "6000/minute")
    limit_read: str = _setting(readers.limit, "12000/minute")
    limit_evaluate: str = _setting(readers.limit, "600/hour")
    limit_prefix: str = _setting(readers.limit, "600/minute")
    limit_login_address: str = _setting(readers.limit, "60/minute")
    limit_login_account: str = _setting(readers.limit, "10/minute")
    providers_email: tuple[str, ...] = _setting(readers.order, "email")
    providers_phone: tuple[str, ...] = _setting(readers.order, "phone")
    providers_person: tuple[str, ...] = _setting(readers.order, "person")
    providers_company: tuple[str, ...] = _setting(readers.order, "company")
    providers_people: tuple[str, ...] = _setting(readers.order, "people")
    providers_verification: tuple[str, ...] = _setting(readers.order, "verification")
    providers_order: str = _setting(readers.one_of, "fixed", "auto")
    providers_file: str = _setting(readers.text)
    cost_ceiling_email: float | None = _setting(readers.ceiling)
    cost_ceiling_phone: float | None = _setting(readers.ceiling)
    webhook_networks: tuple[str, ...] = _setting(readers.networks)
    upload_max_mb: int = _setting(readers.between, 20, 1, 1000)
    upload_max_rows: int = _setting(readers.between, 50_000, 1, 10_000_000)
    upload_retention_days: int = _setting(readers.between, 30, 1, MAX_DAYS)
    spool_folder: str = _setting(readers.text, SPOOL_FOLDER)
    spool_max_mb: int = _setting(readers.between, 1000, 1, 1_000_000)
    backup_recipients: tuple[str, ...] = _setting(readers.backup_recipients)
    audit_heads_file: str = _setting(readers.absolute_path)
    import_folder: str = _setting(readers.absolute_path)
    smtp_url: str = _secret(mail_settings.smtp_url)
    mail_from: str = _setting(mail_settings.address, required_with="SMTP_URL")
    privacy_contact: str = _setting(mail_settings.address)
    crm_variables: tuple[tuple[str, str], ...] = _secret(readers.matching, _CRM_VARIABLE)
    """Variables named after a CRM, such as `CRM_HUBSPOT_CLIENT_ID`."""
    provider_variables: tuple[tuple[str, str], ...] = _secret(readers.matching, provider_settings.VARIABLE)
    """Variables named after a provider or country, such as `HUNTER_API_KEY` and `PROVIDERS_EMAIL_DE`."""

    def access(self, name: str) -> ProviderSettings:
        """Return the settings of a provider."""
        return provider_settings.access(dict(self.provider_variables), name)

    def providers(self, field: str, region: str | None = None) -> tuple[str, ...]:
        """Return the names of the providers of a field, in the order of their calls.

        `region` is an ISO country code. `PROVIDERS_EMAIL_DE` or, in the European Union, `PROVIDERS_EMAIL_EU`
        overrides the default order.
        """
        regional = provider_settings.order_for(dict(self.provider_variables), field, region)
        if regional is not None:
            return regional
        return self._default_orders[field]

    @property
    def provider_names(self) -> frozenset[str]:
        """Return the names of the providers in all orders, including the orders of single countries."""
        regional = provider_settings.regional_names(dict(self.provider_variables))
        return regional.union(*self._default_orders.values())

    @property
    def _default_orders(self) -> dict[str, tuple[str, ...]]:
        return {
            "email": self.providers_email,
            "phone": self.providers_phone,
            "person": self.providers_person,
            "company": self.providers_company,
            "people": self.providers_people,
            "verification": self.providers_verification,
        }

    def is_operator(self, email: str) -> bool:
        """Return whether the account with this normalised e-mail address operates the deployment."""
        return email in self.operators

    @property
    def spool_process_mb(self) -> int:
        """Return the MB of the spool that one API process may use: at least two of the largest files."""
        return max(self.spool_max_mb // self.web_concurrency, 2 * self.upload_max_mb + 1)

    @property
    def queue_url(self) -> str:
        """Return the URL of the broker that holds the queues."""
        return self.broker_url or self.redis_url

    @property
    def default_max_age(self) -> timedelta:
        """Return the age at which stored values become stale and providers are called again."""
        return timedelta(days=self.known_fresh_days)

    @property
    def regional_rules(self) -> RegionalRules:
        """Return the rules that hide personal e-mails and mobile numbers in some countries."""
        return RegionalRules(self.hide_personal_emails_in, self.hide_mobiles_in)

    def price_of(self, field: str) -> int:
        """Return the credits for a revealed field of a contact, email or phone."""
        return self.prices[kinds.revealing(field).name]

    @property
    def purpose_rule(self) -> PurposeRule:
        """Return the rule that says for whose values a purpose must be stated."""
        return PurposeRule(self.require_purpose_in, self.purposes)

    @property
    def reverse_lookup_limits(self) -> ReverseLookupLimits:
        """Return how many addresses and numbers that it does not own a workspace may try in a day."""
        return ReverseLookupLimits(
            self.reverse_lookups_per_person,
            self.reverse_lookups_per_domain,
            self.reverse_lookups_per_workspace,
        )


@cache
def load() -> Settings:
    """Return the settings of the environment.

    Raises:
        SettingsError: settings are missing or invalid; the message has a line for each.

    """
    settings, faults = read()
    if faults:
        raise SettingsError("\n".join(faults.values()))
    return settings


def read() -> tuple[Settings, dict[str, str]]:
    """Return the settings, and an error for each missing or invalid one, whose field is then None."""
    env = Environment()
    values = {
        setting.name: setting.metadata[READER](env, setting.name.upper()) for setting in fields(Settings)
    }
    settings = Settings(**values)
    faults = env.faults()
    if settings.secret_key and settings.secret_key == settings.suppression_key:
        faults["SECRET_KEY"] = (
            "SECRET_KEY and SUPPRESSION_KEY are equal. Set SECRET_KEY to another secret "
            f"(the suppression list depends on SUPPRESSION_KEY): {GENERATE}"
        )
    sign_in_faults = sign_in_readers.faults(
        settings.oidc_issuer, settings.oidc_client_id, passwords=settings.password_sign_in
    )
    return settings, sign_in_faults | faults
