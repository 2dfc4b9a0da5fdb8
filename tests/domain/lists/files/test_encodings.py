"""The encodings that were usual before UTF-8, on lists of one to three people."""

# ruff: noqa: RUF001 -- letters of many scripts are what is read

from __future__ import annotations

import io
from typing import Any

import pytest

from app.domain.lists.files.tables import Table, TableOptions, read_table
from app.domain.lists.headers.upload_columns import count_known

CENTRAL = "Jméno;Příjmení;E-mail\nJiří;Dvořák;jiri@acme.example\nŠárka;Černá;sarka@acme.example\n"
LISTS = {
    "cp1252": "Vorname;Nachname;E-Mail\nJürgen;Müller;j@acme.example\n",
    "cp1250": "Jméno;Příjmení;E-mail\nJiří;Dvořák;jiri@acme.example\n",
    "iso8859_2": CENTRAL,
    "cp852": CENTRAL,
    "cp1251": "Имя;Фамилия;Почта\nИван;Петров;i@acme.example\n",
    "koi8_r": "Имя;Фамилия;Почта\nИван;Петров;i@acme.example\n",
    "cp866": "Имя;Фамилия;Почта\nИван;Петров;i@acme.example\n",
    "cp1253": "Name;Email\nΓιώργος Παπαδόπουλος;g@acme.example\n",
    "cp1254": "Name;Email\nŞükrü Yıldız;s@acme.example\nGülşen Çağlar;g@acme.example\n",
    "cp1255": "Name;Email\nדוד כהן, ישראל ישראלי;d@acme.example\nשרה לוי;s@acme.example\n",
    "cp1256": "Name;Email\nمحمد أحمد;m@acme.example\n",
    "cp1257": "Name;Email\nJānis Bērziņš;j@acme.example\nLīga Kalniņa;l@acme.example\n",
    "cp874": "Name;Email\nสมชาย ใจดี;s@acme.example\n",
    "cp932": "氏名,会社名,メール\n山田 太郎,アクメ株式会社,t@acme.example\n",
    "euc_jp": "氏名,会社名,メール\n山田 太郎,アクメ株式会社,t@acme.example\n",
    "iso2022_jp": "氏名,会社名,メール\n山田 太郎,アクメ株式会社,t@acme.example\n",
    "gb18030": "姓名,公司,邮箱\n王小明,北京科技有限公司,w@acme.example\n",
    "big5": "姓名,公司,電子郵件\n陳大文,台北科技股份有限公司,c@acme.example\n",
    "cp949": "Name,Company,Email\n김철수,서울전자,k@acme.example\n이영희,부산은행,l@acme.example\n",
    "mac_roman": "Prénom;Nom;E-mail\nÉloïse;Lefèvre;e@acme.example\nFrançois;Hébert;f@acme.example\n",
    "cp850": "Prénom;Nom;E-mail\nÉloïse;Lefèvre;e@acme.example\nFrançois;Hébert;f@acme.example\n",
}


def table(content: bytes, **options: Any) -> Table:
    return read_table(io.BytesIO(content), count_known, TableOptions(**options))


@pytest.mark.parametrize("encoding", sorted(LISTS))
def test_a_short_list_is_read_in_its_encoding(encoding: str) -> None:
    text = LISTS[encoding]
    found = table(text.encode(encoding))
    header, first = text.split("\n")[:2]

    assert found.header == header.split(found.delimiter)
    assert next(found.rows).cells == first.split(found.delimiter)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", [*sorted(LISTS.values()), "Имя;Город\nИван Петров;Москва\n"])
def test_utf_16_without_a_byte_order_mark_is_read_in_every_script(text: str, encoding: str) -> None:
    found = table(text.encode(encoding))

    assert found.format.encoding == encoding
    assert next(found.rows).cells == text.split("\n")[1].split(found.delimiter)


def test_null_characters_in_cells_are_not_utf_16() -> None:
    assert (
        table("Name,Email\nAda\0,ada@acme.example\nJö\0,jo@acme.example\n".encode()).format.encoding
        == "utf-8"
    )


def test_a_list_of_people_of_many_countries_is_read_by_its_words() -> None:
    text = "Name;Email\nJosé Muñoz;j@a.example\nJörg Weiß;w@a.example\nSøren Kjær;s@a.example\n"

    assert table(text.encode("cp1252")).format.encoding == "cp1252"


def test_a_known_header_decides_between_encodings_of_few_words() -> None:
    found = table("氏名,Email\n佐藤,t@acme.example\n".encode("euc_jp"))

    assert (found.format.encoding, found.header) == ("euc_jp", ["氏名", "Email"])


def test_a_guessed_encoding_is_marked_as_such() -> None:
    assert table(LISTS["cp1250"].encode("cp1250")).format.is_guessed
    assert not table(LISTS["cp1250"].encode()).format.is_guessed
    assert not table(LISTS["cp1250"].encode("cp1250"), encoding="cp1250").format.is_guessed


def test_the_next_probable_encoding_is_named_if_the_words_do_not_decide() -> None:
    unsure = table("Name;Email\nŞtefan Ionescu;s@acme.example\n".encode("cp1250")).format
    sure = table(LISTS["cp1251"].encode("cp1251")).format

    assert (unsure.encoding, unsure.other_encoding) == ("cp1250", "cp1257")
    assert (sure.encoding, sure.other_encoding) == ("cp1251", None)


def test_signs_outside_of_words_do_not_change_the_encoding() -> None:
    text = "Name;Title;Email\n“Jürgen” Müller;R&D – «Lead» 5°;j@acme.example\n"

    assert next(table(text.encode("cp1252")).rows).cells[1] == "R&D – «Lead» 5°"


def test_the_words_after_many_lines_of_ascii_are_found() -> None:
    rows = "Ada;a@acme.example\n" * 20_000

    assert table(f"Name;Email\n{rows}Jiří Dvořák;j@a.example\n".encode("cp1250")).format.encoding == "cp1250"
