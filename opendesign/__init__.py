"""opendesign: score any model on web pages, with stated uncertainty and cost."""

__version__ = "0.1.0"

from opendesign.api import compare, judge, load, plan, run, score, tournament
from opendesign.errors import OpenDesignError, Owner, StoreError, UnknownName, UsageError
from opendesign.running.compare import Comparison, Difference
from opendesign.running.statistics import Estimate
from opendesign.running.summary import Summary
from opendesign.types import (
    Answer,
    Artifact,
    Benchmark,
    Card,
    Case,
    Failure,
    Protocol,
    Requirement,
    Usage,
    Verdict,
)

__all__ = [
    "Answer",
    "Artifact",
    "Benchmark",
    "Card",
    "Case",
    "Comparison",
    "Difference",
    "Estimate",
    "Failure",
    "OpenDesignError",
    "Owner",
    "Protocol",
    "Requirement",
    "StoreError",
    "Summary",
    "UnknownName",
    "Usage",
    "UsageError",
    "Verdict",
    "__version__",
    "compare",
    "judge",
    "load",
    "plan",
    "run",
    "score",
    "tournament",
]
