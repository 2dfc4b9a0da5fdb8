from __future__ import annotations

import gzip
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from app.domain.errors import InvalidValue, NotFound
from app.engine.call_registers import listings, registers
from app.engine.call_registers.registers import CallRegister, CallRegisterBlock
from app.features.call_registers import loading, work
from app.features.call_registers.known_registers import Format
from app.features.call_registers.loading import Accepted
from app.infra import clock
from app.infra.database import database_clock
from app.infra.database.db import Database

AS_PUBLISHED = "0207 3787244\r\n01635 506160\r\n0191  565715\r\n07860 338653\r\n"
WITHOUT_SPACES = "02073787244 \r\n01635506160 \r\n0191565715  \r\n07860338653 \r\n"


def listed(database: Database, *numbers: str) -> list[str]:
    with database.reading() as session:
        found = listings.find(session, "", numbers)
    return [number for number in numbers if any(one.is_listed for one in found.get(number, ()))]


@pytest.mark.parametrize("text", [AS_PUBLISHED, WITHOUT_SPACES])
def test_both_published_forms_of_tps_are_read(database: Database, load: Any, text: str) -> None:
    loaded = load("uk-tps", text)

    numbers = ["+442073787244", "+441635506160", "+44191565715", "+447860338653"]
    assert (loaded.numbers, loaded.report.rejected) == (4, 0)
    assert listed(database, *numbers, "+442073787245") == numbers


def test_the_area_codes_of_the_american_files_are_what_is_known(database: Database, load: Any) -> None:
    loaded = load("us-dnc", "202,5551212\n202,5551213\n", "2125551212\n")

    assert loaded.prefixes == ("+1202", "+1212")
    with database.reading() as session:
        found = listings.find(session, "", ["+12025551212", "+12025551299", "+13055551212"])
    assert {number: [one.is_listed for one in of_number] for number, of_number in found.items()} == {
        "+12025551212": [True],
        "+12025551299": [False],
    }


def test_a_washed_list_has_the_numbers_that_did_not_come_back(
    database: Database, load: Any, tmp_path: Path
) -> None:
    sent = tmp_path / "sent.csv"
    sent.write_text("numero\n0612345678\n0612345679\n", encoding="utf-8")

    load("fr-bloctel", "0612345679\n", sent=sent)

    assert listed(database, "+33612345678", "+33612345679") == ["+33612345678"]
    with database.reading() as session:
        assert listings.find(session, "", ["+33612345679"]) == {}


def test_the_result_of_a_wash_names_its_columns(database: Database, load: Any) -> None:
    text = "Phone;On register\n0412345678;Y\n0412345679;N\n\n0412345670;y\n"

    loaded = load("au-dncr", text, column="phone", listed_column="on register")

    assert loaded.numbers == 2
    assert listed(database, "+61412345678", "+61412345679") == ["+61412345678"]


def test_a_table_without_a_column_of_answers_lists_all(database: Database, load: Any) -> None:
    load("au-dncr", "number\n0412345678\nnone\n", accepted=Accepted(rejected=True))

    assert listed(database, "+61412345678") == ["+61412345678"]


def test_a_missing_column_is_named_with_those_that_there_are(load: Any) -> None:
    with pytest.raises(InvalidValue, match=r"no column .number.*Phone, Answer"):
        load("au-dncr", "Phone,Answer\n0412345678,Y\n")


def test_a_register_of_any_country_is_read(database: Database, load: Any) -> None:
    load("uk-tps", "030 12345678\n+49 30 12345679\n", country="DE", id="de-list", format=Format.NUMBERS)

    assert listed(database, "+493012345678", "+493012345679") == ["+493012345678", "+493012345679"]


@pytest.mark.parametrize("kind", ["zip", "gz"])
def test_compressed_files_are_read(database: Database, load: Any, tmp_path: Path, kind: str) -> None:
    file = tmp_path / f"tps.{kind}"
    if kind == "zip":
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("a.txt", "07860 338653\n")
            archive.writestr("b/c.txt", "01635 506160\n")
            archive.mkdir("d")
    else:
        file.write_bytes(gzip.compress(b"07860 338653\n01635 506160\n"))

    load("uk-tps", files=(file,))

    assert listed(database, "+447860338653", "+441635506160") == ["+447860338653", "+441635506160"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0207 3787244\n".encode("utf-16"), "UTF-16"),
        (b"<list><ph val='2025551212'/></list>", "XML"),
        (b"", "no numbers"),
        (b"\n\n", "no numbers"),
        (b"PK\x03\x04broken", "cannot be read"),
        (b"hello\nworld\n07860 338653\n", r"2 of 3 lines have no number, such as tps.txt:1, tps.txt:2"),
        (b"9" * 100 + b"\n", "1 of 1 lines"),
    ],
)
def test_files_that_are_not_a_register_change_nothing(
    database: Database, load: Any, tmp_path: Path, content: bytes, message: str
) -> None:
    load("uk-tps", "01635 506160\n")
    file = tmp_path / "tps.txt"
    file.write_bytes(content)

    with pytest.raises(InvalidValue, match=message):
        load("uk-tps", files=(file,))

    assert listed(database, "+441635506160") == ["+441635506160"]


def test_a_missing_file_is_said(load: Any, tmp_path: Path) -> None:
    with pytest.raises(InvalidValue, match="cannot be read"):
        load("uk-tps", files=(tmp_path / "none.txt",))


