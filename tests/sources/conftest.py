"""Small chunks, where a test asks for them."""

import pytest

from sgmc.sources import part

from .tables import CHUNK


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of CHUNK rows."""
    monkeypatch.setattr(part, "CHUNK_ROWS", CHUNK)
