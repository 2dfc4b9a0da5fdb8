"""The nine endpoints in the order of an extension, with the typed client at BASE, as EMAIL with PASSWORD."""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TypeVar
from uuid import uuid4

from contact_lookup_client import AuthenticatedClient, Client
from contact_lookup_client.api.company_by_hash import post_company_by_hash
from contact_lookup_client.api.enrichment import post_enrichment_request
from contact_lookup_client.api.leads_by_hash import post_leads_by_website_hash
from contact_lookup_client.api.login import post_login
from contact_lookup_client.api.lookup import post_lookup
from contact_lookup_client.api.reveal import post_reveal_email, post_reveal_phone
from contact_lookup_client.api.saved_profiles import post_linkedin_save
from contact_lookup_client.api.session import get_session
from contact_lookup_client.models import (
    CompanyByHash,
    CompanyByHashResponse,
    Enrichment,
    EnrichmentResponse,
    Item,
    LeadsByWebsiteHash,
    LeadsResponse,
    LinkedinSave,
    LinkedinSaveResponse,
    Login,
    LoginResponse,
    Lookup,
    LookupResponse,
    Profile,
    RevealEmail,
    RevealPhone,
    RevealResponse,
    SessionResponse,
    Subject,
)

T = TypeVar("T")
WAIT = "wait=20"
PROFILE = "https://www.linkedin.com/in/sandbox-found"
WEBSITE = "northlight-optics.example"


def expect(kind: type[T], answer: object) -> T:
    """Return the answer if it has this type; end the walk if it is a problem."""
    if not isinstance(answer, kind):
        raise SystemExit(f"expected {kind.__name__}, found {answer}")
    print(kind.__name__)
    return answer


def sign_in(base_url: str) -> AuthenticatedClient:
    """Return the client of a new session."""
    credentials = Login(email=os.environ["EMAIL"], password=os.environ["PASSWORD"])
    answer = expect(LoginResponse, post_login.sync(client=Client(base_url), body=credentials))
    return AuthenticatedClient(base_url, answer.access_token, raise_on_unexpected_status=True)


def people(client: AuthenticatedClient) -> None:
    """Look up, reveal, enrich and save a person."""
    subject = Subject(linkedin_url=PROFILE)
    expect(LookupResponse, post_lookup.sync(client=client, body=Lookup(subject=subject)))
    email = expect(
        RevealResponse,
        post_reveal_email.sync(
            client=client, body=RevealEmail(subject=subject), prefer=WAIT, idempotency_key=str(uuid4())
        ),
    )
    assert email.result is not None
    assert email.result.emails
    assert email.job.outcome == "found"
    expect(
        RevealResponse, post_reveal_phone.sync(client=client, body=RevealPhone(subject=subject), prefer=WAIT)
    )
    body = Enrichment(
        entity="person",
        items=[Item(subject=subject, client_reference="row-1")],
        fields=["profile", "email"],
        max_credits=2,
    )
    enriched = expect(EnrichmentResponse, post_enrichment_request.sync(client=client, body=body, prefer=WAIT))
    assert enriched.credits_.charged == 0, "the address is owned"
    profile = Profile(linkedin_url="https://www.linkedin.com/in/walk-python", title="Engineer")
    saved = post_linkedin_save.sync(client=client, body=LinkedinSave(profile=profile, list_="Walk"))
    expect(LinkedinSaveResponse, saved)


def companies(client: AuthenticatedClient) -> None:
    """Find a company and its people by the hash of its website."""
    digest = sha256(WEBSITE.encode()).hexdigest()
    found = expect(
        CompanyByHashResponse,
        post_company_by_hash.sync(client=client, body=CompanyByHash(hash_=digest), prefer=WAIT),
    )
    assert found.result is not None
    assert found.result.company
    assert found.result.company.domain == WEBSITE
    leads = post_leads_by_website_hash.sync(
        client=client, body=LeadsByWebsiteHash(hash_=digest, limit=2), prefer=WAIT
    )
    listed = expect(LeadsResponse, leads)
    assert listed.result is not None
    assert listed.result.leads


def main() -> None:
    """Walk."""
    client = sign_in(os.environ["BASE"])
    session = expect(SessionResponse, get_session.sync(client=client))
    assert (session.credits_.balance or 0) > 0
    people(client)
    companies(client)


if __name__ == "__main__":
    main()
