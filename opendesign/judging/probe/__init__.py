"""The ``probe`` judge: does the page work when operated? Needs no model.

Finds the controls that matter for the case, gives them real mouse and keyboard input, and counts an
interaction only where the page changed beyond its own motion and beyond what the same input does to an inert
element (see ``judging.change``). The same page gives the same verdict.
"""

from opendesign.judging.probe.engine import judge

__all__ = ["judge"]
