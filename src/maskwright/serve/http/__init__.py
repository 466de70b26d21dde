"""HTTP: which requests come in (`hosts`, `auth`, `body`, `paths`), and one request with its reply (`exchange`)."""