def test_a_washed_list_needs_the_list_that_was_sent(load: Any) -> None:
    with pytest.raises(InvalidValue, match="--sent"):
        load("fr-bloctel", "0612345679\n")


def test_a_country_without_numbers_is_refused(load: Any) -> None:
    with pytest.raises(InvalidValue, match="AQ has no telephone numbers"):
        load("uk-tps", "+44 7860 338653\n", country="AQ")


def test_a_load_replaces_all_numbers_at_once(database: Database, load: Any) -> None:
    load("uk-tps", "07860 338653\n01635 506160\n")

    loaded = load("uk-tps", "01635 506160\n01635 506161\n")

    assert (loaded.before, loaded.numbers) == (2, 2)
    assert listed(database, "+447860338653", "+441635506160", "+441635506161") == [
        "+441635506160",
        "+441635506161",
    ]


def test_files_with_far_fewer_numbers_are_refused(database: Database, load: Any) -> None:
    load("uk-tps", "07860 338653\n01635 506160\n01635 506161\n")

    with pytest.raises(InvalidValue, match="--accept-fewer"):
        load("uk-tps", "07860 338653\n")
    assert listed(database, "+441635506160") == ["+441635506160"]

    load("uk-tps", "07860 338653\n", accepted=Accepted(fewer=True))
    assert listed(database, "+441635506160") == []


def test_changes_add_and_delete_numbers(database: Database, load: Any, tmp_path: Path) -> None:
    load("us-dnc", "202,5551212\n202,5551213\n")
    file = tmp_path / "changes.txt"
    file.write_text(
        "Area,Number,Date,Type\n202,5551213,2026-11-02,D\n202,5551214,2026-11-02,A\n\n2025551215,a\n",
        encoding="ascii",
    )

    changed = change(database, "us-dnc", file)

    assert (changed.numbers, changed.before, changed.report.lines) == (3, 2, 3)
    numbers = ["+12025551212", "+12025551213", "+12025551214", "+12025551215"]
    assert listed(database, *numbers) == [numbers[0], *numbers[2:]]


def change(database: Database, register: str, file: Path, *, days: int = 0) -> Any:
    date = datetime.now(UTC) - timedelta(days=days)
    return loading.change(
        database, register, [file], Accepted(), date=date, tick=lambda: None, now=clock.now()
    )


def test_changes_of_a_register_that_is_not_there_are_refused(database: Database, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        change(database, "us-dnc", tmp_path / "none.txt")


def test_changes_from_before_the_register_are_refused(database: Database, load: Any, tmp_path: Path) -> None:
    load("us-dnc", "202,5551212\n")

    with pytest.raises(InvalidValue, match="later changes only"):
        change(database, "us-dnc", tmp_path / "none.txt", days=9)


def test_changes_without_their_mark_are_refused(database: Database, load: Any, tmp_path: Path) -> None:
    load("us-dnc", "202,5551212\n")
    file = tmp_path / "changes.txt"
    file.write_text("202,5551213\n", encoding="ascii")

    with pytest.raises(InvalidValue, match="1 of 1 lines"):
        change(database, "us-dnc", file)


def test_changes_do_not_overwrite_a_load_of_another_process(
    database: Database, load: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("us-dnc", "202,5551212\n")
    file = tmp_path / "changes.txt"
    file.write_text("202,5551213,A\n", encoding="ascii")
    write_changed = loading.editions.write_changed

    def loaded_meanwhile(*arguments: Any) -> Any:
        load("us-dnc", "202,5551299\n")
        return write_changed(*arguments)

    monkeypatch.setattr(loading.editions, "write_changed", loaded_meanwhile)

    with pytest.raises(InvalidValue, match="another process"):
        change(database, "us-dnc", file)
    assert listed(database, "+12025551213", "+12025551299") == ["+12025551299"]


def blocks(database: Database) -> int:
    with database.reading() as session:
        return session.scalar(select(func.count()).select_from(CallRegisterBlock)) or 0


def test_a_removed_register_says_nothing_and_its_numbers_are_deleted(
    database: Database, load: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    load("uk-tps", "07860 338653\n01635 506160\n")
    monkeypatch.setattr(loading, "LOADING", timedelta(days=-1))

    loading.remove(database, "uk-tps")

    assert (listed(database, "+447860338653"), blocks(database)) == ([], 0)
    with pytest.raises(NotFound):
        loading.remove(database, "uk-tps")


def test_the_purge_spares_numbers_that_may_be_loading(database: Database, load: Any) -> None:
    load("uk-tps", "07860 338653\n")
    with database.transaction() as session:
        session.delete(session.get_one(CallRegister, "uk-tps"))
    [purge] = work.WORK.purges_in_batches(None, database_clock.now())  # type: ignore[arg-type]

    with database.transaction() as session:
        assert purge(session) == 0
    with database.transaction() as session:
        assert registers.purge_editions(session) == 1
    assert blocks(database) == 0


def test_no_number_is_stored(database: Database, load: Any) -> None:
    load("uk-tps", "07860 338653\n")

    with database.reading() as session:
        [digests] = session.scalars(select(CallRegisterBlock.digests)).all()
    assert len(digests) == 6


def test_a_database_without_keys_loads_nothing(database: Database) -> None:
    with pytest.raises(RuntimeError, match="keys"):
        loading._keys(Database("sqlite://"))  # noqa: SLF001
