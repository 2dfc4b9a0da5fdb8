"""What a schedule may name as its list in each CRM."""

from __future__ import annotations

import re

from app.domain.errors import InvalidValue
from app.domain.messages import Message
from app.features.crm.index.crm_people import RecordKind
from app.features.crm.vendors import registry


def check(vendor: str, list_id: str, kind: RecordKind) -> None:
    """Return if the CRM may have such a list.

    Raises:
        InvalidValue: what is wrong, and how a list is named.

    """
    crm = registry.NAMED[vendor]
    if kind is RecordKind.LEAD and crm.lead_prefix is None:
        raise InvalidValue("This CRM has contacts only.")
    if not re.fullmatch(crm.member_lists.pattern, list_id, re.ASCII):
        raise InvalidValue(Message("It does not name a list. {help}", help=crm.member_lists.help))
