"""How long CRMs are read, beside the clicks of users: `python -m benchmarks.crm_reading`."""
