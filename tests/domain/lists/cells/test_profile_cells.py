"""Profiles in the cells of lists: a word is none, and a handle counts beside the name it is written from."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.domain.errors import InvalidValue, NotAProfileUrl
from app.domain.findings import FoundContact
from app.domain.lists import people_rows
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.profile_cells import MAX_LENGTH, listed_profile
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.row_values import ImportDefaults, RowValues
from app.domain.lists.warning_kinds import NOT_A_PROFILE, PROFILE_URL

NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
DEFAULTS = ImportDefaults("list.csv", NOW, NOW)
ROOT = "https://www.linkedin.com/in/"
MEMBER, SALES = "ACoAAAbCdEf_-123", "ACwAAAbCdEf_-123"


def read(warnings: CellWarnings | None = None, **cells: str) -> FoundContact:
    """Return the person of a row; underscores in the names of columns are spaces."""
    columns = {"Email": "ada@acme.example"} | {name.replace("_", " "): cell for name, cell in cells.items()}
    layout = map_columns(list(columns), Entity.CONTACTS)
    row = RowValues(layout, list(columns.values()), DEFAULTS, warnings or CellWarnings(), line=2)
    return people_rows.person_of(row, layout).found


@pytest.mark.parametrize("name", ["Ada Lovelace", ""])
@pytest.mark.parametrize(
    "cell",
    [
        *("Yes", "No", "Link", "Profile", "View", "LinkedIn", "here", "click here", "View profile"),
        *("pending", "private", "TBD", "ja", "nein", "oui", "sí", "x", "1", "TRUE", "VRAI", "WAHR", "n-a"),
        *("有", "はい", "нет", "tak", "kyllä", "Perfil", "siehe unten", "2024", "123456789", "linkedin.com"),
    ],
)
def test_a_word_is_left_out_and_counted(cell: str, name: str) -> None:
    warnings = CellWarnings()

    assert read(warnings, Name=name, LinkedIn=cell).linkedin_url is None
    assert warnings.counts == {WarningKey("linkedin_url", 2, NOT_A_PROFILE): 1}
    assert list(warnings.lines.values()) == [[2]]


@pytest.mark.parametrize("cell", ["", " ", "n/a", "-", "none"])
def test_an_empty_cell_is_not_counted(cell: str) -> None:
    warnings = CellWarnings()

    assert read(warnings, Name="Ada Lovelace", LinkedIn=cell).linkedin_url is None
    assert warnings.total == 0


@pytest.mark.parametrize("cell", ["not-found", "in_progress", "follow-up-2024", "growth-guru-7", "adamant"])
def test_a_note_beside_a_name_is_left_out(cell: str) -> None:
    assert read(Name="Ada Lovelace", LinkedIn=cell).linkedin_url is None


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("Ada Lovelace", "ada-lovelace-12345"),
        ("Ada Lovelace", "@ada-lovelace"),
        ("Ada Lovelace", "Ada_Lovelace"),
        ("Ada Lovelace", "adalovelace"),
        ("Ada Lovelace", "lovelaceada"),
        ("Mary Ann van der Berg", "mary-ann-van-der-berg"),
        ("Jürgen Müßig", "juergen-muessig-1"),
        ("Li Na", "li-na"),
    ],
)
def test_a_handle_written_from_the_whole_name_counts(name: str, cell: str) -> None:
    found = read(Name=name, LinkedIn=cell)

    assert found.linkedin_url == f"{ROOT}{cell.removeprefix('@').lower()}"
    assert not found.is_profile_weak


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("Ada Lovelace", "the-grower-1a2b3c4d"),
        ("Ada Lovelace", "lovelace-1815"),
        ("Ada Lovelace", "@ada"),
        ("", "ada-demo"),
        ("", "the-grower-1a2b3c4d"),
    ],
)
def test_another_handle_is_weak_and_names_nobody_in_an_upload(name: str, cell: str) -> None:
    found = read(Name=name, LinkedIn=cell)
    layout = upload_columns.layout_of(["full_name", "email", "linkedin_url"])
    row = RowValues(layout, [name, "ada@acme.example", cell], DEFAULTS, CellWarnings())
    subject = upload_columns.subject_of(row, layout)

    assert (found.linkedin_url, found.is_profile_weak) == (f"{ROOT}{cell.removeprefix('@')}", True)
    assert subject.linkedin_url is None
    assert row.warnings.count("weak_profile") == 1


@pytest.mark.parametrize("name", ["Ada L.", "A. Lovelace"])
def test_an_initial_makes_no_whole_name(name: str) -> None:
    assert read(Name=name, LinkedIn="adal").linkedin_url is None


@pytest.mark.parametrize("cell", ["Yes", "ada-lovelace-1815", "the-grower-1a2b3c4d"])
def test_an_upload_is_not_answered_by_a_word_or_another_persons_handle(cell: str) -> None:
    layout = upload_columns.layout_of(["full_name", "linkedin_url"])

    with pytest.raises(InvalidValue):
        upload_columns.subject_of(RowValues(layout, ["Bob Byron", cell], DEFAULTS, CellWarnings()), layout)


@pytest.mark.parametrize(
    ("cell", "slug"),
    [
        ("/in/ada", "ada"),
        ("in/ada", "ada"),
        ("linkedin.com/in/ada", "ada"),
        ("https://www.linkedin.com/in/ada#x", "ada"),
        ('=HYPERLINK("https://www.linkedin.com/in/ada","Profile")', "ada"),
        ('\'=hyperlink( "https://www.linkedin.com/in/ada"; "Profil" )', "ada"),
        ("LinkedIn: https://www.linkedin.com/in/ada", "ada"),
        ("[Profile](https://www.linkedin.com/in/ada)", "ada"),
        ('<a href="https://www.linkedin.com/in/ada">Profile</a>', "ada"),
        (MEMBER, MEMBER),
        (f"urn:li:fsd_profile:{MEMBER}", MEMBER),
        (f"urn:li:fs_salesProfile:({SALES},NAME_SEARCH,a1b2)", SALES),
        (
            "https://www.linkedin.com/authwall?trkInfo=" + "A" * 400 + "&sessionRedirect=" + ROOT + "ada",
            "ada",
        ),
    ],
)
def test_a_url_counts_beside_any_name(cell: str, slug: str) -> None:
    found = read(Name="Bob Byron", LinkedIn=cell)

    assert (found.linkedin_url, found.is_profile_weak) == (f"{ROOT}{slug}", None)


@pytest.mark.parametrize(
    "cell",
    [
        "https://www.linkedin.com/authwall?trk=x",
        "https://lnkd.in/abc",
        "https://www.linkedin.com/in/ada lovelace",
        "see https://www.linkedin.com/in/ada lovelace",
        "https://www.linkedin.com/in/ada and https://www.linkedin.com/in/bob",
        ROOT + "a" * MAX_LENGTH,
        "words " * MAX_LENGTH + ROOT + "ada",
    ],
)
def test_a_url_that_shows_no_profile_is_left_out_and_counted(cell: str) -> None:
    warnings = CellWarnings()

    assert read(warnings, Name="Ada Lovelace", LinkedIn=cell).linkedin_url is None
    assert warnings.count(PROFILE_URL) == 1


@pytest.mark.parametrize(
    "header", ["Sales Navigator URL", "LinkedIn Member ID", "vmid", "Profile URN", "member_url"]
)
@pytest.mark.parametrize("cell", [MEMBER, f"{ROOT}{MEMBER}"])
def test_an_id_in_a_column_of_its_own_is_the_second_profile(header: str, cell: str) -> None:
    found = read(**{header: cell, "LinkedIn URL": f"{ROOT}ada"})

    assert (found.linkedin_url, found.member_url) == (f"{ROOT}ada", ROOT + MEMBER)


def test_a_chosen_name_beside_an_id_is_found_in_a_column_of_links() -> None:
    found = read(Sales_Navigator_URL=MEMBER, Url="https://acme.example", Profile=f"{ROOT}ada")

    assert (found.linkedin_url, found.member_url) == (f"{ROOT}ada", ROOT + MEMBER)


def test_of_two_profiles_of_one_kind_the_first_counts() -> None:
    found = read(LinkedIn_URL=f"{ROOT}ada", Original_LinkedIn_URL=f"{ROOT}bob")

    assert (found.linkedin_url, found.member_url) == (f"{ROOT}ada", None)


def test_a_url_counts_more_than_a_handle() -> None:
    found = read(LinkedIn="ada-demo", LinkedIn_URL=f"{ROOT}ada")

    assert (found.linkedin_url, found.is_profile_weak) == (f"{ROOT}ada", None)


def test_an_upload_asks_for_both_profiles() -> None:
    layout = upload_columns.layout_of(["linkedin_url", "linkedin_url"])
    row = RowValues(layout, [f"{ROOT}ada", MEMBER], DEFAULTS, CellWarnings())
    subject = upload_columns.subject_of(row, layout)

    assert (subject.linkedin_url, subject.member_url) == (f"{ROOT}ada", ROOT + MEMBER)


@pytest.mark.parametrize(
    ("cell", "slug"),
    [
        ("ada-lovelace-12345", "ada-lovelace-12345"),
        ("@ada", "ada"),
        (MEMBER, MEMBER),
        (f"https://www.linkedin.com/sales/lead/{SALES},NAME_SEARCH,a1b2", SALES),
    ],
)
def test_a_suppression_list_hides_any_handle(cell: str, slug: str) -> None:
    assert listed_profile(cell) == ROOT + slug


@pytest.mark.parametrize("cell", ["Yes", "pending", "click here", "https://lnkd.in/abc"])
def test_a_word_in_a_suppression_list_cannot_be_read(cell: str) -> None:
    with pytest.raises(NotAProfileUrl):
        listed_profile(cell)


@given(
    st.from_regex(
        r"(https?://)?((www|[A-Za-z]{2})\.)?linkedin\.com/[iI][nN]/[A-Za-z0-9_-]{1,20}/?", fullmatch=True
    )
)
@example("linkedin.com/in/me")
@example("http://www.linkedin.com/in/null/")
@example(f"https://www.linkedin.com/in/{MEMBER}")
@example(f"https://www.linkedin.com/in/{'a' * MAX_LENGTH}")
def test_a_plain_url_is_read_as_one_with_spaces_around_it(url: str) -> None:
    plain, spaced = CellWarnings(), CellWarnings()

    found = read(plain, LinkedIn=url), read(spaced, LinkedIn=f" {url} ")

    assert found[0] == found[1]
    assert plain.counts == spaced.counts
