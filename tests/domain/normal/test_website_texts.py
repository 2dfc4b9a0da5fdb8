import pytest

from app.domain.errors import InvalidValue
from app.domain.normal.websites import normal_website, split_url


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
def test_an_invalid_host_is_refused(text: str) -> None:
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
def test_hosts_in_other_scripts_are_read_as_in_browsers(text: str, normal: str) -> None:
    assert normal_website(text) == normal
