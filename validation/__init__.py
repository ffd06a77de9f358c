"""Comparisons of the models with something outside the project, with the data they need.

Each folder is a program: `python -m validation.linux` compares TCP with the Linux kernel.
"""
