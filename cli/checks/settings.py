"""Checks of the settings: each missing or invalid one, by the rules of `app.settings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from app.secret_strength import flower_login_fault, suppression_key_fault
from app.settings import REQUIRED, Settings
from cli.checks.findings import Finding, error, note, ok, warning

PLACEHOLDER = "change-me"


def findings(
    settings: Settings, faults: Mapping[str, str], environment: Mapping[str, str]
) -> Iterator[Finding]:
    """Check the environment; never quotes a value that may be secret."""
    wrong = dict(faults)
    login = flower_login_fault(environment.get("FLOWER_BASIC_AUTH", ""))
    if login:
        wrong["FLOWER_BASIC_AUTH"] = login
    weak_key = suppression_key_fault(environment.get("SUPPRESSION_KEY", ""))
    if weak_key:
        wrong.setdefault("SUPPRESSION_KEY", weak_key)
    for name in ("DATABASE_URL", "REDIS_URL"):
        if name not in wrong and PLACEHOLDER in environment.get(name, ""):
            wrong[name] = f"{name} has the example's password. Set one of your own, on the server and here."
    for name in REQUIRED:
        yield _finding(name, wrong[name]) if name in wrong else ok(name, "set")
    for name in sorted(wrong.keys() - set(REQUIRED)):
        yield _finding(name, wrong[name])
    if not settings.metrics_token:
        yield note(
            "METRICS_TOKEN",
            "not set: /metrics is accessible from this machine only",
            "set it to allow Prometheus",
        )
    if not settings.smtp_url:
        yield note(
            "SMTP_URL",
            "not set: /privacy sends no codes, and names PRIVACY_CONTACT instead",
            "set it, and MAIL_FROM, to let people see, correct and erase their data themselves",
        )
    yield from _public_url(settings, wrong)
    if settings.trusted_proxies == 0:
        yield note(
            "TRUSTED_PROXIES",
            "0: no proxy with TLS is expected in front",
            "the extension needs https: put a proxy in front and set TRUSTED_PROXIES=1 (docs/install.md)",
        )


def _public_url(settings: Settings, wrong: Mapping[str, str]) -> Iterator[Finding]:
    if "PUBLIC_URL" in wrong:
        return
    if settings.public_url:
        yield ok("PUBLIC_URL", settings.public_url)
        return
    state = "not set: links in a CRM and redirect addresses have the Host that a request names"
    remedy = "set it to the address that users open, such as https://contacts.example.com"
    is_open = settings.trusted_proxies or settings.oidc_issuer or settings.crm_variables
    yield warning("PUBLIC_URL", state, remedy) if is_open else note("PUBLIC_URL", state, remedy)


def _finding(name: str, sentence: str) -> Finding:
    """Split a sentence such as `X is not set. Set it …` into state and remedy."""
    state, _, remedy = sentence.removeprefix(f"{name} ").partition(". ")
    return error(name, state.rstrip("."), remedy or "correct it; .env.example explains it")
