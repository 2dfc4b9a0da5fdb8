"""The accounts that may be a person's company: those with its website, else those of its name."""

from __future__ import annotations

from app.domain.errors import InvalidValue
from app.domain.normal.companies.company_domains import company_domain
from app.features.crm.vendors.exchange import text
from app.features.crm.vendors.person import CompanyRecord, Employer
from app.features.crm.vendors.salesforce import soql
from app.features.crm.vendors.salesforce.org import Org

_TABLE, _NAME, _WEBSITE = "Account", "Name", "Website"


def find(org: Org, employer: Employer) -> list[CompanyRecord]:
    """Return the accounts, the oldest first."""
    columns, rows = [_NAME, _WEBSITE], []
    if employer.domain:
        similar = org.optional_rows(_TABLE, columns, soql.contains(_WEBSITE, employer.domain))
        rows = [row for row in similar if _domain(text(row.get(_WEBSITE))) == employer.domain]
    if not rows and employer.name:
        rows = org.rows(_TABLE, columns, soql.equals(_NAME, [employer.name]))
    return [CompanyRecord(str(row["Id"]), text(row.get(_NAME))) for row in rows]


def _domain(website: str) -> str:
    try:
        return company_domain(website)
    except InvalidValue:
        return ""
