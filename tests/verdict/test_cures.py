"""The advice of refused fits makes them trustworthy when it is followed to the letter."""

import pytest

import sgmc

from .cases import SEED, Case
from .cures import follow, followed

pytestmark = pytest.mark.filterwarnings("ignore::sgmc.errors.SGMCWarning", "ignore::RuntimeWarning")


@pytest.mark.parametrize(
    "case",
    [
        Case("heavy", {"sampler": "mala", "draws": 60}),  # R-hat
        Case("small", {"draws": 30}),
        Case("ridge, nothing there", {"draws": 60}),
        Case("rare", {"sampler": "mala", "draws": 60}),  # too few effective draws
        Case("dispersed", {"accuracy": 0.05, "draws": 4000}),  # ends of means, not of sds
        Case("dispersed", {"sampler": "mala"}),  # more draws than are worth it
        Case("correlated", {"sampler": "rwm", "draws": 500}),
        Case("a curve", {"sampler": "mala", "step_size": 0.01, "draws": 300}),
        Case("shares", {"sampler": "sgld", "step_size": 1.0}),  # a step that is too long
        Case("few groups", {"sampler": "laplace"}),  # no Gaussian
        Case("level of zeros, normal", {"sampler": "imh"}),  # proposals too narrow
        Case("a line", {"sampler": "hmc"}),  # divergences
    ],
    ids=str,
)
def test_advice_is_followed_to_trust(case):
    assert follow(case, SEED) == "trusted"


def test_advice_is_read_as_it_is_written():
    how = {"sampler": "mala", "step_size": 0.1, "draws": 60, "accuracy": 0.1}
    for text, more, left in (
        ("Take draws=900.", {"draws": 900}, ()),
        ("Take draws=900 without accuracy=.", {"draws": 900}, ("accuracy",)),
        ("Use draws='auto'; it may take draws=900.", {}, ("draws",)),
        ("Compare with sampler='hmc'.", {"sampler": "hmc"}, ()),
        ("Use sampler='auto' or 'mala'.", {}, ("sampler",)),
        ("Use sampler='auto', step_size=None; or keep it.", {}, ("sampler", "step_size")),
        ("Use sampler='auto', draws='auto'; as it is, draws=9.", {}, ("sampler", "draws")),
    ):
        wanted = {k: v for k, v in {**how, **more}.items() if k not in left}
        assert followed(f"not trustworthy, why: so. {text}", how) == wanted, text
    exact = followed("Try sampler=sgmc.HMC(target_accept=0.95).", how)["sampler"]
    assert isinstance(exact, sgmc.HMC) and exact.target_accept == 0.95
    assert followed("Read medians and intervals (quantiles).", how) is None
