"""Checks that the data is consistent: nightly audits and the invariants they verify."""
