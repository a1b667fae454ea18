"""Answering: Case → Answer. Models, controls and answers already on disk."""
