"""The panels of the dashboard: what each shows, and the expression in Prometheus's language."""

from __future__ import annotations

from dataclasses import dataclass

_LOOKUPS = 'sum by (le) (rate(ext_request_seconds_bucket{endpoint="/api/ext/lookup"}[5m]))'


@dataclass(frozen=True, slots=True)
class Plot:
    """Expressions over time, by the legend of their lines; `unit` is one of Grafana's."""

    title: str
    queries: dict[str, str]
    unit: str = "short"


@dataclass(frozen=True, slots=True)
class Figure:
    """The current value of an expression, red from `limit` on, or below it if `high_is_good`."""

    title: str
    expression: str
    limit: float = 1
    unit: str = "short"
    high_is_good: bool = False


FIGURES = (
    Figure("APIs that answer", 'sum(up{job="contact-lookup"})', high_is_good=True),
    Figure("Database", 'min(ext_up{part="database"})', high_is_good=True),
    Figure("Redis", 'min(ext_up{part="redis"})', high_is_good=True),
    Figure("Queues without workers", "count(max by (queue) (ext_workers) == 0) or vector(0)"),
    Figure("Oldest waiting job", "max(ext_oldest_job_seconds)", limit=20, unit="s"),
    Figure("Unhealthy providers", "count(min by (provider) (ext_provider_healthy) == 0) or vector(0)"),
    Figure("Ledger faults", "max(ext_audit_faults) or vector(0)"),
    Figure("Firing alerts", 'count(ALERTS{alertstate="firing"}) or vector(0)'),
)
ROWS: dict[str, tuple[Plot, ...]] = {
    "Requests": (
        Plot(
            "Responses by status", {"{{status}}": "sum by (status) (rate(ext_requests_total[1m]))"}, "reqps"
        ),
        Plot(
            "Duration of lookups",
            {"p50": f"histogram_quantile(0.5, {_LOOKUPS})", "p99": f"histogram_quantile(0.99, {_LOOKUPS})"},
            "s",
        ),
        Plot(
            "Sign-ins and refused tokens by outcome",
            {
                "sign-in: {{outcome}}": "sum by (outcome) (rate(ext_sign_ins_total[5m]))",
                "token: {{outcome}}": "sum by (outcome) (rate(ext_tokens_refused_total[5m]))",
            },
            "ops",
        ),
        Plot(
            "Waits for jobs by outcome",
            {"{{outcome}}": "sum by (outcome) (rate(ext_waits_total[1m]))"},
            "ops",
        ),
        Plot(
            "Messages to Redis by outcome",
            {"{{outcome}}": "sum by (outcome) (rate(ext_sends_total[1m]))"},
            "ops",
        ),
        Plot(
            "Calls that ran together: 90 % of the groups have at most",
            {
                "{{group}}": "histogram_quantile(0.9, sum by (group, le) (rate(ext_group_size_bucket[5m])))",
            },
            "short",
        ),
        Plot(
            "Connections that the API closed",
            {"{{reason}}": "sum by (reason) (rate(ext_connections_cut_total[5m]))"},
            "ops",
        ),
    ),
    "Jobs": (
        Plot(
            "Jobs that finished in a minute",
            {
                "{{status}}": "max by (status) (ext_jobs_finished)",
                "lost a worker": "max(ext_jobs_crashed)",
            },
        ),
        Plot("Open jobs", {"{{kind}}, {{status}}": "max by (kind, status) (ext_jobs)"}),
        Plot(
            "Age of the oldest job that could run",
            {"{{queue}}": "max by (queue) (ext_oldest_job_seconds)"},
            "s",
        ),
        Plot("Messages in the queues", {"{{queue}}": "max by (queue) (ext_queue_messages)"}),
        Plot(
            "Workers",
            {
                "{{queue}}": "max by (queue) (ext_workers)",
                "{{queue}}, lost": "max by (queue) (ext_workers_lost)",
            },
        ),
        Plot(
            "Messages that workers refused",
            {"{{reason}}": "sum by (reason) (rate(ext_messages_refused_total[5m]))"},
            "ops",
        ),
    ),
    "Providers": (
        Plot(
            "Calls in a minute",
            {"{{provider}}": "sum by (provider) (max by (provider, outcome) (ext_provider_calls))"},
        ),
        Plot(
            "Calls in a minute that did not succeed",
            {
                "{{provider}}: {{outcome}}": "max by (provider, outcome) "
                '(ext_provider_calls{outcome!~"hit|miss|suppressed|open"})'
            },
        ),
        Plot(
            "Time until the provider responds",
            {"{{provider}}": "max by (provider) (ext_provider_seconds)"},
            "s",
        ),
        Plot(
            "Providers' credits spent today (UTC)",
            {
                "{{provider}}": "max by (provider) (ext_provider_credits)",
                "{{provider}}, budget": "max by (provider) (ext_provider_budget_credits)",
            },
        ),
        Plot("Healthy providers", {"{{provider}}": "min by (provider) (ext_provider_healthy)"}),
        Plot("Credits of all workspaces", {"{{state}}": "max by (state) (ext_credits)"}),
    ),
    "Webhooks": (
        Plot("Attempts in a minute", {"{{outcome}}": "max by (outcome) (ext_webhook_attempts)"}),
        Plot("Undelivered webhooks", {"{{state}}": "max by (state) (ext_webhooks)"}),
        Plot("Age of the oldest due webhook", {"oldest": "max(ext_oldest_webhook_seconds)"}, "s"),
    ),
    "Imports": (
        Plot("Queued imports", {"{{status}}": "max by (status) (ext_imports)"}),
        Plot("Bytes left", {"bytes": "max(ext_import_bytes_left)"}, "bytes"),
    ),
    "Privacy": (
        Plot("Overdue first notices", {"people": "max(ext_notices_overdue)"}),
        Plot(
            "Time until a do-not-call register is too old",
            {"{{register}}": "max by (register) (ext_call_register_seconds_left)"},
            "s",
        ),
        Plot(
            "Numbers in do-not-call registers",
            {"{{register}}": "max by (register) (ext_call_register_numbers)"},
        ),
    ),
    "Servers": (
        Plot("Checks of the servers", {"{{part}}": "max by (part) (ext_probe_seconds)"}, "s"),
        Plot(
            "Difference to the database's clock",
            {"{{process}}": "max by (process) (ext_clock_offset_seconds)"},
            "s",
        ),
        Plot(
            "Since beat last ran, and since the last audit",
            {"beat": "min(ext_beat_age_seconds)", "audit": "min(ext_audit_age_seconds)"},
            "s",
        ),
    ),
}
