"""The workload: the requests of many clients, and what the clients observed."""
