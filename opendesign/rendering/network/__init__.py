"""The network of pages: one loopback proxy a page, through which alone it reaches anything.

    async with PageNetwork(policy="allowlist", hosts=("cdn.example.org",), cache=folder) as network:
        gate = await network.gate(document)   # document: HTML in UTF-8
        ...                                   # a browser context with proxy gate.proxy opens gate.url
        await gate.close()
        gate.requests                         # what the page asked for, and what it got

The browser must send everything through the proxy, loopback included (``<-loopback>``), resolve no name
itself, and accept the proxy's certificate. All enforcement is here, below whatever drives the browser.
"""

from opendesign.rendering.network.gate import Gate
from opendesign.rendering.network.limits import Limits
from opendesign.rendering.network.network import PageNetwork
from opendesign.rendering.network.outer_proxy import environment_proxy
from opendesign.rendering.network.policy import Policy
from opendesign.rendering.network.records import Kind, Outcome, Request

__all__ = ["Gate", "Kind", "Limits", "Outcome", "PageNetwork", "Policy", "Request", "environment_proxy"]
