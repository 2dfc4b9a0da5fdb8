import pytest

from app.domain.errors import InvalidValue
from app.domain.websites import host_suffixes, normal_website, split_url


@pytest.mark.parametrize(
    ("host", "suffixes"),
    [
        ("www.shop.acme.co.uk", ("shop.acme.co.uk", "acme.co.uk", "co.uk")),
        ("acme.com", ("acme.com",)),
        ("www.acme.com.", ("acme.com",)),
        ("x.myshopify.com", ("x.myshopify.com", "myshopify.com")),
        ("bücher.de", ("xn--bcher-kva.de",)),
    ],
)
def test_a_client_hashes_these_suffixes_of_a_host(host: str, suffixes: tuple[str, ...]) -> None:
    assert host_suffixes(host) == suffixes


def test_of_a_deep_host_the_five_last_suffixes_are_hashed() -> None:
    suffixes = host_suffixes("a.b.c.d.e.f.g.acme.com")

    assert suffixes == ("d.e.f.g.acme.com", "e.f.g.acme.com", "f.g.acme.com", "g.acme.com", "acme.com")


def test_the_registrable_domain_is_among_the_suffixes() -> None:
    host = "www.a.b.c.d.acme.com.au"

    assert normal_website(host) in host_suffixes(host)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", ""])
def test_a_host_that_is_no_name_has_no_suffixes(host: str) -> None:
    with pytest.raises(InvalidValue):
        host_suffixes(host)


def test_a_url_splits_into_its_host_and_the_rest() -> None:
    assert split_url("HTTPS://ada:pw@Shop.ACME.com:443/a?b#c") == ("shop.acme.com", "/a?b#c")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "https://",
        "x" * 3000 + ".com",
        "a." * 130 + "com",
        "x" * 64 + ".com",
        "א1a.com",
        "a.xn--",
        "ق1.-x",
    ],
)
def test_what_no_host_can_be_is_refused(text: str) -> None:
    with pytest.raises(InvalidValue):
        normal_website(text)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("\u00a0acme.com\u00a0", "acme.com"),
        ("https://نامه‌ای.com/", "xn--mgba3gch31f060k.com"),
        ("אבג.com", "xn--4dbcd.com"),
    ],
)
def test_hosts_of_other_scripts_are_read_as_browsers_read_them(text: str, normal: str) -> None:
    assert normal_website(text) == normal
