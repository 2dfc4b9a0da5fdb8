"""The choices before an upload starts: whom to skip of those whom the workspace has, and what each costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from app.domain.messages import Message
from app.engine.enrichments import estimate_sentences, own_record_counts, skips
from app.engine.enrichments.enrichment_estimates import ItemEstimate
from app.engine.enrichments.own_record_counts import OwnRecordCount
from app.engine.enrichments.skips import NOBODY, SkipRule, SkipWhen

_COUNTS = ("skipped", "to_buy", "credits_min", "credits_max")


SKIP, FILL, ALL = "skip", "fill", "all"


class Choice(NamedTuple):
    """A choice: its name in forms, and the rule by which people are skipped."""

    name: str
    rule: SkipRule

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a request that starts an upload with this choice."""
        return {skips.SKIP: list(self.rule.sources), skips.SKIP_WHEN: self.rule.when.value}


def all_choices() -> tuple[Choice, ...]:
    """Return the choices: skip the people, fill only what is missing, or enrich all."""
    sources = skips.source_names()
    return (
        Choice(SKIP, SkipRule(sources, SkipWhen.IN_SOURCE)),
        Choice(FILL, SkipRule(sources, SkipWhen.HAS_FIELD)),
        Choice(ALL, NOBODY),
    )


def counts_of(item: ItemEstimate) -> Counter[str]:
    """Return what a person adds to the counts of a list: to each choice, and to the own records."""
    counts = own_record_counts.of_person(item.records)
    for choice in all_choices():
        of_choice = item.under(choice.rule)
        figures = (
            of_choice.free == "skipped",
            bool(of_choice.costs),
            of_choice.credits_min,
            of_choice.credits_max,
        )
        counts.update(dict(zip(_keys(choice), map(int, figures), strict=True)))
    return counts


def described(counts: Mapping[str, int]) -> dict[str, Any]:
    """Return the own records and the choices of a list whose people were counted by `counts_of`."""
    choices = []
    for choice in all_choices():
        figures = {name: counts.get(key, 0) for name, key in zip(_COUNTS, _keys(choice), strict=True)}
        choices.append({"name": choice.name, **choice.fields, **figures})
    return {"own_records": list(map(asdict, own_record_counts.listed(counts))), "choices": choices}


def summary(estimate: Mapping[str, Any], choice: Mapping[str, Any], fields: Sequence[str]) -> Message:
    """Return one of the choices of the estimate in words."""
    own_records = [OwnRecordCount(**count) for count in estimate["own_records"]]
    counts = {"owned": estimate["owned"], **choice}
    return estimate_sentences.of_list(estimate["people"], counts, own_records, fields)


def chosen(estimate: Mapping[str, Any], rule: SkipRule) -> Mapping[str, Any] | None:
    """Return the choice with this rule, None if it is another one."""
    choices: Sequence[Mapping[str, Any]] = estimate.get("choices", ())
    return next((choice for choice in choices if SkipRule.parse(choice) == rule), None)


def _keys(choice: Choice) -> Iterator[str]:
    return (f"choices/{choice.name}/{name}" for name in _COUNTS)
