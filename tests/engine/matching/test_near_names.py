from __future__ import annotations

import pytest
from stored_support import a_company, a_contact

from app.domain.normal.names.names import PersonName
from app.domain.records.subjects import Subject
from app.engine.contacts.contacts import Contact
from app.engine.matching import contact_matching, near_names
from app.infra.database.session import Session


def find(session: Session, asked: str) -> tuple[str, list[Contact]]:
    """Return the outcome for a name at acme.com, and the people that are answered."""
    match = contact_matching.find(session, Subject(full_name=asked, company_domain="acme.com"))
    return match.outcome, [c.contact for c in match.candidates] or ([match.contact] if match.contact else [])


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Marta Martins", "Marta Martinz"),
        ("Marta Martins", "Marta Mratins"),
        ("Gregor Martins", "Grgeor Martins"),
        ("Gregor Martins", "Grgeor Martinz"),
        ("Zacharias Martins", "Sacharias Martins"),
    ],
)
def test_a_misspelt_name_is_found_among_hundreds_with_the_same_beginning(
    session: Session, stored: str, asked: str
) -> None:
    acme = a_company(session)
    for number in range(130):
        letters = f"{chr(97 + number % 26)}{chr(97 + number // 26)}"
        a_contact(session, acme, f"Ma{letters} Ma{letters}son")
        a_contact(session, acme, f"Gr{letters} Martins")
    person = a_contact(session, acme, stored)

    assert find(session, asked) == ("ambiguous", [person])


@pytest.mark.parametrize(
    ("stored", "asked", "outcome"),
    [
        ("Сергей Лавров", "Sergey Lavrov", "matched"),
        ("Sergey Lavrov", "Сергей Лавров", "matched"),
        ("Володимир Зеленський", "Volodymyr Zelensky", "ambiguous"),
        ("Leri Khabelov", "Хабелов Лери Габриелович", "ambiguous"),
        ("გიორგი ვაშაძე", "Георгий Вашадзе", "ambiguous"),
        ("Ибрагим Ибрагимов", "Ibrahim Ibrahimov", "ambiguous"),
        ("بشار الأسد", "Bashar al-Assad", "ambiguous"),
        ("Bashar Assad", "بشار الأسد", "ambiguous"),
        ("ابراهيم الجعفري", "Ibrahim al-Jaafari", "ambiguous"),
        ("Yair Lapid", "יאיר לפיד", "ambiguous"),
        ("习近平", "Xi Jinping", "ambiguous"),
        ("Xi Jinping", "习近平", "ambiguous"),
        ("David Cameron", "デーヴィッド・キャメロン", "ambiguous"),
        ("문재인", "Moon Jae-in", "ambiguous"),
        ("Ilya Belyakov", "일리야 벨랴코프", "ambiguous"),
        ("राहुल गांधी", "Rahul Gandhi", "ambiguous"),
        ("Gagik Tsarukyan", "Царукян, Гагик Коляевич", "ambiguous"),
        ("John Williamson", "Джон Уильямсон", "ambiguous"),
        ("Michael Howard", "Майкл Говард", "ambiguous"),
        ("Kristian Jensen", "Крістіан Єнсен", "ambiguous"),
        ("Nunzia De Girolamo", "Нунція Де Джіроламо", "ambiguous"),
        ("Sali Berisha", "Σαλί Μπερίσα", "ambiguous"),
        ("Majed Al Mutairi", "ماجد موسى عبد الرحمن المطيري", "ambiguous"),
        ("Nik Abdul Aziz Nik Mat", "نيك عبد العزيز نيك مات", "ambiguous"),
        ("YOON Hu Duk", "윤후덕", "ambiguous"),
        ("Cheong U-taek", "정우택", "ambiguous"),
    ],
)
def test_a_name_in_another_script_is_found(session: Session, stored: str, asked: str, outcome: str) -> None:
    acme = a_company(session)
    for colleague in ("Angela Merkel", "Сергей Шойгу", "محمد مرسي", "李克强", "Sergei Ivanov"):
        a_contact(session, acme, colleague)
    person = a_contact(session, acme, stored)

    assert find(session, asked) == (outcome, [person])


@pytest.mark.parametrize(
    ("stored", "asked"), [("Germinal Peiro", "Жерминаль Пейро"), ("KIM Yung Rok", "김영록")]
)
def test_a_name_in_another_script_is_found_among_hundreds(session: Session, stored: str, asked: str) -> None:
    acme = a_company(session)
    for number in range(400):
        letters = f"{chr(97 + number % 20)}{chr(97 + number // 20)}"
        a_contact(session, acme, f"Kem{letters} Peir{letters}")
        a_contact(session, acme, f"Rok{letters} Kim{letters}")
    person = a_contact(session, acme, stored)

    outcome, people = find(session, asked)

    assert outcome == "ambiguous"
    assert person in people


@pytest.mark.parametrize("asked", ["Vere Bird Sr.", "Vere Bird Senior", "Bird, Vere, Sr."])
def test_the_father_is_not_answered_for_the_son(session: Session, asked: str) -> None:
    acme = a_company(session)
    a_contact(session, acme, "Vere Bird Jr.")

    assert find(session, asked) == ("none", [])

    father = a_contact(session, acme, "Vere Bird Sr.")

    assert find(session, asked) == ("matched", [father])


def test_of_father_and_son_neither_is_meant_without_the_generation(session: Session) -> None:
    acme = a_company(session)
    both = {a_contact(session, acme, f"Vere Bird {word}").id for word in ("Sr.", "Jr.")}

    outcome, people = find(session, "Vere Bird")

    assert (outcome, {person.id for person in people}) == ("ambiguous", both)


def test_a_shortened_name_is_matched_with_an_address(session: Session) -> None:
    acme = a_company(session)
    person = a_contact(session, acme, "Fajilatun Nessa Bappy")
    subject = Subject(full_name="Fajilatun Nessa", company_domain="acme.com")

    assert contact_matching.find(session, subject).outcome == "ambiguous"
    assert near_names.nearest_named_at(session, PersonName("", "", ""), [acme]) == ()
    assert person.last_key == "bappy"
