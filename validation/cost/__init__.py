"""Calibration and validation of the cost estimator."""
