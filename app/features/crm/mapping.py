"""The mapping of fields to properties of a CRM, as a workspace chooses it."""

from __future__ import annotations

import re
from collections.abc import Mapping

from app.domain.errors import InvalidValue
from app.features.crm.vendors.person import CrmField
from app.features.crm.vendors.vendor import Crm


def validate(crm: Crm, mapping: Mapping[str, str]) -> dict[str, str]:
    """Return the mapping without fields that have no property, in the order of the fields.

    Raises:
        InvalidValue: a property is not the name of one, is used twice, or the address has another one.

    """
    chosen = {field.value: mapping[field].strip() for field in CrmField if mapping.get(field, "").strip()}
    for field, name in chosen.items():
        if not re.fullmatch(crm.property_name, name, re.ASCII):
            raise InvalidValue(
                f"The property of {field} is not a name such as {crm.mapping[CrmField.EMAIL]}."
            )
    if len(set(chosen.values())) < len(chosen):
        raise InvalidValue("Each property can be written from one field only.")
    if chosen.get(CrmField.EMAIL) != crm.mapping[CrmField.EMAIL]:
        raise InvalidValue(
            f"The property of email must be {crm.mapping[CrmField.EMAIL]}: people are found by it."
        )
    return chosen
