"""Fixtures of tests of grouped regressions."""

import pytest

from sgmc.models.regression import coordinates, model


@pytest.fixture
def few(monkeypatch):
    """Designs of 60 parameters count as wide."""
    monkeypatch.setattr(model, "MANY", 0)
    monkeypatch.setattr(coordinates, "LONGEST_PULLED", 60)
