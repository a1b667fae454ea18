"""Results become pages: a static site that works from a folder, without a network, without JavaScript."""

from opendesign.site.build import Built, build_site

__all__ = ["Built", "build_site"]
