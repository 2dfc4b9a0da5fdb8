from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import name_bench
from benchmarks._name_pairs import Pair, read_pairs

HEADER = "case_group,schema,name1,name2,is_match,quality,category,notes\n"
ROWS = (
    "own,Person,Ada Lovelace,Lovelace Ada,true,STRONG,order,",
    "own,Person,Ada Lovelace,Grace Hopper,false,STRONG,,",
    "own,Person,Ada Lovelace,Zoltan Brack,true,WEAK,alias,",
    "own,Person,Ada Lovelace,Ida Lovelace,true,MEDIUM,,given name swap",
    "own,Person,Ada Lovelace,Ада Лавлейс,true,MEDIUM,,",
    "own,Company,Acme Inc.,ACME,true,STRONG,form,",
    "own,Company,Acme Fund V,Acme Fund VI,true,MEDIUM,,series",
    "own,Organization,Globex,Initech,false,STRONG,,",
    "own,Vessel,Snow,SNOW,true,STRONG,,",
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.csv"
    path.write_text(HEADER + "\n".join(ROWS), encoding="utf-8")
    return path


def left_out(pairs: list[Pair]) -> dict[str, str]:
    return {pair.name2: pair.left_out for pair in pairs if pair.left_out}


def test_pairs_of_other_schemas_are_not_read(file: Path) -> None:
    assert {pair.schema for pair in read_pairs(file)} == {"Person", "Company", "Organization"}


def test_a_file_without_a_needed_column_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("schema,name1,name2\n", encoding="utf-8")

    with pytest.raises(ValueError, match="no column category, is_match, notes"):
        read_pairs(path)


def test_matches_that_only_a_screening_wants_are_left_out_by_a_rule(file: Path) -> None:
    assert left_out(read_pairs(file)) == {
        "Ida Lovelace": "another name (Tom Cook, Tim Cook)",
        "Ада Лавлейс": "written in different scripts",
        "Acme Fund VI": "another number (Fund V, Fund VI)",
    }


def test_precision_is_the_share_of_right_hits_and_recall_that_of_found_matches(file: Path) -> None:
    pairs = read_pairs(file)[:3]

    result = name_bench.score(pairs, [True, True, False])

    assert (result.precision, result.recall, result.f1) == (0.5, 0.5, 0.5)


def test_a_matcher_that_finds_nothing_has_an_f1_of_zero(file: Path) -> None:
    pairs = read_pairs(file)

    assert name_bench.score(pairs, [False] * len(pairs)).f1 == 0.0


def test_the_baseline_is_judged_at_its_best_threshold(file: Path) -> None:
    pairs = [pair for pair in read_pairs(file) if pair.group == "organisations"]

    assert name_bench.score(pairs, name_bench.baseline(pairs)).f1 == 1.0


def test_the_product_finds_the_same_person_in_another_order(file: Path) -> None:
    assert name_bench.product(read_pairs(file))[:3] == [True, False, False]


def test_a_name_that_the_product_cannot_parse_is_not_found() -> None:
    nameless = Pair("persons", "Person", "???", "Ada Lovelace", is_match=False, category="", notes="")

    assert not name_bench.is_found(nameless)


def test_the_report_gives_the_figures_with_and_without_the_pairs_left_out(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name_bench.main([str(file), "--wrong"])

    report = capsys.readouterr().out
    assert "persons, all pairs" in report
    assert "rapidfuzz" in report
    assert "persons · missed · alias\n  Ada Lovelace | Zoltan Brack\n" in report


def test_the_missing_matcher_is_named(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(name_bench, "find_spec", lambda _name: None)

    name_bench.main([str(file)])

    assert "logic_v2 was not measured" in capsys.readouterr().out
