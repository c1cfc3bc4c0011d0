"""Adapters to the packages that people already use: one small file each.

None of these packages is imported before it is needed.
"""
