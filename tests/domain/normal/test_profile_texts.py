from urllib.parse import quote

import pytest

from app.domain.errors import NotAProfileUrl
from app.domain.normal.profiles.profiles import normal_company_url, normal_profile_url
from app.domain.normal.profiles.wrapped_urls import unwrapped


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("https://www.linkedin.com/sales/lead/ACwAAA,NAME,x", "Sales Navigator"),
        ("https://www.linkedin.com/talent/profile/x", "Recruiter"),
        ("https://www.linkedin.com/profile/view?id=1", "internal LinkedIn URL"),
        ("https://www.linkedin.com/in/me", "internal LinkedIn URL"),
        ("https://www.linkedin.com/in/undefined", "such as https://www.linkedin.com/in/"),
        ("https://www.linkedin.com/authwall?trk=x", "names no profile"),
        ("https://www.linkedin.com/uas/login", "names no profile"),
        ("https://www.linkedin.com/redir/redirect?urlhash=x", "does not say where"),
        ("https://nam02.safelinks.protection.outlook.com/?data=x", "not linkedin.com"),
        ("https://www.linkedin.com/company/acme", "a person's profile contains /in/"),
        ("https://www.linkedin.com/pub/dir/Ada/Lovelace", "three groups"),
        ("https://lnkd.in/abc", "send the one it redirects to"),
        ("https://linkedin.com.evil.com/in/ada", "not linkedin.com"),
        ("https://www.linkedin.com@evil.com/in/ada", "contains '@' or a backslash"),
        ("https://www.linkedin.com\\in\\ada", "contains '@' or a backslash"),
        ("https://www.linkedin.com/in/a%00b", "characters"),
        ("nonsense", "such as https://www.linkedin.com/in/"),
    ],
)
def test_the_error_for_a_profile_url_says_what_to_send(url: str, advice: str) -> None:
    with pytest.raises(NotAProfileUrl) as refusal:
        normal_profile_url(url)

    assert advice in refusal.value.detail


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("https://www.linkedin.com/in/ada", "a company page contains /company/"),
        ("https://www.linkedin.com/jobs/view/1", "such as https://www.linkedin.com/company/"),
        ("https://www.linkedin.com/sales/lead/ACwAAA,NAME,x", "Sales Navigator"),
    ],
)
def test_the_error_for_a_company_url_says_what_to_send(url: str, advice: str) -> None:
    with pytest.raises(NotAProfileUrl) as refusal:
        normal_company_url(url)

    assert advice in refusal.value.detail


@pytest.mark.parametrize("path", ["company", "school", "showcase"])
def test_all_kinds_of_company_pages_have_one_normal_form(path: str) -> None:
    assert normal_company_url(f"linkedin.com/{path}/acme") == "https://www.linkedin.com/company/acme"


def test_only_the_last_two_groups_of_an_old_address_are_padded() -> None:
    assert normal_profile_url("linkedin.com/pub/ada/1/2/3") == "https://www.linkedin.com/in/ada-0030021"


@pytest.mark.parametrize("scheme", ["", "http://", "https://", "HTTPS://"])
@pytest.mark.parametrize("host", ["linkedin.com", "www.linkedin.com", "de.linkedin.com", "LinkedIn.com"])
@pytest.mark.parametrize("path", ["/in/ada-lovelace", "/in/Ada-Lovelace_1/", "/IN/ada"])
def test_a_plain_profile_url_is_normalised_like_one_with_a_query(scheme: str, host: str, path: str) -> None:
    url = scheme + host + path

    assert normal_profile_url(url) == normal_profile_url(f" {url}?trk=people")


@pytest.mark.parametrize(("depth", "is_read"), [(3, True), (4, False)])
def test_three_redirecting_urls_within_each_other_are_unwrapped(depth: int, *, is_read: bool) -> None:
    url = inner = "https://www.linkedin.com/in/ada"
    for _ in range(depth):
        url = f"https://www.google.com/url?q={quote(url, safe='')}"

    assert (unwrapped(url) == inner) is is_read
