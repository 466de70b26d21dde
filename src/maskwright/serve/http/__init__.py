"""HTTP: which requests come in (`hosts`, `auth`, `body`), and one request with its reply (`exchange`)."""
