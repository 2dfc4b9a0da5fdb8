"""CRMs that contacts are pushed to: one file per vendor, and the plan of what a push may change."""
