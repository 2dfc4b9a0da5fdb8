"""The search for stored people by title, seniority, department, company and country."""
