"""The gauge of backups."""

from __future__ import annotations

from app.features.backup.gauges import gauges
from app.web.feature import WebPart

WEB = WebPart(gauges=gauges)
