"""The endpoint and the pages of sign-in with company accounts, and what they mean for other pages."""

from __future__ import annotations

from app.features.company_sign_in import api, identities, pages
from app.infra.database.session import Session
from app.settings import Settings
from app.web.feature import SignInOption, WebPart
from app.web.services import services

PATH = "/sign-in/company"


def _option(settings: Settings) -> SignInOption | None:
    if not settings.oidc_issuer:
        return None
    return SignInOption(settings.oidc_name, PATH, settings.oidc_extension_ids)


def _owns_domain(session: Session, workspace_id: str, domain: str) -> bool | None:
    """Return whether the domain is mapped to the workspace or, with a provider, signs in to it."""
    settings = services().settings
    mapped_to = dict(settings.oidc_create_accounts).get(domain)
    if mapped_to is not None:
        return mapped_to == workspace_id
    if settings.oidc_issuer:
        return identities.have_domain(session, settings.oidc_issuer, workspace_id, domain)
    return None


WEB = WebPart(
    api=(api.blueprint,), pages=(pages.blueprint,), sign_in_option=_option, owns_domain=_owns_domain
)
