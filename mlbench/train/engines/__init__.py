"""Who trains: one module an engine."""
