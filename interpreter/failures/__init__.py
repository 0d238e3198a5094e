"""Run-time failures, and how they are told."""
