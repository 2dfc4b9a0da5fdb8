from __future__ import annotations

import base64
import hmac
import secrets
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from apiflask import APIFlask
from joserfc import jwt
from joserfc.jwk import RSAKey
from openid_support import CLIENT_SECRET, FakeOpenIdProvider
from page_support import ACCEPT, visitor
from pytest_httpserver import HTTPServer
from settings_support import change_settings
from users_support import SignedInUser
from werkzeug.test import TestResponse

from app.engine.accounts import accounts
from app.engine.accounts.accounts import Account
from app.features.company_sign_in.codes import challenge_of
from app.infra import clock

EXTENSION = f"https://{'a' * 32}.chromiumapp.org/sign-in"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
FROM_EXTENSION = {
    "redirect_uri": EXTENSION,
    "code_challenge": challenge_of(VERIFIER),
    "code_challenge_method": "S256",
    "state": "the extension's state",
}


@pytest.fixture
def provider(app: APIFlask, httpserver: HTTPServer) -> FakeOpenIdProvider:
    """The company's provider, whose issuer no other test uses, because its keys are cached."""
    fake = FakeOpenIdProvider(httpserver, httpserver.url_for(f"/{secrets.token_hex(8)}"))
    change_settings(
        app, **fake.settings, oidc_name="Acme", oidc_extension_ids=("a" * 32,), limit_login_address="100/hour"
    )
    return fake


@dataclass
class CompanyBrowser:
    """A browser whose user has a company account."""

    app: APIFlask
    provider: FakeOpenIdProvider

    def __post_init__(self) -> None:
        self.client = visitor(self.app).client

    def get(self, path: str, **query: str) -> TestResponse:
        return self.client.get(path, query_string=query or None, headers=ACCEPT)

    def start(self, **query: str) -> str:
        """Start the sign-in, and return the address at the provider."""
        response = self.get("/sign-in/company", **query)
        assert response.status_code == 303
        return response.headers["Location"]

    def sign_in(self, **query: str) -> TestResponse:
        return self.get(self.provider.approve(self.start(**query)))

    @property
    def is_signed_in(self) -> bool:
        return self.get("/").status_code == 200


@pytest.fixture
def browser(app: APIFlask, provider: FakeOpenIdProvider) -> CompanyBrowser:
    return CompanyBrowser(app, provider)


def query_of(response: TestResponse) -> dict[str, str]:
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    return {name: values[0] for name, values in query.items()}


def test_the_sign_in_page_offers_the_company_account(browser: CompanyBrowser) -> None:
    page = browser.get("/sign-in", next="/history").text

    assert "Sign in with Acme" in page
    assert "/sign-in/company?next=/history" in page


def test_without_a_provider_nothing_is_offered(app: APIFlask) -> None:
    client = visitor(app).client

    assert "sign-in/company" not in client.get("/sign-in", headers=ACCEPT).text
    assert client.get("/sign-in/company", headers=ACCEPT).status_code == 404
    assert client.get("/sign-in/company/callback", headers=ACCEPT).status_code == 404


def test_with_passwords_turned_off_only_the_company_account_is_offered(
    app: APIFlask, browser: CompanyBrowser, user: SignedInUser
) -> None:
    change_settings(app, password_sign_in=False)

    page = browser.get("/sign-in")
    sent = browser.client.post("/sign-in", data={"email": user.email, "password": "x"}, headers=ACCEPT)

    assert 'type="password"' not in page.text
    assert "Sign in with Acme" in page.text
    assert sent.status_code == 403


def test_the_account_with_the_verified_address_is_signed_in(
    browser: CompanyBrowser, user: SignedInUser
) -> None:
    response = browser.sign_in(next="/history")

    assert (response.status_code, response.headers["Location"]) == (303, "/history")
    assert browser.is_signed_in
    assert user.email in browser.get("/").text


