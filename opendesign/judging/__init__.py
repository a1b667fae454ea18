"""Judging: Artifact → Verdict. Cards (data, ``judging.cards``) run by engines (code, one package each)."""
