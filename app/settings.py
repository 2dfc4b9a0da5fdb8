"""The settings, read once from the environment; `.env.example` describes each of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache

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
MIN_JOB_RETENTION_DAYS = 8
"""More than the retention of idempotency keys, which refer to jobs."""
MAX_DAYS = 36_500
YEAR_SECONDS = 31_536_000
MAX_PRICE = 1_000_000
SPOOL_FOLDER = ".data/spool"
_CRM_VARIABLE = re.compile(r"CRM_[A-Z0-9]+_(?:CLIENT_ID|CLIENT_SECRET|BASE_URL)")
MAX_REVERSE_LOOKUPS = 10_000
"""All that a workspace has tried in a day is read before a new value is counted."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of an operator; times are in seconds unless the name says otherwise."""

    database_url: str = field(repr=False)
    redis_url: str = field(repr=False)
    broker_url: str = field(repr=False)
    """The URL of RabbitMQ, or of another Redis than `redis_url`; empty if the queues are in `redis_url`."""
    secret_key: str = field(repr=False)
    suppression_key: str = field(repr=False)
    encryption_keys: tuple[tuple[int, bytes], ...] = field(repr=False)
    suppression_journal: str
    log_level: str
    log_format: str
    metrics_token: str = field(repr=False)
    otlp_endpoint: str
    trusted_proxies: int
    public_url: str
    web_concurrency: int
    cors_origins: tuple[str, ...]
    session_idle_days: int
    session_absolute_days: int
    session_max_per_account: int
    operators: tuple[str, ...]
    flower_url: str
    password_sign_in: bool
    totp_required_for: str
    oidc_issuer: str
    oidc_client_id: str
    oidc_client_secret: str = field(repr=False)
    oidc_name: str
    oidc_role_claim: str
    oidc_admin_values: tuple[str, ...]
    oidc_member_values: tuple[str, ...]
    oidc_create_accounts: tuple[tuple[str, str], ...]
    oidc_extension_ids: tuple[str, ...]
    prices: Mapping[str, int] = field(hash=False)
    feedback_unconfirmed_refund_share: float
    known_fresh_days: int
    answer_fresh_seconds: int
    not_found_fresh_seconds: int
    hash_job_retention_hours: int
    job_retention_days: int
    contact_retention_days: int
    notice_days: int
    hide_personal_emails_in: frozenset[str]
    hide_mobiles_in: frozenset[str]
    require_purpose_in: frozenset[str]
    purposes: tuple[str, ...]
    reverse_lookups_per_person: int
    reverse_lookups_per_domain: int
    reverse_lookups_per_workspace: int
    job_deadline_seconds: int
    lease_seconds: int
    sweep_seconds: float
    republish_seconds: float
    ready_progress_seconds: float
    max_attempts: int
    max_crashes: int
    prefix_length: int
    company_filter_seconds: int
    company_filter_key: bytes | None = field(repr=False)
    company_filter_oprf_key: bytes | None = field(repr=False)
    limit_lookup: str
    limit_spend: str
    limit_write: str
    limit_read: str
    limit_evaluate: str
    limit_prefix: str
    limit_login_address: str
    limit_login_account: str
    providers_email: tuple[str, ...]
    providers_phone: tuple[str, ...]
    providers_person: tuple[str, ...]
    providers_company: tuple[str, ...]
    providers_verification: tuple[str, ...]
    providers_order: str
    providers_file: str
    cost_ceiling_email: float | None
    cost_ceiling_phone: float | None
    webhook_networks: tuple[str, ...]
    upload_max_mb: int
    upload_max_rows: int
    upload_retention_days: int
    spool_folder: str
    spool_max_mb: int
    backup_recipients: tuple[str, ...]
    audit_heads_file: str
    import_folder: str
    smtp_url: str = field(repr=False)
    mail_from: str
    privacy_contact: str
    crm_variables: tuple[tuple[str, str], ...] = field(repr=False)
    """Variables named after a CRM, such as `CRM_HUBSPOT_CLIENT_ID`."""
    provider_variables: tuple[tuple[str, str], ...] = field(default=(), repr=False)
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
    settings = _settings(env)
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


