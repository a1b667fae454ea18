"""Code → plot: an answer's program runs in a sandbox, and what it drew becomes a picture and facts.

``Plotter`` is the room's door; ``isolation`` says what protects this machine from the code, ``inside`` what
happens in the sandbox, ``ends`` whose fault a failure is, ``facts`` what is known of a plot.
"""

from opendesign.plotting.facts import AxesFacts, PlotFacts, SeriesFacts
from opendesign.plotting.plotter import Plot, Plotter

__all__ = ["AxesFacts", "Plot", "PlotFacts", "Plotter", "SeriesFacts"]
