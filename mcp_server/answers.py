"""What a tool returns: what the call cost, what is left, and the answer of the API."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from mcp_server.api import ApiResponse

FINAL = frozenset({"succeeded", "failed", "canceled", "expired"})


class Cost(BaseModel):
    """Credits."""

    charged: int | None = Field(description="Credits that this call cost; null if the key may not see costs.")
    balance: int | None = Field(
        description="Credits that the workspace has left; null if the key may not see costs."
    )
    reserved: int | None = Field(default=0, description="Credits that are held until the job has finished.")


class Answer(BaseModel):
    """The answer of a tool."""

    summary: str = Field(description="What happened, what it cost, and what to do next.")
    cost: Cost
    finished: bool = Field(
        default=True, description="False while the job is running: call the tool jobs later."
    )
    repeated: bool = Field(
        default=False, description="True if this call had been made before, and costs nothing."
    )
    answer: dict[str, Any] = Field(description="The response of the API.")


def of_free_call(response: ApiResponse, balance: int | None) -> Answer:
    """Return the answer of an endpoint that charges nothing."""
    cost = Cost(charged=0, balance=balance)
    return Answer(summary=f"Free. {_left(balance)}".strip(), cost=cost, answer=response.body)


def of_job(response: ApiResponse) -> Answer:
    """Return the answer of an endpoint that creates or polls a job."""
    body, job = response.body, response.body["job"]
    credits, finished = body["credits"], job["status"] in FINAL
    charged = 0 if response.is_replay else credits["charged"]
    cost = Cost(charged=charged, balance=credits["balance"], reserved=credits["reserved"])
    if not finished:
        held = "" if cost.reserved is None else f", and holds {_credits(cost.reserved)}"
        summary = (
            f"The job {job['id']} is still running{held}. Call the tool jobs"
            " with this id to get the result; that costs nothing more."
        )
    else:
        parts = (_outcome(job), _errors(body), _price(charged, body, response), _left(cost.balance))
        summary = " ".join(filter(None, parts))
    return Answer(summary=summary, cost=cost, finished=finished, repeated=response.is_replay, answer=body)


def of_estimate(response: ApiResponse, balance: int | None) -> Answer:
    """Return the answer of an enrichment that was only estimated."""
    estimate = response.body["estimate"]
    low, high = estimate["credits_min"], estimate["credits_max"]
    cost = f"It would cost {low} to {high} credits. Nothing was done or charged."
    short = "It may cost more than the balance." if estimate.get("exceeds_balance") else ""
    summary = " ".join(filter(None, (f"{estimate['summary']}.", cost, short, _left(balance))))
    return Answer(summary=summary, cost=Cost(charged=0, balance=balance), answer=response.body)


def _outcome(job: dict[str, Any]) -> str:
    if job["status"] == "succeeded":
        excluded: str = job.get("excluded", {}).get("message", "The workspace excludes the people.")
        texts: dict[str, str] = {
            "found": "Found.",
            "not_found": "Nothing was found.",
            "suppressed": "The person is suppressed.",
            "excluded": excluded,
            "skipped": "Everybody was skipped: the workspace has them already.",
        }
        return texts.get(job["outcome"], "Found in part.")
    return f"The job {job['status']}: {job.get('error', {}).get('detail', 'no reason is known.')}"


def _errors(body: dict[str, Any]) -> str:
    """Return how many items of an enrichment have an error, and what the first one says; empty if none."""
    items = (body["result"] or {}).get("items", ())
    errors = [item["error"] for item in items if item.get("error")]
    if not errors:
        return ""
    return f"Items with an error: {len(errors)}. {errors[0]['detail']}"


def _price(charged: int | None, body: dict[str, Any], response: ApiResponse) -> str:
    if response.is_replay:
        earlier = body["credits"]["charged"]
        cost = "" if earlier is None else f", which cost {_credits(earlier)}"
        return f"This repeats an earlier call{cost}; this one was free."
    if body["credits"]["already_owned"]:
        return "The workspace already owns it, so it was free."
    if charged is None:
        return ""
    return f"It cost {_credits(charged)}." if charged else "It was free."


def _left(balance: int | None) -> str:
    return "" if balance is None else f"{_credits(balance)} left."


def _credits(count: int) -> str:
    return "1 credit" if count == 1 else f"{count} credits"
