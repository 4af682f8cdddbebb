"""Which agents run: deciding and claiming starts, reports of ends, logs, why an agent runs or not."""
