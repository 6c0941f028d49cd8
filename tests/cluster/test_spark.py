"""The recipe for Spark in docs/cluster.md, as it stands there."""

import shutil
from pathlib import Path

import pytest

import sgmc

from .frames import Frames, outcomes

pytest.importorskip("pyspark")
pytest.importorskip("pyarrow")
GUIDE = Path(__file__).parents[2] / "docs" / "cluster.md"

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Spark needs a Java runtime"),
    pytest.mark.skipif(not GUIDE.is_file(), reason="the guides are not in the wheel"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]


def recipe():
    """The class in the guide's block of code that begins with the imports of Spark."""
    blocks = GUIDE.read_text().split("```")[1::2]
    (code,) = [one for one in blocks if "class SparkBlocks" in one]
    space = {}
    exec(code.partition("\n")[2], space)
    return space["SparkBlocks"]


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("sgmc")
    for key, value in {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "500",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


def test_the_recipe_has_the_posterior_of_all_rows(spark):
    """Batches of Arrow cut a partition in pieces, which the recipe joins: 3 partitions of 2,000."""
    table = outcomes(6000).drop(columns=["above"])
    frame = spark.createDataFrame(table).repartitionByRange(3, "x")
    frame = frame.sortWithinPartitions("x").cache()
    res = sgmc.logit("b ~ x + g", recipe()(frame), seed=1, reservoir=2000)
    parts = [part for _, part in recipe_parts(frame)]
    again = sgmc.logit("b ~ x + g", listed(parts), seed=1, reservoir=2000)
    assert (res.draws == again.draws).all()
    whole = sgmc.logit("b ~ x + g", table, seed=1)
    assert (abs(res.params - whole.params) / whole.bse).max() < 0.1
    assert abs(res.bse / whole.bse - 1).max() < 0.05 and res.cluster.partitions == 3


def recipe_parts(frame):
    """Partitions as Spark has them, each a table."""
    found = recipe()(frame).map_blocks(lambda number, table: (number, table))
    return sorted(found, key=lambda one: one[0])


def listed(parts):
    """Partitions in a list."""
    frames = Frames(parts[0], 1)
    frames.frames = parts
    return frames
