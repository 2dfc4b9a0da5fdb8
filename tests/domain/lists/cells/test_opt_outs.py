"""Opt-outs and do-not-call flags in the columns of lists."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from app.domain.errors import InvalidValue
from app.domain.findings import FoundContact
from app.domain.lists.cells.cell_warnings import CellWarnings, WarningKey
from app.domain.lists.cells.opt_outs import OPTED_OUT_ERROR
from app.domain.lists.headers import upload_columns
from app.domain.lists.headers.column_mapping import Entity, map_columns
from app.domain.lists.headers.header_fields import column
from app.domain.lists.people_rows import person_of
from app.domain.lists.row_values import ImportDefaults, RowValues

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
DEFAULTS = ImportDefaults("list.csv", NOW, NOW)


def read(warnings: CellWarnings | None = None, **cells: str) -> FoundContact:
    header = ["name", "email", "phone", *(name.replace("_", " ") for name in cells)]
    layout = map_columns(header, Entity.CONTACTS)
    values = ["Ada Low", "ada@acme.example", "+1 617 555 0101", *cells.values()]
    row = RowValues(layout, values, DEFAULTS, CellWarnings() if warnings is None else warnings, 7)
    return person_of(row, layout).found


def flag(warnings: CellWarnings | None = None, **cells: str) -> bool | None:
    return read(warnings, **cells).phones[0].do_not_call


@pytest.mark.parametrize("text", ["WAHR", "1.0", "-1", "x", "\u2713", "2026-01-31", "Do Not Allow"])
def test_a_number_must_not_be_called_if_its_row_says_so(text: str) -> None:
    assert flag(do_not_call=text) is True


@pytest.mark.parametrize("text", ["FALSCH", "0.0", "no", "Allow"])
def test_a_number_may_be_called_if_its_row_says_so(text: str) -> None:
    assert flag(do_not_call=text) is False


@pytest.mark.parametrize("text", ["", "n/a", "-"])
def test_an_empty_flag_says_nothing(text: str) -> None:
    assert flag(do_not_call=text) is None


def test_a_flag_that_is_not_understood_hides_the_number_and_is_counted() -> None:
    warnings = CellWarnings()

    assert flag(warnings, do_not_call="perhaps") is True
    assert warnings.counts == {WarningKey("do_not_call", 3, "unread_flag"): 1}
    assert warnings.lines == {WarningKey("do_not_call", 3, "unread_flag"): [7]}


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"do_not_call": "no", "phone_do_not_call": "yes"}, True),
        ({"do_not_call": "yes", "phone_do_not_call": "no"}, True),
        ({"do_not_call": "no", "phone_do_not_call": "no"}, False),
        ({"do_not_call": "yes", "phone_do_not_call": ""}, True),
        ({"do_not_call": "", "phone_do_not_call": "no"}, False),
        ({"do_not_call": "no", "dnc_list": "yes"}, True),
    ],
)
def test_one_of_several_flags_is_enough(cells: dict[str, str], *, expected: bool) -> None:
    assert flag(**cells) is expected


@pytest.mark.parametrize(
    ("cells", "field"),
    [
        ({"Email_Opt_Out": "true"}, "do_not_contact"),
        ({"Unsubscribed_from_all_email": "WAHR"}, "do_not_contact"),
        ({"Do_not_contact": "x"}, "do_not_contact"),
        ({"UNSUB_TIME": "2026-01-31 10:00:00"}, "do_not_contact"),
        ({"Do_not_allow_Emails": "Do Not Allow"}, "do_not_contact"),
        ({"Marketing_consent": "no"}, "marketing_consent"),
        ({"Marketing_status": "Unsubscribed"}, "marketing_consent"),
        ({"Email_Opt_Out": "false", "D\u00e9sinscrit": "oui"}, "do_not_contact"),
        ({"email_status": "Unsubscribed"}, "email_status"),
        ({"status": "opted out"}, "email_word_status"),
        ({"Permission_status": "Denied"}, "marketing_consent"),
        ({"Lead_Status": "Do not contact"}, "do_not_contact"),
        ({"Segment": "DNC"}, "do_not_contact"),
    ],
)
def test_a_row_is_refused_and_counted_if_its_person_opted_out(cells: dict[str, str], field: str) -> None:
    warnings = CellWarnings()

    with pytest.raises(InvalidValue) as refusal:
        read(warnings, **cells)

    assert str(refusal.value) == OPTED_OUT_ERROR
    assert warnings.counts == {WarningKey(field, 2 + len(cells), "opted_out"): 1}


@pytest.mark.parametrize("name", ["Email_Opt_Out", "Marketing_consent"])
def test_a_word_that_is_not_understood_counts_as_an_opt_out(name: str) -> None:
    warnings = CellWarnings()

    with pytest.raises(InvalidValue):
        read(warnings, **{name: "perhaps"})

    assert {key.code for key in warnings.counts} == {"unread_flag", "opted_out"}


@pytest.mark.parametrize(
    "cells",
    [
        {"Email_Opt_Out": "false"},
        {"Email_Opt_Out": ""},
        {"Unsubscribed": "FALSCH"},
        {"Do_not_allow_Emails": "Allow"},
        {"Marketing_consent": "ja"},
        {"Marketing_consent": ""},
        {"Subscription_status": "Subscribed"},
        {"email_status": "rejected", "status": "active"},
        {"Fax_Opt_Out": "true"},
        {"Email_permission_status": "Express"},
        {"Lead_Status": "Open", "Segment": ""},
        {"Remark": "Do not contact before ten o'clock"},
    ],
)
def test_a_row_is_read_if_its_person_did_not_opt_out(cells: dict[str, str]) -> None:
    warnings = CellWarnings()

    assert [email.email for email in read(warnings, **cells).emails] == ["ada@acme.example"]
    assert warnings.count("opted_out") == 0


def test_a_column_that_is_ignored_or_of_another_field_does_not_refuse() -> None:
    header = ["email", "Lead Status", "Fax"]

    assert map_columns(header, Entity.CONTACTS).unknown == (1, 2)
    assert map_columns(header, Entity.CONTACTS, {"lead status": "ignore"}).unknown == (2,)


def test_an_unknown_column_of_an_upload_refuses_its_row() -> None:
    header = ["Email", "Lead Status", "Unsubscribed"]
    layout = upload_columns.layout_of(["email", None, None], header)

    assert layout.unknown == (1,)
    with pytest.raises(InvalidValue, match="does not want to be contacted"):
        upload_columns.subject_of(
            RowValues(layout, ["ada@acme.example", "Opted out", "no"], DEFAULTS, CellWarnings()), layout
        )


def test_a_row_of_an_upload_is_refused_if_its_person_opted_out() -> None:
    fields = upload_columns.propose(["Full Name", "Email", "Email Opt Out"])
    layout = upload_columns.layout_of(fields)

    def row(flag: str) -> RowValues:
        return RowValues(layout, ["Ada Low", "ada@acme.example", flag], DEFAULTS, CellWarnings())

    assert fields == ["full_name", "email", "do_not_contact"]
    assert upload_columns.subject_of(row("no"), layout).email
    with pytest.raises(InvalidValue, match="does not want to be contacted"):
        upload_columns.subject_of(row("yes"), layout)


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("HasOptedOutOfEmail", "do_not_contact"),
        ("PersonHasOptedOutOfEmail", "do_not_contact"),
        ("Email_Opt_Out__c", "do_not_contact"),
        ("hs_email_optout", "do_not_contact"),
        ("Opted out of email: Marketing Information", "do_not_contact"),
        ("E-Mail-Opt-out", "do_not_contact"),
        ("emailAddressIsOptedOut", "do_not_contact"),
        ("donotbulkemail", "do_not_contact"),
        ("Do Not Sell My Info", "do_not_contact"),
        ("Opted out", "do_not_contact"),
        ("is_opt_out", "do_not_contact"),
        ("Don't contact", "do_not_contact"),
        ("DoNotCall", "do_not_call"),
        ("Blacklist", "do_not_contact"),
        ("is_blacklisted", "do_not_contact"),
        ("Email Suppressions", "do_not_contact"),
        ("No Bulk Emails (User Opt Out)", "do_not_contact"),
        ("Right to be forgotten", "do_not_contact"),
        ("Phone Blacklisted", "do_not_call"),
        ("National DNC", "do_not_call"),
        ("DNC Registry Status", "do_not_call"),
        ("TPS/CTPS", "do_not_call"),
        ("Person Do Not Call", "do_not_call"),
        ("Do not allow Phone Calls", "do_not_call"),
        ("donotphone", "do_not_call"),
        ("phoneNumberIsOptedOut", "do_not_call"),
        ("Accepts Email Marketing", "marketing_consent"),
        ("Email Opt-In", "marketing_consent"),
        ("Email Marketing Consent", "marketing_consent"),
        ("Werbesperre", "do_not_contact"),
        ("Nicht anrufen", "do_not_call"),
        ("D\u00e9sabonn\u00e9", "do_not_contact"),
        ("Refus d'e-mailing", "do_not_contact"),
        ("Baja", "do_not_contact"),
        ("Lista nera", "do_not_contact"),
        ("Gesperrt", "do_not_contact"),
        ("\u914d\u4fe1\u505c\u6b62", "do_not_contact"),
    ],
)
def test_headers_of_opt_outs_are_known(header: str, field: str) -> None:
    found = column(header)

    assert found is not None
    assert found.field == field


@pytest.mark.parametrize(
    "header",
    [
        "Fax Opt Out",
        "SMS Opt Out",
        "donotpostalmail",
        "Unsubscribe link",
        "UNSUB_REASON",
        "OPTIN_TIME",
        "Donor",
        "Notes",
    ],
)
def test_headers_of_something_else_are_no_opt_outs(header: str) -> None:
    assert column(header) is None


@pytest.mark.parametrize(("header", "field"), [("Phone No", "phone"), ("Email No.", "email")])
def test_the_number_of_a_column_is_no_refusal(header: str, field: str) -> None:
    found = column(header)

    assert found is not None
    assert found.field == field


def test_a_list_of_companies_has_no_opt_outs() -> None:
    assert map_columns(["Company", "Do not contact"], Entity.COMPANIES).meanings["Do not contact"] is None
