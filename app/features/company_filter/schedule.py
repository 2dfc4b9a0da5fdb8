"""When Celery beat starts the build of the company filter."""

from __future__ import annotations

BUILD = "upkeep.company_filter"

PERIODS = {BUILD: 60}  # how often it is checked whether COMPANY_FILTER_SECONDS have passed
