"""The push of one contact: find the person in the CRM, plan the changes, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from app.features.crm import plan
from app.features.crm.index.indexed_records import IndexedRecord
from app.features.crm.plan import WRITTEN, Action
from app.features.crm.pushes import PushOutcome
from app.features.crm.records import WrittenValues
from app.features.crm.turn import employers
from app.features.crm.turn.employers import Link
from app.features.crm.turn.writing import Writer
from app.features.crm.vendors import notes
from app.features.crm.vendors.errors import Duplicate, Refusal, Rejected
from app.features.crm.vendors.exchange import Send
from app.features.crm.vendors.notes import Note, NoteCode
from app.features.crm.vendors.person import IDENTITY, CompanyRecord, CrmField, CrmRecord, Person, Wanted
from app.features.crm.vendors.vendor import Crm


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedContact:
    """What the push of a contact did; `values` are those that it wrote, as the CRM stored them.

    `companies` are the records of companies that fit, if there are several.
    """

    outcome: PushOutcome
    crm_id: str | None
    actions: Mapping[str, Action]
    notes: Sequence[Note] = ()
    companies: Sequence[CompanyRecord] = ()
    values: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPush:
    """The push of one contact; `before_writing` is called with the values that are about to be written.

    `company_id` is the company's record in the CRM if whoever pushes named it.
    """

    crm: Crm
    send: Send
    mapping: Mapping[str, str]
    person: Person
    written: WrittenValues
    company_id: str | None
    dry_run: bool
    updates_only: bool = False
    indexed: IndexedRecord | None = None
    before_writing: Callable[[Mapping[str, str]], None]

    def run(self) -> PushedContact:
        """Push the contact.

        Raises:
            CrmError: the CRM did not do what was asked.

        """
        record = self._find()
        if record is None and self.crm.is_in_trash(self.send, self.person):
            raise Rejected("person_in_trash")
        try:
            return self._push(record)
        except Duplicate as duplicate:
            if record is not None:
                raise Rejected("duplicate") from None
            return self._push(self._existing(duplicate))

    def _find(self) -> CrmRecord | None:
        """Find the person by the id stored earlier, else by address, else by what was read of the CRM."""
        if self.written.crm_id:
            known = self.crm.get(self.send, self.mapping, self.written.crm_id)
            if known is not None:
                return known
        if self.updates_only:
            raise Rejected("record_gone")
        return self.crm.find(self.send, self.mapping, self.person) or self._find_indexed()

    def _find_indexed(self) -> CrmRecord | None:
        if self.indexed is None:
            return None
        record = self.crm.get(self.send, self.mapping, self.indexed.id)
        if record is None or not self.indexed.is_by_name:
            return record
        return replace(record, notes=(*record.notes, Note(NoteCode.FOUND_BY_NAME)))

    def _existing(self, duplicate: Duplicate) -> CrmRecord:
        """Return the record because of which the CRM did not create another one."""
        if duplicate.record_id is not None:
            found = self.crm.get(self.send, self.mapping, duplicate.record_id)
        else:
            found = self.crm.find(self.send, self.mapping, self.person)
        if found is None:
            raise Rejected("duplicate")
        return found

    def _push(self, record: CrmRecord | None) -> PushedContact:
        wanted, company_notes, companies = self._wanted(record)
        actions = plan.actions({} if record is None else record.values, wanted.values, self.written)
        values = {name: wanted.values[name] for name, action in actions.items() if action in WRITTEN}
        refused = dict(wanted.refused)
        outcome, stored = self._outcome(record, values, refused)
        missing = [note.property for note in company_notes if note.property]
        actions |= dict.fromkeys([*refused, *missing], Action.REFUSED)
        return PushedContact(
            outcome=outcome,
            crm_id=None if stored is None else stored.id,
            actions=actions,
            companies=companies,
            notes=[*(() if record is None else record.notes), *company_notes, *notes.refused(refused)],
            values={name: stored.values[name] for name in values if stored and name in stored.values},
        )

    def _outcome(
        self, record: CrmRecord | None, values: Mapping[str, str], refused: dict[str, Refusal]
    ) -> tuple[PushOutcome, CrmRecord | None]:
        """Write the values, and add those that the CRM refused; return the outcome and the record."""
        if self.dry_run:
            would = PushOutcome.WOULD_UPDATE if values else PushOutcome.UNCHANGED
            return PushOutcome.WOULD_CREATE if record is None else would, record
        if record is not None and not values:
            return PushOutcome.UNCHANGED, record
        writer = self._writer(record)
        stored = writer.run(values)
        refused.update(writer.refused)
        if stored is None:
            return PushOutcome.UNCHANGED, record
        return PushOutcome.CREATED if record is None else PushOutcome.UPDATED, stored

    def _writer(self, record: CrmRecord | None) -> Writer:
        def write(values: Mapping[str, str]) -> CrmRecord:
            if record is None:
                return self.crm.create(self.send, values)
            return self.crm.update(self.send, record.id, values)

        return Writer(
            write=write,
            begin=self.before_writing,
            is_named=self.crm.is_named,
            identity=[self.mapping[name] for name in IDENTITY if name in self.mapping],
            email=self.mapping[CrmField.EMAIL],
            is_new=record is None,
        )

    def _wanted(self, record: CrmRecord | None) -> tuple[Wanted, Sequence[Note], Sequence[CompanyRecord]]:
        """Return the value of each property, with the id of the company's record if it is one."""
        wanted = self.crm.wanted(self.send, self.mapping, self.person, record)
        relation = self.crm.company_property
        if relation is None or relation not in wanted.values:
            return wanted, (), ()
        link = self._link("" if record is None else record.values.get(relation, ""), relation)
        if isinstance(link.company, str):
            choice = (Note(NoteCode.OTHER_COMPANIES),) if link.candidates else ()
            return Wanted({**wanted.values, relation: link.company}, wanted.refused), choice, link.candidates
        values = {name: value for name, value in wanted.values.items() if name != relation}
        return Wanted(values, wanted.refused), (replace(link.company, property=relation),), ()

    def _link(self, current: str, relation: str) -> Link:
        if self.company_id:
            return Link(self.company_id)
        if current and not self.written.has(relation, current):
            return Link(current)  # a person chose the company: it is kept, and not looked up
        return employers.link(
            self.crm,
            self.send,
            self.person.employer,
            current,
            dry_run=self.dry_run,
            before_writing=lambda: self.before_writing({}),  # which renews the lease
        )
