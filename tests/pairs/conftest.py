"""Fits are shared by the files of this folder."""

import pytest


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """Where files are written."""
    return tmp_path_factory.mktemp("pairs")
