"""Fakes for tests, usable by anybody: a scripted OpenAI-compatible server."""

from opendesign.testing.script import FAULTS, Fault, FaultKind, ScriptedReply, ScriptedRequest
from opendesign.testing.server import ScriptedServer

__all__ = ["FAULTS", "Fault", "FaultKind", "ScriptedReply", "ScriptedRequest", "ScriptedServer"]
