"""What the estimator of costs is calibrated on and held against."""
