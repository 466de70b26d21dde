"""The judge: slow, obviously right answers that the engine is compared with. Nothing here is shipped."""
