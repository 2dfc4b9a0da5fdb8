"""Provisioning by an identity provider by SCIM 2.0 (RFC 7643, 7644)."""
