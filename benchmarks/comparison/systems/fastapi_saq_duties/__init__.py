"""FastAPI + SAQ with what a company needs beyond the workload, written to be fast."""