def test_whoever_knows_the_password_is_out_after_the_first_company_sign_in(
    browser: CompanyBrowser, user: SignedInUser
) -> None:
    browser.sign_in()

    refused = user.sign_in()
    session = user.client.get("/api/ext/session", headers=user.headers)
    assert (refused.status_code, refused.get_json()["code"]) == (401, "invalid_credentials")
    assert (session.status_code, session.get_json()["code"]) == (401, "token_revoked")
    assert browser.is_signed_in


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example"])
@pytest.mark.usefixtures("user")
def test_a_sign_in_leads_only_to_pages_of_this_server(browser: CompanyBrowser, target: str) -> None:
    assert browser.sign_in(next=target).headers["Location"] == "/"


def test_no_secret_of_the_attempt_is_in_an_address_or_readable_in_a_cookie(browser: CompanyBrowser) -> None:
    response = browser.get("/sign-in/company")

    cookie = response.headers["Set-Cookie"]
    assert "code_verifier" not in response.headers["Location"]
    assert CLIENT_SECRET not in response.headers["Location"]
    assert query_of(response)["state"] not in cookie
    assert all(part in cookie for part in ("HttpOnly", "SameSite=Lax", "Max-Age=600"))


def test_an_account_is_created_at_the_first_sign_in_if_its_domain_is_allowed(
    app: APIFlask, browser: CompanyBrowser, user: SignedInUser
) -> None:
    browser.provider.profile |= {"sub": "sub-eve", "email": "eve@acme.example", "name": "Eve"}

    refused = browser.sign_in()
    change_settings(app, oidc_create_accounts=(("acme.example", user.workspace_id),))
    created = browser.sign_in()

    assert refused.status_code == 403
    assert "There is no account for this company account." in refused.text
    assert created.status_code == 303
    with user.database.reading() as session:
        account = accounts.by_email(session, "eve@acme.example")
    assert account is not None
    assert (account.workspace_id, account.name) == (user.workspace_id, "Eve")


def test_roles_follow_the_claim_and_no_access_ends_the_sessions(
    app: APIFlask, browser: CompanyBrowser, user: SignedInUser
) -> None:
    change_settings(
        app, oidc_role_claim="groups", oidc_admin_values=("admins",), oidc_member_values=("sales",)
    )
    browser.provider.claims["groups"] = ["sales", "admins"]
    browser.sign_in()
    with user.database.reading() as session:
        assert session.get_one(Account, user.account_id).role == "admin"

    browser.provider.claims["groups"] = ["marketing"]
    refused = CompanyBrowser(app, browser.provider).sign_in()

    assert refused.status_code == 403
    assert not browser.is_signed_in


def test_a_disabled_account_is_out_at_once_and_stays_out(browser: CompanyBrowser, user: SignedInUser) -> None:
    browser.sign_in()
    with user.database.transaction() as session:
        accounts.disable(session, user.account_id, now=clock.now())

    assert not browser.is_signed_in
    assert browser.sign_in().status_code == 403
    assert not browser.is_signed_in


@pytest.mark.usefixtures("user")
def test_what_a_short_id_token_lacks_is_read_from_the_userinfo_endpoint(browser: CompanyBrowser) -> None:
    profile = browser.provider.profile
    browser.provider.user_info, browser.provider.profile = profile, {"sub": profile["sub"]}

    assert browser.sign_in().status_code == 303


@pytest.mark.usefixtures("user")
def test_userinfo_of_another_user_is_refused(browser: CompanyBrowser) -> None:
    profile = browser.provider.profile
    browser.provider.user_info, browser.provider.profile = profile, {"sub": "sub-eve"}

    assert browser.sign_in().status_code == 401


