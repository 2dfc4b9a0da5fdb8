"""CRMs that contacts are pushed to: a package per vendor, which builds requests and reads responses."""
