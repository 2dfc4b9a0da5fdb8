import re

import pytest
from email_validator import validate_email
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.errors import InvalidValue
from app.domain.normal.emails import email_domain, email_kind, email_reasons, mailbox_name, normal_email

LIKE_ADDRESSES = st.from_regex(r"[a-zA-Z0-9._+'-]{1,70}@[a-z0-9.-]{1,70}\.[a-z0-9]{1,8}", fullmatch=True)


@settings(max_examples=300, deadline=None)
@given(LIKE_ADDRESSES)
def test_the_fast_path_accepts_nothing_that_the_library_refuses(text: str) -> None:
    try:
        normal = normal_email(text)
    except InvalidValue:
        return

    checked = validate_email(text, check_deliverability=False, test_environment=True, strict=True)

    assert normal == f"{checked.local_part.lower()}@{checked.ascii_domain.lower()}"


@pytest.mark.parametrize("domain", ["localhost", "x.invalid", "x.local", "x.onion", "x.arpa"])
def test_special_use_domains_are_refused(domain: str) -> None:
    with pytest.raises(InvalidValue):
        normal_email(f"ada@{domain}")


@pytest.mark.parametrize(
    "local", ["=?utf-8?q?victim?=", "=?us-ascii?Q?v=69ctim?=", "=?utf-8?b?////?=", "=?utf-8?q??=", "a=?b"]
)
def test_encoded_words_of_mail_headers_are_no_addresses(local: str) -> None:
    """A mail program, and Python's own, would send to what is encoded in it."""
    with pytest.raises(InvalidValue):
        normal_email(f"{local}@acme.com")


@pytest.mark.parametrize(
    "text", ["a" * 65 + "@acme.com", "ada@" + "a" * 64 + ".com", "a@" + "a." * 127 + "com"]
)
def test_parts_that_are_too_long_are_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        normal_email(text)


def test_a_long_address_within_the_limits_is_accepted() -> None:
    text = "a" * 40 + "@" + "b" * 40 + ".com"

    assert normal_email(text.upper()) == text


def test_the_domain_is_the_part_after_the_at_sign() -> None:
    assert email_domain("ada@mail.acme.com") == "mail.acme.com"


@pytest.mark.parametrize(
    "domain",
    [
        *(
            "gmail.com",
            "yahoo.co.uk",
            "hotmail.fr",
            "live.com.mx",
            "web.de",
            "qq.com",
            "outlook.com",
            "gmx.net",
        ),
        *("t-online.de", "orange.fr", "elvisfan.com", "mail.by"),
    ],
)
def test_an_address_at_a_free_provider_is_personal(domain: str) -> None:
    assert email_kind(f"ada@{domain}") == "personal"


def test_a_disposable_address_is_not_a_work_address() -> None:
    assert email_kind("ada@mailinator.com") == "personal"


@pytest.mark.parametrize(
    "domain",
    [
        "acme.com",
        "live.acme.com",
        "gmail.acme.com",
        "notgmail.com",
        "outlook.acme.de",
        "alibaba.com",
        "nus.edu.sg",
    ],
)
def test_any_other_address_is_a_work_address(domain: str) -> None:
    assert email_kind(f"ada@{domain}") == "work"


@pytest.mark.parametrize(
    ("email", "reasons"),
    [
        ("ada@acme.com", ()),
        ("info@acme.com", ("role",)),
        ("sales-2@acme.com", ("role",)),
        ("support+crm@acme.com", ("role",)),
        ("no-reply@acme.com", ("role",)),
        ("informatica@acme.com", ()),
        ("ada@gmail.com", ("webmail",)),
        ("info@gmail.com", ("role", "webmail")),
        ("ada@mailinator.com", ("disposable",)),
        ("ada@x.mailinator.com", ("disposable",)),
        ("ada@21cn.com", ("webmail",)),
    ],
)
def test_risk_reasons_are_derived_from_the_address(email: str, reasons: tuple[str, ...]) -> None:
    assert email_reasons(email) == reasons


@given(st.text("aZé٣0129+-_.", max_size=12))
def test_a_local_part_loses_a_number_at_its_end_and_a_tag(local: str) -> None:
    assert mailbox_name(local) == re.sub(r"[-_.]?[0-9]+$|\+.*$", "", local)