@pytest.mark.parametrize("names_keys", [True, False], ids=["with ids", "without ids"])
@pytest.mark.parametrize("change", ["rotate_key", "replace_key", "replace_algorithm", "move_keys"])
@pytest.mark.usefixtures("user")
def test_the_keys_are_read_once_more_after_each_change(
    browser: CompanyBrowser, monkeypatch: pytest.MonkeyPatch, change: str, *, names_keys: bool
) -> None:
    browser.provider.names_keys = names_keys
    browser.sign_in()
    getattr(browser.provider, change)()
    monkeypatch.setattr("app.features.company_sign_in.openid.id_tokens.MIN_REFRESH_SECONDS", -1.0)

    assert browser.sign_in().status_code == 303
    assert browser.provider.key_requests == 2


@pytest.mark.parametrize("change", ["rotate_key", "replace_key", "replace_algorithm"])
@pytest.mark.usefixtures("user")
def test_tokens_with_unknown_keys_do_not_make_the_service_read_keys_all_the_time(
    browser: CompanyBrowser, change: str
) -> None:
    browser.sign_in()
    getattr(browser.provider, change)()

    assert [browser.sign_in().status_code for _ in range(3)] == [401] * 3
    assert browser.provider.key_requests == 1


def none_algorithm(provider: FakeOpenIdProvider, claims: dict[str, Any]) -> str:
    _, payload, _ = provider.signed(claims).split(".")
    return f"eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{payload}."


