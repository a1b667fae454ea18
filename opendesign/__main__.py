"""``python -m opendesign``."""

from opendesign.cli import main

main()
