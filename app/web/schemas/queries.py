"""The base of the schemas of query strings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apiflask import Schema
from marshmallow import ValidationError, pre_load

from app.domain.messages import Message


class QuerySchema(Schema):
    """Parameters of a query string; unknown ones are errors.

    A misspelt filter that is ignored would return everything. Options of marshmallow do not do this: webargs
    overrides `Meta.unknown` for query strings. The endpoints of the extension ignore what they do not know,
    because an extension may be newer than its server.
    """

    @pre_load
    def _refuse_unknown(self, data: Mapping[str, Any], **_options: Any) -> Mapping[str, Any]:
        names = sorted(field.data_key or name for name, field in self.load_fields.items())
        unknown = [name for name in data if name not in names]
        if unknown:
            detail = Message("Unknown parameter. Use one of: {names}.", names=", ".join(names))
            raise ValidationError({name: [detail] for name in unknown})
        return data
