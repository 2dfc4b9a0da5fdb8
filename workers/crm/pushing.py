"""The push of one contact: find the person in the CRM, plan the changes, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from app.core.crm.people import Person
from app.core.crm.pushes import PushOutcome
from app.core.crm.records import WrittenValues
from app.crm import plan
from app.crm.plan import WRITTEN, Action
from app.crm.vendor import Crm, CrmField, CrmRecord, Duplicate, Rejected, Send


@dataclass(frozen=True, slots=True, kw_only=True)
class PushedContact:
    """What the push of a contact did; `values` are those that it wrote, as the CRM stored them."""

    outcome: PushOutcome
    crm_id: str | None
    actions: Mapping[str, Action]
    values: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactPush:
    """The push of one contact; `before_writing` is called with the values that are about to be written."""

    crm: Crm
    send: Send
    mapping: Mapping[str, str]
    person: Person
    written: WrittenValues
    dry_run: bool
    before_writing: Callable[[Mapping[str, str]], None]

    def run(self) -> PushedContact:
        """Push the contact.

        Raises:
            CrmError: the CRM did not do what was asked.

        """
        record = self._find()
        try:
            return self._write(record)
        except Duplicate as duplicate:
            if record is not None:
                raise Rejected("duplicate") from None
            return self._write(self._existing(duplicate))

    def _find(self) -> CrmRecord | None:
        """Find the person by the id stored earlier, else by address."""
        if self.written.crm_id:
            known = self.crm.get(self.send, self._properties, record_id=self.written.crm_id)
            if known is not None:
                return known
        return self.crm.find(self.send, self._properties, email=self.person.values[CrmField.EMAIL])

    def _existing(self, duplicate: Duplicate) -> CrmRecord:
        """Return the record because of which the CRM did not create another one."""
        if duplicate.record_id is not None:
            found = self.crm.get(self.send, self._properties, record_id=duplicate.record_id)
        else:
            found = self.crm.find(self.send, self._properties, email=self.person.values[CrmField.EMAIL])
        if found is None:
            raise Rejected("duplicate")
        return found

    def _write(self, record: CrmRecord | None) -> PushedContact:
        present = {} if record is None else record.values
        wanted = self._wanted(present)
        actions = plan.actions(present, wanted, self.written.has)
        values = {name: wanted[name] for name, action in actions.items() if action in WRITTEN}
        if self.dry_run:
            return self._preview(record, actions)
        if record is not None and not values:
            return PushedContact(outcome=PushOutcome.UNCHANGED, crm_id=record.id, actions=actions)
        self.before_writing(values)
        if record is None:
            stored = self.crm.create(self.send, values)
            outcome = PushOutcome.CREATED
        else:
            stored = self.crm.update(self.send, record.id, values)
            outcome = PushOutcome.UPDATED
        as_stored = {name: value for name, value in stored.values.items() if name in values}
        return PushedContact(outcome=outcome, crm_id=stored.id, actions=actions, values=as_stored)

    def _preview(self, record: CrmRecord | None, actions: Mapping[str, Action]) -> PushedContact:
        outcome = PushOutcome.WOULD_CREATE if record is None else PushOutcome.UNCHANGED
        if record is not None and not WRITTEN.isdisjoint(actions.values()):
            outcome = PushOutcome.WOULD_UPDATE
        return PushedContact(outcome=outcome, crm_id=None if record is None else record.id, actions=actions)

    @property
    def _properties(self) -> list[str]:
        return list(self.mapping.values())

    def _wanted(self, present: Mapping[str, str]) -> dict[str, str]:
        """Return the value of each mapped property; that of a company may be the id of its record."""
        wanted = {
            name: self.person.values[CrmField(our_field)]
            for our_field, name in self.mapping.items()
            if our_field in self.person.values
        }
        relation = self.crm.company_property
        if relation in wanted:
            current = present.get(relation, "")
            if current and not self.written.has(relation, current):
                wanted[relation] = current  # a person chose the company: it is kept, and not looked up
            else:
                wanted[relation] = self._company_id()
        return wanted

    def _company_id(self) -> str:
        employer = self.person.employer
        found = self.crm.find_company(self.send, employer)
        if found is not None:
            return found
        if self.dry_run:
            return employer.name or employer.domain or ""
        try:
            return self.crm.create_company(self.send, employer)
        except Duplicate:
            existing = self.crm.find_company(self.send, employer)
            if existing is None:
                raise Rejected("duplicate_company") from None
            return existing
