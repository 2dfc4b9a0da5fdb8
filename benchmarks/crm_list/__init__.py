"""What a list costs of which the CRM has a part: `python -m benchmarks.crm_list`."""
