"""What may run at the same time (`admission`), and how much a request may ask for (`budgets`)."""
