"""CRMs: a workspace connects its own, and pushes contacts to it; receipts say what became of each."""
