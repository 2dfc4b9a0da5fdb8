"""The signed file of rules: what is downloaded and when, and which file is used."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from chromium_support import BrowserUser
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from page_reading import read_people
from polling import wait_until
from proxy_support import CannedReply

from app.features.page_rules import rules_file

RULES = "/api/ext/page-rules"
SITE = "http://speakers.test/"
HTML = "<div class=who><q>Ada Lovelace</q></div><div class=who><q>Grace Hopper</q></div>"
SHIPPED = json.loads(rules_file.SHIPPED.read_text())
HOUR = 3_600_000
KEY = Ed25519PrivateKey.generate()
OTHER_KEY = Ed25519PrivateKey.generate()


def public_key(key: Ed25519PrivateKey) -> str:
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def rules(version: int, site: str = "speakers", **changes: Any) -> dict[str, Any]:
    """Return the shipped rules with one for the speakers."""
    rule = {"name": site, "kind": "list", "hosts": ["speakers.test"], "item": [".who"]}
    return SHIPPED | {"version": version, "sites": [rule | {"fields": {"full_name": ["q"]}}]} | changes


def served(file: dict[str, Any], key: Ed25519PrivateKey = KEY, *, changed: bool = False) -> CannedReply:
    text = json.dumps(file)
    signature = base64.b64encode(key.sign(text.encode())).decode()
    body = {"rules": text.replace(".who", ".all") if changed else text, "signature": signature}
    return CannedReply(200, body, {"Content-Type": "application/json", "ETag": f'"{file["version"]}"'})


def sign_in(user: BrowserUser) -> None:
    """Sign in to a server that signs with KEY."""
    user.sign_in()
    session = user.get_storage("session")["session"]
    user.set_storage("session", session=session | {"pageRulesKey": public_key(KEY)})


def let_an_hour_pass(user: BrowserUser) -> None:
    stored = user.get_storage("local")["page_rules"]
    user.set_storage("local", page_rules=stored | {"checkedAt": stored["checkedAt"] - 2 * HOUR})


def rule_used(user: BrowserUser) -> str:
    rule: str = read_people(user, SITE, HTML)["rule"]
    return rule


def test_the_file_is_downloaded_once_an_hour_and_names_nothing_of_the_page(user: BrowserUser) -> None:
    user.sign_in()

    for _ in range(3):
        read_people(user, SITE, HTML)
    let_an_hour_pass(user)
    read_people(user, SITE, HTML)

    first, second = user.proxy.api_requests(RULES)
    assert (first.method, first.path, first.body) == ("GET", RULES, b"")
    assert "If-None-Match" not in first.headers
    assert second.headers["If-None-Match"].startswith('"')
    assert not [request for request in (first, second) if "speakers" in request.text]


def test_reading_a_website_sends_nothing_of_it_and_asks_no_other_server(user: BrowserUser) -> None:
    user.sign_in()
    links = '<p><a href="https://www.linkedin.com/in/{0}">Ada {0}</a> <img src="/ada.png"></p>'
    html = (
        "".join(map(links.format, ("One", "Two", "Three")))
        + '<a href="mailto:ada@acme.test">Ada Lovelace</a>'
    )

    read = read_people(user, SITE, html)

    assert len(read["people"]) == 4
    sent = user.proxy.api_requests()
    assert {request.path for request in sent} <= {
        *("/api/ext/session", RULES),
        *("/api/ext/company-by-hash", "/api/ext/leads-by-website-hash"),
    }
    others = {request.host for request in user.proxy.sent if not request.is_of_chromium}
    assert others <= {user.proxy.api, "speakers.test"}


def test_nothing_is_read_before_the_click(user: BrowserUser) -> None:
    user.sign_in()

    user.visit(SITE)

    assert user.proxy.api_requests() == []


@pytest.mark.parametrize(
    ("reply", "rule"),
    [
        (served(rules(1)), "speakers"),
        (served(rules(1), OTHER_KEY), ""),
        (served(rules(1), changed=True), ""),
        (CannedReply(200, {"rules": "{", "signature": "!"}, {"Content-Type": "application/json"}), ""),
        (CannedReply(200, b"<html>", {"Content-Type": "text/html"}), ""),
        (CannedReply(500, b"", {}), ""),
        (CannedReply(), ""),
    ],
    ids=["good", "another key", "changed", "malformed", "another page", "failed", "no connection"],
)
def test_only_a_file_that_is_signed_with_the_pinned_key_is_used(
    user: BrowserUser, reply: CannedReply, rule: str
) -> None:
    sign_in(user)

    with user.proxy.replying(RULES, reply):
        assert rule_used(user) == rule


def test_without_a_good_file_the_rules_of_the_package_read_any_website(user: BrowserUser) -> None:
    sign_in(user)
    html = "".join(
        f"<div><h3>{name}</h3><p>Engineer</p></div>" for name in ("Ada Lovelace", "Grace Hopper", "Mary Ward")
    )

    with user.proxy.replying(RULES, CannedReply()):
        team = read_people(user, SITE, html)
        mail = read_people(user, "https://mail.google.com/mail/u/0/", html)

    assert (team["rule"], len(team["people"])) == ("team", 3)
    assert (mail["kind"], mail["page"]["kind"]) == ("none", "nothing")


@pytest.mark.parametrize(
    ("newer", "kept"),
    [
        (served(rules(6, "newer")), "newer"),
        (served(rules(5, "newer")), "newer"),  # the operator has turned something off
        (served(rules(4, "newer")), "speakers"),
        (served(rules(6, "newer"), OTHER_KEY), "speakers"),
        (CannedReply(503, b"", {}), "speakers"),
    ],
    ids=["newer", "the same", "older", "another key", "unavailable"],
)
def test_an_older_or_forged_file_does_not_replace_the_last_good_one(
    user: BrowserUser, newer: CannedReply, kept: str
) -> None:
    sign_in(user)
    with user.proxy.replying(RULES, served(rules(5))):
        assert rule_used(user) == "speakers"
    let_an_hour_pass(user)

    with user.proxy.replying(RULES, newer):
        assert rule_used(user) in {"speakers", kept}  # the newer one may come after the page is read
        assert rule_used(user) == kept


def test_a_stored_file_that_was_changed_on_disk_is_not_used(user: BrowserUser) -> None:
    sign_in(user)
    with user.proxy.replying(RULES, served(rules(5))):
        assert rule_used(user) == "speakers"
    stored = user.get_storage("local")["page_rules"]
    user.set_storage("local", page_rules=stored | {"rules": json.dumps(rules(6, "forged"))})

    with user.proxy.replying(RULES, CannedReply()):
        assert rule_used(user) == ""


def test_the_file_of_another_server_is_not_used(user: BrowserUser) -> None:
    sign_in(user)
    with user.proxy.replying(RULES, served(rules(5))):
        assert rule_used(user) == "speakers"
    stored = user.get_storage("local")["page_rules"]
    user.set_storage("local", page_rules=stored | {"origin": "https://other.example"})

    with user.proxy.replying(RULES, CannedReply()):
        assert rule_used(user) == ""


@pytest.mark.parametrize("off", ["speakers", "speakers.test", "*.speakers.test", "*"])
def test_what_is_off_is_not_read(user: BrowserUser, off: str) -> None:
    sign_in(user)

    with user.proxy.replying(RULES, served(rules(5, off=[off]))):
        read = read_people(user, SITE, HTML)

    assert (read["kind"], read["people"]) == ("none", [])


def test_a_page_of_an_application_stays_one_if_its_rule_is_off(user: BrowserUser) -> None:
    sign_in(user)
    off = SHIPPED | {"off": ["gmail"]}
    html = '<div class="adn ads"><span class="gD" email="ada@acme.test" name="Ada Lovelace">Ada</span></div>'

    with user.proxy.replying(RULES, served(off)):
        read = read_people(user, "https://mail.google.com/mail/u/0/", html)

    assert (read["kind"], read["page"]["kind"]) == ("none", "nothing")


def test_rules_with_selectors_that_the_browser_does_not_know_are_harmless(user: BrowserUser) -> None:
    sign_in(user)
    broken = rules(5, "broken")
    broken["sites"][0] |= {"item": ["((", ".who"], "except": ["]["], "fields": {"full_name": [":bad(", "q"]}}

    with user.proxy.replying(RULES, served(broken)):
        read = read_people(user, SITE, HTML)

    assert [person["full_name"] for person in read["people"]] == ["Ada Lovelace", "Grace Hopper"]


def test_signing_out_deletes_the_file(user: BrowserUser) -> None:
    user.sign_in()
    read_people(user, SITE, HTML)
    assert "page_rules" in user.get_storage("local")
    panel = user.open_panel()
    panel.get_by_role("button", name="Settings").click()

    panel.get_by_role("button", name="Sign out").click()

    panel.get_by_label("Password").wait_for()
    wait_until(lambda: "page_rules" not in user.get_storage("local"))


def test_the_key_of_the_sign_in_is_pinned(user: BrowserUser) -> None:
    popup = user.open_popup_on(SITE)

    user.submit_sign_in(popup)
    popup.get_by_text("100 credits").wait_for()

    session = user.get_storage("session")["session"]
    assert len(session["pageRulesKey"]) == 44
    assert session["pageRulesKey"] == session["page_rules_key"]
