"""Scenarios as programs of other simulators."""