def symmetric(provider: FakeOpenIdProvider, claims: dict[str, Any]) -> str:
    """Sign with the public key as if it were a shared secret."""
    _, payload, _ = provider.signed(claims).split(".")
    header = base64.urlsafe_b64encode(f'{{"alg":"HS256","kid":"{provider.key.kid}"}}'.encode()).rstrip(b"=")
    signed = f"{header.decode()}.{payload}"
    mac = hmac.digest(provider.key.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


def other_key(provider: FakeOpenIdProvider, claims: dict[str, Any]) -> str:
    return jwt.encode({"alg": "RS256", "kid": provider.key.kid}, claims, RSAKey.generate_key(2048))


@pytest.mark.parametrize("forge", [none_algorithm, symmetric, other_key])
@pytest.mark.usefixtures("user")
def test_a_token_with_a_forged_signature_is_refused(browser: CompanyBrowser, forge: Any) -> None:
    browser.provider.sign = lambda claims: forge(browser.provider, claims)

    response = browser.sign_in()

    assert response.status_code == 401
    assert "The sign-in with the company account failed." in response.text
    assert not browser.is_signed_in


@pytest.mark.parametrize(
    "claims",
    [
        {"nonce": "of another sign-in"},
        {"nonce": None},
        {"aud": "another client"},
        {"aud": None},
        {"aud": ["contact-lookup", "another client"]},
        {"aud": ["contact-lookup", "another client"], "azp": "another client"},
        {"azp": "another client"},
        {"iss": "https://another-issuer.example"},
        {"iss": None},
        {"exp": -120},
        {"exp": None},
        {"exp": "never"},
        {"iat": 600},
        {"nbf": 600},
        {"sub": None},
    ],
)
@pytest.mark.usefixtures("user")
def test_a_token_with_a_wrong_claim_is_refused(browser: CompanyBrowser, claims: dict[str, Any]) -> None:
    browser.provider.claims = claims

    assert browser.sign_in().status_code == 401
    assert not browser.is_signed_in


ODD_VALUES = [5, 1.5, True, "", "\0", "\ud800", [], [[]], [{}], {}, {"a": []}, "x" * 100_000]


@pytest.mark.parametrize(
    "claim", ["iss", "sub", "aud", "azp", "exp", "nbf", "iat", "nonce", "acr", "at_hash"]
)
@pytest.mark.usefixtures("user")
def test_a_claim_of_a_wrong_type_is_refused_or_ignored(browser: CompanyBrowser, claim: str) -> None:
    statuses = set()
    for value in ODD_VALUES:
        browser.provider.claims = {claim: value}
        statuses.add(browser.sign_in().status_code)

    assert statuses <= {303, 401}


@pytest.mark.parametrize("claim", ["email", "email_verified", "xms_edov", "name", "groups"])
@pytest.mark.usefixtures("user")
def test_a_wrong_type_of_what_describes_the_user_is_ignored(
    app: APIFlask, browser: CompanyBrowser, claim: str
) -> None:
    change_settings(app, oidc_role_claim="groups", oidc_admin_values=("admins",))
    statuses = set()
    for value in ODD_VALUES:
        browser.provider.profile = browser.provider.profile | {"sub": secrets.token_hex(8), claim: value}
        statuses.add(browser.sign_in().status_code)

    assert statuses <= {303, 401, 403}


@pytest.mark.parametrize(
    "metadata",
    [
        {"token_endpoint_auth_methods_supported": 5},
        {"authorization_endpoint": "https://login.acme.example/\r\nX: y"},
        {"authorization_endpoint": {}},
        {"jwks_uri": "x"},
        {"token_endpoint": "http://["},
        {"userinfo_endpoint": 5},
    ],
)
@pytest.mark.usefixtures("user")
def test_metadata_of_a_wrong_type_fail_the_sign_in_at_most(
    browser: CompanyBrowser, metadata: dict[str, Any]
) -> None:
    browser.provider.metadata = metadata

    response = browser.get("/sign-in/company")
    if response.status_code == 303:
        response = browser.get(browser.provider.approve(response.headers["Location"]))

    assert response.status_code in {303, 401, 503}


@pytest.mark.usefixtures("user")
def test_a_token_with_a_header_of_a_wrong_type_is_refused(browser: CompanyBrowser) -> None:
    header = base64.urlsafe_b64encode(b'{"alg":"RS256","crit":5}').rstrip(b"=").decode()
    browser.provider.sign = lambda claims: f"{header}.{browser.provider.signed(claims).partition('.')[2]}"

    assert browser.sign_in().status_code == 401


@pytest.mark.parametrize(
    "claims",
    [{"exp": -30}, {"aud": ["contact-lookup"]}, {"azp": "contact-lookup"}],
)
@pytest.mark.usefixtures("user")
def test_a_clock_that_is_a_little_off_and_a_named_client_are_accepted(
    browser: CompanyBrowser, claims: dict[str, Any]
) -> None:
    browser.provider.claims = claims

    assert browser.sign_in().status_code == 303


@pytest.mark.usefixtures("user")
def test_a_response_with_another_state_is_refused(browser: CompanyBrowser) -> None:
    callback = browser.provider.approve(browser.start())

    response = browser.get(callback.replace("state=", "state=x"))

    assert response.status_code == 401
    assert not browser.is_signed_in


@pytest.mark.usefixtures("user")
def test_a_response_to_the_sign_in_of_another_browser_is_refused(
    app: APIFlask, browser: CompanyBrowser
) -> None:
    callback = browser.provider.approve(browser.start())
    victim, started = CompanyBrowser(app, browser.provider), CompanyBrowser(app, browser.provider)
    started.start()

    assert victim.get(callback).status_code == 401
    assert started.get(callback).status_code == 401
    assert not victim.is_signed_in


@pytest.mark.usefixtures("user")
def test_a_response_is_accepted_once_even_with_the_cookie_of_the_attempt(browser: CompanyBrowser) -> None:
    callback = browser.provider.approve(browser.start())
    cookie = browser.client.get_cookie("company-sign-in")
    assert cookie is not None
    browser.get(callback)
    browser.client.delete_cookie("session")

    without_cookie = browser.get(callback)
    browser.client.set_cookie("company-sign-in", cookie.value)
    with_cookie = browser.get(callback)

    assert (without_cookie.status_code, with_cookie.status_code) == (401, 401)
    assert not browser.is_signed_in


@pytest.mark.usefixtures("user")
def test_a_code_that_was_injected_from_another_sign_in_is_refused_by_pkce(browser: CompanyBrowser) -> None:
    stolen = parse_qs(urlsplit(browser.provider.approve(browser.start())).query)["code"][0]
    own = browser.provider.approve(browser.start())
    code = parse_qs(urlsplit(own).query)["code"][0]

    assert browser.get(own.replace(code, stolen)).status_code == 401


@pytest.mark.parametrize(
    ("metadata", "parameter", "status"),
    [
        ({}, "", 303),
        ({}, "https://another-issuer.example", 401),
        ({"authorization_response_iss_parameter_supported": True}, "", 401),
        ({"authorization_response_iss_parameter_supported": True}, "own", 303),
    ],
)
@pytest.mark.usefixtures("user")
def test_the_response_of_a_mixed_up_issuer_is_refused(
    browser: CompanyBrowser, metadata: dict[str, Any], parameter: str, status: int
) -> None:
    browser.provider.metadata = metadata
    callback = browser.provider.approve(browser.start())
    named = parameter.replace("own", browser.provider.issuer)

    response = browser.get(callback + (f"&iss={named}" if named else ""))

    assert response.status_code == status


@pytest.mark.usefixtures("user")
def test_a_user_who_cancels_can_start_again(browser: CompanyBrowser) -> None:
    callback = browser.provider.approve(browser.start())
    state = parse_qs(urlsplit(callback).query)["state"][0]

    response = browser.get("/sign-in/company/callback", error="access_denied", state=state)

    assert response.status_code == 401
    assert "You canceled it. Start again" in response.text
    assert browser.sign_in().status_code == 303


def test_metadata_of_another_issuer_are_not_used(browser: CompanyBrowser) -> None:
    browser.provider.metadata = {"issuer": "https://another-issuer.example"}

    assert browser.get("/sign-in/company").status_code == 503


def test_a_provider_that_cannot_be_reached_is_a_sentence(app: APIFlask) -> None:
    change_settings(app, oidc_issuer="http://127.0.0.1:1", oidc_client_id="c")

    response = visitor(app).client.get("/sign-in/company", headers=ACCEPT)

    assert response.status_code == 503
    assert "The company&#39;s sign-in cannot be reached at the moment." in response.text


def test_failures_are_limited_by_network(app: APIFlask, browser: CompanyBrowser) -> None:
    change_settings(app, limit_login_address="2/hour")
    browser.provider.claims = {"nonce": "wrong"}

    assert [browser.sign_in().status_code for _ in range(4)] == [401, 401, 429, 429]


def test_the_extension_gets_a_code_and_no_cookie_and_exchanges_it_for_a_session(
    browser: CompanyBrowser, user: SignedInUser
) -> None:
    response = browser.sign_in(**FROM_EXTENSION)
    query = query_of(response)
    body = {"code": query["code"], "code_verifier": VERIFIER}

    exchanged = browser.client.post("/api/ext/company-login", json=body)

    assert response.headers["Location"].startswith(f"{EXTENSION}?")
    assert (set(query), query["state"]) == ({"code", "state"}, "the extension's state")
    assert not browser.is_signed_in
    assert exchanged.get_json()["account"]["email"] == user.email


def test_the_extension_learns_why_it_was_refused(browser: CompanyBrowser) -> None:
    response = browser.sign_in(**FROM_EXTENSION)

    assert query_of(response) == {"error": "company_account_refused", "state": "the extension's state"}


@pytest.mark.parametrize(
    "change",
    [
        {"redirect_uri": f"https://{'b' * 32}.chromiumapp.org/sign-in"},
        {"redirect_uri": "https://evil.example/sign-in"},
        {"redirect_uri": f"{EXTENSION}/../other"},
        {"code_challenge_method": "plain"},
        {"code_challenge": ""},
        {"code_challenge": VERIFIER[:42]},
        {"state": ""},
    ],
)
def test_a_request_that_is_not_the_extensions_or_weakens_pkce_is_refused(
    browser: CompanyBrowser, change: dict[str, str]
) -> None:
    response = browser.get("/sign-in/company", **(FROM_EXTENSION | change))

    assert response.status_code == 422
    assert "Location" not in response.headers
