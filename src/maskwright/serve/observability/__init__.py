"""What operators see: `metrics` (Prometheus), `tracing` (OpenTelemetry), `logs` (structured)."""
