import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.normal.company_names import company_key, have_different_forms, parse_company
from tools.legal_forms import classes


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Siemens Aktiengesellschaft", "siemens"),
        ("SiemensAG", "siemens"),
        ("PayPal", "paypal"),
        ("OOO Acme", "acme"),
        ("Acme o.O.O.", "acme"),
        ("Open Joint Stock Company Acme", "acme"),
        ("Acme Limited Liability Company", "acme"),
        ("Societatea cu Răspundere Limitată Acme", "acme"),
        ("ООО Акме", "акме"),  # noqa: RUF001 -- Cyrillic
        ("株式会社日立製作所", "日立製作所"),
        ("华为技术有限公司", "华为技术"),
        ("PT. Acme Tbk", "acme"),
        ("Acme S.A. de C.V.", "acme"),
        ("Plan B S.A.", "plan b"),
        ("SAS Institute", "sas institute"),
        ("A. O. Smith", "ao smith"),
        ("L.X.C Aviation", "lxc aviation"),
        ("Acme.com, Inc.", "acme"),
        ("www.acme.com", "acme"),
        ("Acme.com.br", "acme com br"),
        ("Acme (YC S21)", "acme"),
        ("Acme (YCW17)", "acme"),
        ("Acme - YC W17", "acme"),
        ("Acme (formerly Globex)", "acme"),
        ("Kabushiki Kaisha Acme", "acme"),
        ("Acme (Schweiz) AG", "acme schweiz"),
        ("Acme | We are hiring", "acme"),
        ("Acme™", "acme"),
        ("7-Eleven, Inc.", "7 11"),
        ("Seven Eleven", "7 11"),
        ("Brigade Forty-Four", "brigade 44"),
        ("1st Int'l Bank", "first international bank"),
        ("United States Steel", "us steel"),
        ("Federation of the Red Cross", "federation of red cross"),
        ("Limited", "limited"),
        ("GmbH & Co. KG", "gmbh"),
        ("???", ""),
        ("Ⓐ", "a"),
    ],
)
def test_the_key_of_a_company_has_no_legal_form_and_no_remark(text: str, key: str) -> None:
    assert company_key(text) == key


@settings(max_examples=300, deadline=None)
@example("\u0345")
@given(st.text(min_size=1))
def test_a_company_with_a_letter_has_a_key(text: str) -> None:
    key = company_key(text)

    assert key or not any(map(str.isalpha, text))


@pytest.mark.parametrize(
    ("text", "form_class"),
    [("Acme AG", "JSC"), ("OAO Acme", "JSC"), ("Acme GmbH", "LLC"), ("Acme GmbH & Co. KG", "LP")],
)
def test_a_legal_form_has_a_class(text: str, form_class: str) -> None:
    assert parse_company(text).form_classes == {form_class}


@pytest.mark.parametrize(
    ("a", "b", "different"),
    [
        ("Acme AG", "Acme GmbH", True),
        ("Acme plc", "Acme Ltd", True),
        ("OAO Acme", "Acme JSC", False),
        ("Acme Ltd", "Acme GmbH", False),
        ("Acme AG", "Acme", False),
        ("Acme Corporation", "Acme GmbH", False),
    ],
)
def test_legal_forms_differ_if_their_classes_do(a: str, b: str, different: bool) -> None:  # noqa: FBT001 -- a column
    assert have_different_forms(a, b) is different


def test_the_classes_of_legal_forms_are_read_from_the_types_of_rigour() -> None:
    types = [
        {"display": "GmbH", "generic": "LLC", "aliases": ["Gesellschaft mit beschränkter Haftung", "pr"]},
        {"display": "Stiftung", "generic": "NGO", "aliases": []},
        {"compare": "xyz", "generic": "LP", "aliases": ["Ltd & Co", "ag"]},
        {"compare": "xyz", "generic": "GP", "aliases": []},
    ]

    assert classes(types) == {
        "GP": [],
        "JSC": [],
        "LLC": ["gesellschaft mit beschrankter haftung", "gmbh"],
        "LLP": [],
        "LP": ["ag", "ltd and co"],
    }
