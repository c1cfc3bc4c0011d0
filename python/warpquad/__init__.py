"""Integrals of expensive, constrained functions from few evaluations, with error bars."""

from warpquad._core import __version__ as __version__
