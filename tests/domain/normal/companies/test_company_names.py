import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from app.domain.normal.companies.company_names import company_key, have_different_forms, parse_company
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
        ("Bank of Acme (The)", "bank of acme"),
        ("Acme Company (The)", "acme"),
        ("Smith & GmbH", "smith"),
        ("Acme Group Inc/The", "acme group"),
        ("Acme Inc. (Class A)", "acme"),
        ("ACME CORP /DE/", "acme"),
        ("ACME & COMPANY/MN", "acme"),
        ("ACME CO /NEW/", "acme"),
        ("Acme Bancorp /PR/", "acme bancorp pr"),
        ("Acme Corp of America", "acme corporation of america"),
        ("Acme Products (I) Limited", "acme products india"),
        ("Brigade Fourty 4", "brigade 44"),
        ("???", ""),
        ("Ⓐ", "a"),
    ],
)
def test_the_key_of_a_company_has_no_legal_form_and_no_remark(text: str, key: str) -> None:
    assert company_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "Acme A/S", "Acme AS", "Acme A.S.", "Acme Aktiebolag", "Acme ApS", "Acme ASBL", "Acme a.s.",
        "Acme A.Ş.", "Acme AkG", "Acme Bhd", "Acme BV", "Acme Co., Ltd.", "Acme Company Limited by Guarantee",
        "Acme CVBA SO", "Acme d.o.o.", "Acme DMCC", "Acme e.V.", "Acme eG", "Acme EI", "Acme EIRELI",
        "Acme EURL", "Acme Exempted Limited Partnership", "Acme FZE", "Acme FZ-LLC",
        "Acme Gesellschaft mit beschränkter Haftung", "Acme GmbH & Co. KG", "Acme GmbH & Co. KGaA",
        "Acme I/S", "Acme JSC", "Acme k.d.", "Acme K/S", "Acme Kft.", "Acme KGaA", "Acme Lda", "Acme LLP",
        "Acme LP", "Acme Ltd. Şti.", "Acme Ltda", "Acme Ltée", "Acme N.V.", "Acme OJSC", "Acme Oyj",
        "Acme (P) Ltd", "Acme Pte. Ltd.", "Acme Public Limited Company", "Acme Pvt.Ltd.", "Acme PLC",
        "Acme Sanayi ve Ticaret A.Ş.", "Acme S/A", "Acme S. de R.L. de C.V.", "Acme SAC", "Acme S.A.C.",
        "Acme S.à r.l.", "Acme SAPI de CV", "Acme SARL", "Acme SASU", "Acme s.r.o.", "Acme, spol. s r.o.",
        "Acme Sdn Bhd", "Acme Sociedad Anónima Cerrada", "Acme Sociedad Limitada",
        "Acme Sociedad de Responsabilidad Limitada de Capital Variable", "Acme Sociedade Limitada Unipessoal",
        "Acme Société anonyme", "Acme société par actions simplifiée", "Acme S.p.A.", "Acme sp. k.",
        "Acme sp. z o.o. sp. k.", "Acme spółka akcyjna", "Acme UG (haftungsbeschränkt)", "Acme VZW",
        "Acme W.L.L.", "Acme Zrt.", "PT. Acme (Persero) Tbk", "EURL Acme", "UAB Acme",
        "Sociedad Anónima Acme", "Uždaroji akcinė bendrovė Acme", "Acme VOF", "Acme SCRL", "Acme Berhad",
    ],
)  # fmt: skip
def test_legal_forms_of_all_countries_are_taken_off(text: str) -> None:
    assert company_key(text) == "acme"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("(株)日立", "日立"),
        ("日立㈱", "日立"),
        ("合同会社日立", "日立"),
        ("㈜삼성", "삼성"),
        ("삼성 주식회사", "삼성"),
        ("华为股份有限公司", "华为"),
        ("บริษัทอัคมีจำกัด", "อัคมี"),
        ("บริษัท อัคมี จำกัด (มหาชน)", "อัคมี"),
        ("ΑΚΜΗ Α.Ε.", "ακμη"),  # noqa: RUF001 -- Greek
        ("Ακμή Ανώνυμη Εταιρεία", "ακμη"),
        ("Акме АО", "акме"),  # noqa: RUF001 -- Cyrillic
        ("ТОО «Акме»", "акме"),  # noqa: RUF001 -- likewise
        ("Акціонерне товариство Акме", "акме"),
        ('אקמה בע"מ', "אקמה"),
        ("أكمي ش.م.م", "أكمي"),
        ("شركة أكمي ذات مسؤولية محدودة", "أكمي"),
        ("შპს აკმე", "აკმე"),
    ],
)
def test_legal_forms_of_other_scripts_are_taken_off(text: str, key: str) -> None:
    assert company_key(text) == key


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("AS Roma", "as roma"),
        ("CV Sciences", "cv sciences"),
        ("Acme UK", "acme uk"),
        ("Acme IS", "acme is"),
        ("Société Générale", "societe generale"),
        ("Compagnie de Saint-Gobain", "compagnie de saint gobain"),
        ("Inc. Magazine", "inc magazine"),
        ("Sociedad Anónima", "sociedad anonima"),
        ("Limited Partnership", "limited partnership"),
        ("A.G.", "ag"),
        ("Acme Foundation", "acme foundation"),
        ("Acme Co-operative", "acme co operative"),
        ("Sociedad Minera Acme", "sociedad minera acme"),
        ("Société Immobilière Acme", "societe immobiliere acme"),
        ("Acme Company of Acme", "acme company of acme"),
        ("Acme Co of Acme", "acme company of acme"),
        ("Fly-E Group", "fly e group"),
    ],
)
def test_words_that_are_legal_forms_elsewhere_are_kept(text: str, key: str) -> None:
    assert company_key(text) == key


