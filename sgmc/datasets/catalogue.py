"""The table of data sets: a new one is one entry."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sgmc.datasets import readers


@dataclass(frozen=True)
class Dataset:
    """Where a data set is found and how it is read.

    Parameters
    ----------
    file : str
        Its place in the user's folder of data; there the name may also end in ``.gz``.
    sha256 : str
        Checksum of its content, by `sgmc.datasets.checksum.of_content`.
    read : callable
        From the uncompressed bytes to a data frame.
    url : str
        The original source.
    members : tuple of str
        Where `url` is a zip archive: the path to the file in it, through archives within archives.
    by_hand : str
        How to make the file from what is at `url`, where sgmc cannot; it is not downloaded then.
    source, licence : str
        Who made the data, and under which terms they may be used.
    """

    file: str
    sha256: str
    read: Callable[..., Any]
    url: str
    members: tuple[Any, ...] = ()
    by_hand: str = ""
    source: str = ""
    licence: str = ""


@dataclass(frozen=True)
class Bundled:
    """A data set that comes with statsmodels.

    Parameters
    ----------
    module : str
        Its module in ``statsmodels.datasets``.
    sha256 : str
        Checksum of the content.
    source, licence : str
        Who made the data, and under which terms they may be used.
    """

    module: str
    sha256: str
    source: str
    licence: str


@dataclass(frozen=True)
class Joined:
    """A data set in several files.

    Parameters
    ----------
    parts : tuple of Dataset
    join : callable
        From their data frames to one.
    sha256 : str
        Checksum of the content of that.
    source, licence : str
        Who made the data, and under which terms they may be used.
    """

    parts: tuple[Any, ...]
    join: Callable[..., Any]
    sha256: str
    source: str
    licence: str

    @property
    def file(self) -> str:
        """Place of the first one."""
        return self.parts[0].file


def mnist(name: str, sha256: str) -> Joined:
    """Images and labels of a part of MNIST."""
    images, labels = f"{name}-images-idx3-ubyte", f"{name}-labels-idx1-ubyte"
    files = {images: readers.images, labels: readers.labels}
    parts = [
        Dataset(f"mnist/{file}", "", read, f"{MNIST}/{file}.gz") for file, read in files.items()
    ]
    return Joined(
        tuple(parts),
        readers.side_by_side,
        sha256,
        source="LeCun, Cortes & Burges, from special databases 1 and 3 of NIST",
        licence="CC BY-SA 3.0, as is commonly stated; none at the source",
    )


MNIST = "https://ossci-datasets.s3.amazonaws.com/mnist"
UCI = "https://archive.ics.uci.edu"
LDA_C = "https://www.cs.columbia.edu/~blei/lda-c/ap.tgz"
UCI_NAME, CC_BY = "UCI Machine Learning Repository", "CC BY 4.0"
AP = "articles of the Associated Press in TREC, counted by D. Blei (lda-c)"
AP_TERMS = "not stated for the counts; the articles are copyright of the Associated Press"
MOVIELENS = "GroupLens, University of Minnesota; Harper & Konstan (2015), doi:10.1145/2827872"
MOVIELENS_TERMS = "research only; redistribution and commercial use need permission"
RDATASETS = "https://vincentarelbundock.github.io/Rdatasets/csv"

ADULT_COLUMNS = (
    "age workclass fnlwgt education education_num marital_status occupation relationship race sex "
    "capital_gain capital_loss hours_per_week native_country income"
).split()

RATING_COLUMNS = ["user", "item", "rating", "timestamp"]

CATALOGUE: dict[str, Dataset | Bundled | Joined] = {
    "a9a": Dataset(
        file="a9a/a9a",
        sha256="b31c1871d9e2c2c645b4a5bf1d0fc7debe21249d5efdc4c6c403c5e66aa7df5f",
        read=partial(readers.libsvm, features=123),
        url="https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets/binary/a9a",
        source="LIBSVM data collection, from UCI Adult (Becker & Kohavi 1996)",
        licence=CC_BY,
    ),
    "adult": Dataset(
        file="adult/adult.data",
        sha256="538ec489168486d0f259a0697098d167cfa3f039510f304cb08039c6b6dba200",
        read=partial(readers.table, names=ADULT_COLUMNS, na_values="?", skipinitialspace=True),
        url=f"{UCI}/ml/machine-learning-databases/adult/adult.data",
        source=f"Becker & Kohavi (1996), {UCI_NAME}",
        licence=CC_BY,
    ),
    "ap": Dataset(
        file="ap/ap.dat",
        sha256="aab0eed922eba868b389de27c3782f5aafaa7ece6fa2536ccd5d3e06a19f7b95",
        read=readers.lda_c,
        url=LDA_C,
        by_hand="take ap/ap.dat from it",
        source=AP,
        licence=AP_TERMS,
    ),
    "ap-words": Dataset(
        file="ap/vocab.txt",
        sha256="9b212f884029bb6097805e8c9bd28980b378223e2922ba3735295ab2d8838455",
        read=readers.words,
        url=LDA_C,
        by_hand="take ap/vocab.txt from it",
        source=AP,
        licence=AP_TERMS,
    ),
    "arrhythmia": Dataset(
        file="arrhythmia/arrhythmia.data",
        sha256="12486b11089436af035c7cd9ecb43d7a49eb7cc4bdcde607fcf2a8879bdc2ea7",
        read=partial(
            readers.table, names=[*(f"x{j}" for j in range(1, 280)), "diagnosis"], na_values="?"
        ),
        url=f"{UCI}/ml/machine-learning-databases/arrhythmia/arrhythmia.data",
        source=f"Guvenir, Acar, Muderrisoglu & Quinlan (1997), {UCI_NAME}",
        licence=CC_BY,
    ),
    "default": Dataset(
        file="rdatasets/ISLR_Default.csv",
        sha256="06c18f2c5dca4e2ac6b9994ee5de0fb1364e6b1c8d0e073408de2348985a62d3",
        read=readers.rdatasets,
        url=f"{RDATASETS}/ISLR/Default.csv",
        source="simulated; James, Witten, Hastie & Tibshirani (2013), R package ISLR",
        licence="GPL-2, that of the package",
    ),
    "diamonds": Dataset(
        file="rdatasets/ggplot2_diamonds.csv",
        sha256="2555e62fbe870b4ffbe062c9942445471b9e5d11de64478a54c022de55be096b",
        read=readers.rdatasets,
        url=f"{RDATASETS}/ggplot2/diamonds.csv",
        source="R package ggplot2",
        licence="MIT, that of the package",
    ),
    "fair": Bundled(
        module="fair",
        sha256="ebf06ccff596a867ec2121b31e1fcef2f6aacd4b76b7135e23488545db758e8e",
        source="Fair (1978), Journal of Political Economy 86, 45-61; with statsmodels",
        licence="in statsmodels with permission of the author",
    ),
    "flights": Dataset(
        file="flights/flights.csv",
        sha256="fd089bbf5048f4eca6acc9e11001b380f199605e57f01aa886ad6a00331ae45c",
        read=readers.table,
        url="https://cran.r-project.org/src/contrib/Archive/nycflights13/nycflights13_0.1.tar.gz",
        by_hand=(
            "read data/flights.rda of it (rdata.read_rda of the Python package rdata) and write "
            "its table with to_csv('flights.csv', index=False)"
        ),
        source="US Bureau of Transportation Statistics; R package nycflights13 0.1",
        licence="CC0 1.0",
    ),
    "meg": Dataset(
        file="meg/MEG_data_reduced.csv",
        sha256="b6644f354bdd8065b1020a16b295064d0a7180fb211772ca9f97d8547e60e146",
        read=readers.transposed,
        url="http://research.ics.aalto.fi/ica/eegmeg/MEG_data.html",
        by_hand=(
            "write 10 of its 122 channels, one a line under a line of column names, to "
            "MEG_data_reduced.csv as Mauri & Zanella (2024)"
        ),
        source="Helsinki University of Technology, ICA group (Vigario et al.)",
        licence="not stated by the source",
    ),
    "mnist": mnist("train", "7d72f5e2fdd7a7e5a0659f6b335312bf7b066674355a1838b5b548a7018aa3c7"),
    "mnist-test": mnist("t10k", "561d9f05d74fc1bbdf11cc1ebcf97b08abcfd158bd2b2eae8a839cd284ef2a37"),
    "movielens-100k": Dataset(
        file="movielens-100k/u.data",
        sha256="2b171538591b9a57af63bc0a70296d4f445b4cb507a3756d64d37044f78a6078",
        read=partial(readers.table, names=RATING_COLUMNS, sep="\t"),
        url="https://files.grouplens.org/datasets/movielens/ml-100k/u.data",
        source=MOVIELENS,
        licence=MOVIELENS_TERMS,
    ),
    "movielens-100k-u1-test": Dataset(
        file="movielens-100k/u1.test",
        sha256="b26cf466c053a8af775e8bca3d53639bdf4259cbbbbb6114eeee538386ff6bbf",
        read=partial(readers.table, names=RATING_COLUMNS, sep="\t"),
        url="https://files.grouplens.org/datasets/movielens/ml-100k/u1.test",
        source=MOVIELENS,
        licence=MOVIELENS_TERMS,
    ),
    "movielens-100k-u1-train": Dataset(
        file="movielens-100k/u1.base",
        sha256="fd6d6cfa2a4f5dfe441c1d1af02b8a070e3c027b4e8b61491c5b52a2d829a499",
        read=partial(readers.table, names=RATING_COLUMNS, sep="\t"),
        url="https://files.grouplens.org/datasets/movielens/ml-100k/u1.base",
        source=MOVIELENS,
        licence=MOVIELENS_TERMS,
    ),
    "sepsis": Dataset(
        file="sepsis/s41598-020-73558-3_sepsis_survival_primary_cohort.csv",
        sha256="a17fa742fe1b221e240dd1746b4f019d9c2c14248252fda30f943b31062c78ab",
        read=readers.table,
        url=f"{UCI}/static/public/827/sepsis+survival+minimal+clinical+records.zip",
        members=(
            "s41598-020-73558-3_sepsis_survival_dataset.zip",
            "s41598-020-73558-3_sepsis_survival_primary_cohort.csv",
        ),
        source=f"Chicco & Jurman (2020), Scientific Reports 10, 17156; {UCI_NAME}",
        licence=CC_BY,
    ),
}
