"""Random integrands with known log Z, to see whether answers that look sure are right.

`python -m benchmarks.trust --instances 300` runs them; README.md says what is in them.
"""