@pytest.mark.parametrize(
    "text",
    [
        "Smith und Jones",
        "Smith et Jones",
        "Smith y Jones",
        "SMITH Y JONES",
        "Smith e Jones",
        "Smith og Jones",
    ],
)
def test_and_in_other_languages_is_an_ampersand(text: str) -> None:
    assert company_key(text) == company_key("Smith & Jones")


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


@pytest.mark.parametrize(
    "text",
    [
        "Acme fka Beta Works",  # https://github.com/adanos-software/free-ticker-database/pull/108
        "Acme f/k/a Beta Works",
        "Acme formerly known as Beta Works",
        "Acme, formerly Beta Works",
        "Acme (vormals Beta Werke)",
        "Acme (anciennement Beta)",
        "Acme (part of Beta Group)",
        "Acme AG (ETR: ACM)",
        "Acme Ltd (BSE: 500325)",
        "Acme Corp (TYO: 7203)",
        "Acme (OTCMKTS: ACMEF)",
        "Acme NASDAQ:ACME",
        "Acme (We are hiring!)",
        "Acme Sdn Bhd (123456-X)",  # https://en.wikipedia.org/wiki/Companies_Commission_of_Malaysia
        "M/s Acme",  # https://en.wikipedia.org/wiki/Messrs.
    ],
)
def test_an_older_name_a_symbol_of_a_share_and_a_number_of_registration_are_not_the_name(text: str) -> None:
    assert company_key(text) == "acme"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("Air France (FRA)", "air france fra"),
        ("Formerly Yes", "formerly yes"),
        ("Six: Acme", "6 acme"),
        ("Acme (1997) Ltd", "acme 1997"),
        ("Fka Twigs", "fka twigs"),
        ("Jos&eacute; &amp; Sons", "jose and sons"),
        ("MÃ¼ller Bau", "muller bau"),
        ("Smith Holdings LLC dba Acme", "smith holdings llc dba acme"),
    ],
)
def test_a_word_that_only_looks_like_a_remark_is_a_part_of_the_name(text: str, key: str) -> None:
    assert company_key(text) == key
