"""Running: Verdict → Run. The journey of a case, the store, summaries and comparisons."""
