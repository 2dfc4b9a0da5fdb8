"""Liveness, readiness and metrics for operators."""