def _settings(env: Environment) -> Settings:
    return Settings(
        database_url=readers.required(
            env, "DATABASE_URL", "for example postgresql://user:password@host/database"
        ),
        redis_url=readers.redis_url(env, "REDIS_URL", "redis://:password@127.0.0.1:6379/0"),
        broker_url=readers.broker_url(env, "BROKER_URL", "amqp://user:password@127.0.0.1:5672/vhost"),
        secret_key=readers.secret(env, "SECRET_KEY"),
        suppression_key=readers.secret(env, "SUPPRESSION_KEY", may_be_guessable=True),
        encryption_keys=encryption_settings.keys(env, "ENCRYPTION_KEYS", "ENCRYPTION_KEYS_FILE"),
        suppression_journal=readers.absolute_path(env, "SUPPRESSION_JOURNAL"),
        log_level=readers.one_of(env, "LOG_LEVEL", "info", "debug", "warning", "error", "critical"),
        log_format=readers.one_of(env, "LOG_FORMAT", "logfmt", "json"),
        metrics_token=env.str("METRICS_TOKEN", ""),
        otlp_endpoint=readers.otlp_endpoint(env, "OTEL_EXPORTER_OTLP_ENDPOINT"),
        trusted_proxies=readers.between(env, "TRUSTED_PROXIES", 0, 0, 100),
        public_url=sign_in_readers.public_url(env, "PUBLIC_URL"),
        web_concurrency=readers.between(env, "WEB_CONCURRENCY", 1, 1, 1000),
        cors_origins=readers.origins(env, "CORS_ORIGINS"),
        session_idle_days=readers.between(env, "SESSION_IDLE_DAYS", 14, 1, MAX_DAYS),
        session_absolute_days=readers.between(env, "SESSION_ABSOLUTE_DAYS", 90, 1, MAX_DAYS),
        session_max_per_account=readers.between(env, "SESSION_MAX_PER_ACCOUNT", 100, 1, 10_000),
        operators=readers.emails(env, "OPERATORS"),
        flower_url=env.str("FLOWER_URL", ""),
        password_sign_in=sign_in_readers.is_on(env, "PASSWORD_SIGN_IN"),
        totp_required_for=readers.one_of(env, "TOTP_REQUIRED_FOR", "nobody", "admins"),
        oidc_issuer=sign_in_readers.issuer(env, "OIDC_ISSUER"),
        oidc_client_id=env.str("OIDC_CLIENT_ID", ""),
        oidc_client_secret=env.str("OIDC_CLIENT_SECRET", ""),
        oidc_name=env.str("OIDC_NAME", "your company account"),
        oidc_role_claim=env.str("OIDC_ROLE_CLAIM", ""),
        oidc_admin_values=sign_in_readers.words(env, "OIDC_ADMIN_VALUES"),
        oidc_member_values=sign_in_readers.words(env, "OIDC_MEMBER_VALUES"),
        oidc_create_accounts=sign_in_readers.workspaces_by_domain(env, "OIDC_CREATE_ACCOUNTS"),
        oidc_extension_ids=sign_in_readers.extension_ids(env, "OIDC_EXTENSION_IDS"),
        prices={
            spec.name: readers.between(env, spec.price_setting, spec.price, 0, MAX_PRICE)
            for spec in KINDS.values()
            if spec.price is not None
        },
        feedback_unconfirmed_refund_share=readers.decimal_between(
            env, "FEEDBACK_UNCONFIRMED_REFUND_SHARE", 0.05, 0, 1
        ),
        known_fresh_days=readers.between(env, "KNOWN_FRESH_DAYS", 180, 0, MAX_DAYS),
        answer_fresh_seconds=readers.between(env, "ANSWER_FRESH_SECONDS", 3600, 0, YEAR_SECONDS),
        not_found_fresh_seconds=readers.between(env, "NOT_FOUND_FRESH_SECONDS", 86400, 0, YEAR_SECONDS),
        hash_job_retention_hours=readers.between(env, "HASH_JOB_RETENTION_HOURS", 24, 24, 8760),
        job_retention_days=readers.between(env, "JOB_RETENTION_DAYS", 90, MIN_JOB_RETENTION_DAYS, MAX_DAYS),
        contact_retention_days=readers.between(env, "CONTACT_RETENTION_DAYS", 1095, 0, MAX_DAYS),
        notice_days=readers.between(env, "NOTICE_DAYS", 30, 0, 365),
        hide_personal_emails_in=readers.places(env, "HIDE_PERSONAL_EMAILS_IN"),
        hide_mobiles_in=readers.places(env, "HIDE_MOBILES_IN"),
        require_purpose_in=readers.places(env, "REQUIRE_PURPOSE_IN"),
        purposes=readers.purposes(env, "PURPOSES"),
        reverse_lookups_per_person=readers.between(
            env, "REVERSE_LOOKUPS_PER_PERSON", 3, 0, MAX_REVERSE_LOOKUPS
        ),
        reverse_lookups_per_domain=readers.between(
            env, "REVERSE_LOOKUPS_PER_DOMAIN", 5, 0, MAX_REVERSE_LOOKUPS
        ),
        reverse_lookups_per_workspace=readers.between(
            env, "REVERSE_LOOKUPS_PER_WORKSPACE", 50, 0, MAX_REVERSE_LOOKUPS
        ),
        job_deadline_seconds=readers.between(env, "JOB_DEADLINE_SECONDS", 3600, 1, YEAR_SECONDS),
        lease_seconds=readers.between(env, "LEASE_SECONDS", 20, 1, 3600),
        sweep_seconds=readers.decimal_between(env, "SWEEP_SECONDS", 1.0, 0.1, 3600),
        republish_seconds=readers.decimal_between(env, "REPUBLISH_SECONDS", 5.0, 0.1, 3600),
        ready_progress_seconds=readers.decimal_between(env, "READY_PROGRESS_SECONDS", 60.0, 1, YEAR_SECONDS),
        max_attempts=readers.between(env, "MAX_ATTEMPTS", 4, 1, 1000),
        max_crashes=readers.between(env, "MAX_CRASHES", 8, 1, 1000),
        prefix_length=readers.between(env, "HASH_PREFIX_LENGTH", 2, 1, 8),
        company_filter_seconds=readers.between(env, "COMPANY_FILTER_SECONDS", 600, 0, 86_400),
        company_filter_key=readers.signing_seed(env, "COMPANY_FILTER_KEY"),
        company_filter_oprf_key=readers.signing_seed(env, "COMPANY_FILTER_OPRF_KEY"),
        limit_lookup=readers.limit(env, "LIMIT_LOOKUP", "6000/minute"),
        limit_spend=readers.limit(env, "LIMIT_SPEND", "6000/minute"),
        limit_write=readers.limit(env, "LIMIT_WRITE", "6000/minute"),
        limit_read=readers.limit(env, "LIMIT_READ", "12000/minute"),
        limit_evaluate=readers.limit(env, "LIMIT_EVALUATE", "600/hour"),
        limit_prefix=readers.limit(env, "LIMIT_PREFIX", "600/minute"),
        limit_login_address=readers.limit(env, "LIMIT_LOGIN_ADDRESS", "60/minute"),
        limit_login_account=readers.limit(env, "LIMIT_LOGIN_ACCOUNT", "10/minute"),
        providers_email=readers.order(env, "PROVIDERS_EMAIL", "email"),
        providers_phone=readers.order(env, "PROVIDERS_PHONE", "phone"),
        providers_person=readers.order(env, "PROVIDERS_PERSON", "person"),
        providers_company=readers.order(env, "PROVIDERS_COMPANY", "company"),
        providers_verification=readers.order(env, "PROVIDERS_VERIFICATION", "verification"),
        providers_order=readers.one_of(env, "PROVIDERS_ORDER", "fixed", "auto"),
        providers_file=env.str("PROVIDERS_FILE", ""),
        cost_ceiling_email=readers.ceiling(env, "COST_CEILING_EMAIL"),
        cost_ceiling_phone=readers.ceiling(env, "COST_CEILING_PHONE"),
        webhook_networks=readers.networks(env, "WEBHOOK_NETWORKS"),
        upload_max_mb=readers.between(env, "UPLOAD_MAX_MB", 20, 1, 1000),
        upload_max_rows=readers.between(env, "UPLOAD_MAX_ROWS", 50_000, 1, 10_000_000),
        upload_retention_days=readers.between(env, "UPLOAD_RETENTION_DAYS", 30, 1, MAX_DAYS),
        spool_folder=env.str("SPOOL_FOLDER", "") or SPOOL_FOLDER,
        spool_max_mb=readers.between(env, "SPOOL_MAX_MB", 1000, 1, 1_000_000),
        backup_recipients=readers.backup_recipients(env, "BACKUP_RECIPIENTS"),
        audit_heads_file=readers.absolute_path(env, "AUDIT_HEADS_FILE"),
        import_folder=readers.absolute_path(env, "IMPORT_FOLDER"),
        smtp_url=mail_settings.smtp_url(env, "SMTP_URL"),
        mail_from=mail_settings.address(env, "MAIL_FROM", required_with="SMTP_URL"),
        privacy_contact=mail_settings.address(env, "PRIVACY_CONTACT"),
        crm_variables=readers.matching(os.environ, _CRM_VARIABLE),
        provider_variables=readers.matching(os.environ, provider_settings.VARIABLE),
    )
