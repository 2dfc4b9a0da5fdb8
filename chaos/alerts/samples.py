"""Saves what Prometheus recorded for the panels of the dashboard."""

from __future__ import annotations

import json
import time
from pathlib import Path

from chaos.alerts.prometheus import Prometheus
from tools.dashboard.panels import ROWS

PERIOD_SECONDS = 3600.0
STEP_SECONDS = 10.0


def save(prometheus: Prometheus, file: Path) -> None:
    """Write the series of each panel of the last hour, by the title of the panel and the legend."""
    end = time.time()
    panels = {
        plot.title: {
            legend: prometheus.query_range(expression, start=end - PERIOD_SECONDS, end=end, step=STEP_SECONDS)
            for legend, expression in plot.queries.items()
        }
        for plots in ROWS.values()
        for plot in plots
    }
    file.write_text(json.dumps(panels) + "\n")
