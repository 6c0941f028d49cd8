"""Words of R: columns, coefficients and offsets are those that R 4 prints for the same eight rows.

Constants have R's 15 digits and agree to 1e-11: what is left is the rounding of their last digits.
"""

import pickle
from math import log  # noqa: F401  (a function of one number, which formulas pass over)

import numpy as np
import pandas as pd
import patsy
import pytest
import statsmodels.api as sm

import sgmc
from sgmc import formula
from sgmc.errors import ArgumentError, FormulaError
from sgmc.formula.evaluation import r_words

from .designs import design

CLOSE = dict(rtol=1e-11, atol=1e-13)
EIGHT = pd.DataFrame(
    {
        "x": [0.3, 1.1, 2.7, 4.2, 5.5, 7.9, 8.4, 9.6],
        "y": [0, 2, 1, 3, 7, 5, 8, 12],
        "g": list("abcabcab"),
        "t": [1.0, 2.0] * 4,
    }
)
NEW = pd.DataFrame({"x": [0.0, 3.0, 10.5]})
POLY = [  # poly(x, 3)
    [-0.5069170184034446, 0.4849069151036284, -0.389143673010477],
    [-0.4199392994280547, 0.1831264794329817, 0.150938183140562],
    [-0.2459838614772747, -0.2492950698700513, 0.469860836555012],
    [-0.0829006383984185, -0.4474512495609377, 0.189076596421337],
    [0.0584381549365901, -0.4569607896109377, -0.206039494468289],
    [0.3193713118627600, -0.0787571813359204, -0.434818465069688],
    [0.3737323862223788, 0.0646581581368640, -0.285865393886409],
    [0.5041989646854637, 0.4997727377043727, 0.505991410317952],
]
POLY_NEW = [  # predict(poly(x, 3), c(0, 3, 10.5))
    [-0.539533663019216, 0.612781863967784, -0.673898520375031],
    [-0.213367216861504, -0.304970617249315, 0.445688928790264],
    [0.602048898532777, 0.910341307445711, 1.594996627044463],
]
NS = [  # ns(x, df = 3)
    [0.0, 0.0, 0.0],
    [-0.0488899000244097, 0.183986755945391, -0.132305082927022],
    [-0.0550210647184017, 0.464220210576794, -0.333821275021515],
    [0.1626037046675883, 0.507396563341738, -0.360367854249777],
    [0.4278940025337148, 0.412733027036998, -0.242026004172961],
    [0.4150848737721732, 0.321930645069987, 0.229967008039560],
    [0.2825449023975189, 0.349598211980961, 0.356243982395714],
    [-0.1265622528081000, 0.450561619996836, 0.676000632811264],
]
NS_NEW = [
    [0.0197657224365728, -0.0703659718741992, 0.0506002494376264],
    [-0.0310881092135736, 0.4927511405009045, -0.3543378987871673],
    [-0.4533301692770133, 0.5338554026261666, 0.9194747666508465],
]
NS_KNOTS = [  # ns(x, knots = c(3, 6), intercept = TRUE)
    [-0.25703796508989296, -0.22719387415266690, 0.643715976765890, -0.4165221026132226],
    [0.08164613761398364, -0.17042319611744275, 0.493001243000879, -0.3190008042946864],
    [0.56142390155801214, 0.00729506501347627, 0.252989707167848, -0.1636992222850779],
    [0.54211191557541383, 0.31107347875494545, 0.177075521672430, -0.1060221289965990],
    [0.29554630696623840, 0.53995433055410291, 0.206279451355705, -0.0561081338045329],
    [0.02128174396473285, 0.34273346087491841, 0.325154422431941, 0.3098781280613023],
    [0.00748521342785637, 0.21360487071217155, 0.352427125031708, 0.4261478674037258],
    [0.0, -0.14798206278026912, 0.419282511210762, 0.7286995515695067],
]
CURVES = {
    "poly(x, 3)": (POLY, POLY_NEW),
    "ns(x, df=3)": (NS, NS_NEW),
    "ns(x, 3)": (NS, NS_NEW),
    "ns(x, knots=[3, 6], intercept=TRUE)": (NS_KNOTS, None),
}


def read(text, frame=EIGHT, **how):
    return formula.read(text, frame, outcome="numeric", **how)


@pytest.mark.parametrize("term", CURVES)
@pytest.mark.parametrize("size", [1000, 3, 1])
def test_curves_are_those_of_r_also_of_rows_in_chunks_and_new_ones(term, size, monkeypatch):
    monkeypatch.setattr(formula.reader, "CHUNK_ROWS", size)
    table = read(f"y ~ 0 + {term}")
    expected, expected_new = CURVES[term]
    np.testing.assert_allclose(design(table), expected, **CLOSE)
    if expected_new is not None:
        again = pickle.loads(pickle.dumps(table.spec))
        np.testing.assert_allclose(again.matrix(NEW), expected_new, **CLOSE)
        np.testing.assert_allclose(again.matrix(NEW[1:2]), expected_new[1:2], **CLOSE)


def test_polynomials_of_the_new_rows_alone_are_others():
    """A fit that placed them anew would be seen."""
    anew = design(read("y ~ 0 + poly(x, 2)", NEW.assign(y=0)))
    assert np.abs(anew - np.array(POLY_NEW)[:, :2]).max() > 0.1


@pytest.mark.parametrize("degree", [1, 5, 8])
def test_polynomials_stay_orthonormal(degree):
    x = np.random.default_rng(3).normal(1e3, 2.0, 5000)
    made = r_words.Poly()
    for part in np.array_split(x, 7):
        made.memorize_chunk(part, degree)
    made.memorize_finish()
    columns = np.column_stack([np.ones(5000), made.transform(x, degree)])
    off = columns.T @ columns - np.diag([5000.0, *np.ones(degree)])
    assert np.abs(off).max() < 1e-9


def test_raw_polynomials_and_functions_without_np():
    table = read("y ~ poly(x, 2, raw=TRUE) + log(x) + sqrt(x) + exp(-x)")
    x = EIGHT.x.to_numpy()
    expected = np.column_stack([np.ones(8), x, x**2, np.log(x), np.sqrt(x), np.exp(-x)])
    np.testing.assert_array_equal(design(table), expected)
    assert table.spec.exog_names[3:] == ["log(x)", "sqrt(x)", "exp(-x)"]


def test_factors_and_their_reference():
    frame = EIGHT.assign(k=[3, 1, 2, 3, 1, 2, 3, 1])
    pairs = {
        "factor(k)": "C(k)",
        "factor(k, levels=[2, 3, 1])": "C(k, levels=[2, 3, 1])",
        "relevel(g, ref='b')": "C(g, Treatment('b'))",
        "relevel(factor(k), ref='2')": "C(k, Treatment(2))",
    }
    for ours, theirs in pairs.items():
        table, expected = read(f"y ~ {ours}*x", frame), patsy.dmatrix(f"{theirs}*x", frame)
        found = design(table)[:, np.argsort(np.abs(design(table)).sum(axis=0))]
        expected = np.asarray(expected)
        np.testing.assert_allclose(
            found, expected[:, np.argsort(np.abs(expected).sum(axis=0))], rtol=1e-13
        )
    table = read("y ~ relevel(g, ref='b')")
    assert table.spec.exog_names[1:] == ["relevel(g, ref='b')[T.a]", "relevel(g, ref='b')[T.c]"]
    np.testing.assert_array_equal(table.spec.matrix({"g": ["c"]}), [[1, 0, 1]])


def test_a_relevelled_factor_of_many_levels_stays_codes():
    rng = np.random.default_rng(0)
    g = rng.integers(0, 40, 2000).astype(str)
    frame = pd.DataFrame({"y": rng.normal(size=2000), "g": g})
    table = read("y ~ relevel(g, ref='7')", frame)
    assert table.spec.coding is not None
    found = table.coded(np.arange(2000), np.dtype(float)).toarray()
    assert "relevel(g, ref='7')[T.7]" not in table.spec.exog_names
    np.testing.assert_array_equal(found[:, 1:].sum(axis=1), g != "7")


def test_coefficients_are_those_of_glm_and_lm_in_r():
    table = read("y ~ poly(x, 2) + relevel(factor(g), ref='b') + offset(log(t))")
    family = sm.families.Poisson()
    fit = sm.GLM(table.y, design(table), family=family, offset=table.offset).fit(tol=1e-14)
    found = pd.Series(fit.params, table.spec.exog_names)
    expected = {
        "Intercept": 1.048060926753172,
        "poly(x, 2)[0]": 3.005742173122954,
        "poly(x, 2)[1]": -1.297314397604378,
        "relevel(factor(g), ref='b')[T.a]": -0.395782291317488,
        "relevel(factor(g), ref='b')[T.c]": -1.119561124420452,
    }
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-9)  # Newton stops there
    table = read("y ~ ns(x, df=3) + poly(t*x, 2, raw=TRUE)")
    found = np.linalg.lstsq(design(table), table.y, rcond=None)[0]
    expected = [0.5888368270150677, 6.6665706639793587, 18.4057139094316859, 11.3559265167745433]
    expected += [-0.7340173406653976, 0.0254351535907954]
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# ---- offsets ----


def counts(n=400, seed=1):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"x": rng.normal(size=n), "t": rng.uniform(0.5, 3, n), "g": rng.integers(0, 8, n)}
    )
    frame["y"] = rng.poisson(frame.t * np.exp(0.3 * frame.x))
    frame["logt"], frame["s"] = np.log(frame.t), rng.binomial(9, 0.4, n)
    return frame.assign(f=9 - frame.s, nine=9)


COUNTS = counts()
HOW = dict(seed=1)


@pytest.mark.extended(" + (1 | g)", " + s(x, k=4)")
@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
@pytest.mark.parametrize("tail", ["", " + (1 | g)", " + s(x, k=4)"])
def test_an_offset_in_the_formula_is_the_argument(tail):
    text = f"y ~ x{tail}" if "s(x" not in tail else f"y ~ 1{tail}"
    ours = sgmc.poisson(f"{text} + offset(log(t))", COUNTS, **HOW)
    theirs = sgmc.poisson(text, COUNTS, offset="logt", **HOW)
    np.testing.assert_array_equal(ours.draws, theirs.draws)
    new = COUNTS[:20].drop(columns="y")
    found, expected = ours.predict(new), theirs.predict(new, offset=new.logt)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    by_name = theirs.predict(new, offset="logt")  # as exposures are
    np.testing.assert_array_equal(by_name, theirs.predict(new, offset=new.logt))
    with pytest.raises(ArgumentError, match="offset='logs' is not a column of the new data"):
        theirs.predict(new, offset="logs")
    half = ours.predict(new, offset=np.full(20, np.log(0.5)))
    np.testing.assert_allclose(half, expected / 2, rtol=1e-12)  # both are added, as in R


def test_offsets_add_up_and_new_rows_bring_theirs(tmp_path):
    ours = sgmc.poisson("y ~ x + offset(logt) + offset(x)", COUNTS, offset="t", **HOW)
    total = COUNTS.logt + COUNTS.x + COUNTS.t
    theirs = sgmc.poisson("y ~ x", COUNTS, offset=total, **HOW)
    np.testing.assert_array_equal(ours.draws, theirs.draws)
    with pytest.raises(ArgumentError, match="needs offset= for the new rows"):
        ours.predict(COUNTS[:3])  # that of the argument
    alone = sgmc.poisson("y ~ x + offset(log(t))", COUNTS, **HOW)
    alone.save(tmp_path / "a.sgmc")
    loaded = sgmc.load(tmp_path / "a.sgmc")
    new = COUNTS[:4].copy()
    new.loc[1, "t"] = np.nan
    found = loaded.predict(new)
    np.testing.assert_array_equal(np.isnan(found), [False, True, False, False])
    np.testing.assert_array_equal(found, alone.predict(new))
    new.to_csv(tmp_path / "new.csv", index=False)
    np.testing.assert_allclose(loaded.predict(tmp_path / "new.csv"), found, rtol=1e-12)
    with pytest.raises(FormulaError, match="no column 't'"):
        loaded.predict(new[["x"]])
    with pytest.raises(ArgumentError, match="needs offset="):
        loaded.predict(np.ones((2, 2)), transform=False)
    more = loaded.update(COUNTS[:100])
    both = sgmc.poisson("y ~ x + offset(log(t))", pd.concat([COUNTS, COUNTS[:100]]), **HOW)
    assert (np.abs(more.params - both.params) < 0.2 * both.bse).all()  # 1000 draws know 0.04


@pytest.mark.extended(" + (1 | g)")
@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
@pytest.mark.parametrize("tail", ["", " + (1 | g)"])
def test_an_exposure_does_not_stand_for_the_offset_of_the_formula(tail):
    """A design does not bring offset(log(t)): with exposure= alone it would be left out."""
    res = sgmc.poisson(f"y ~ x + offset(log(t)){tail}", COUNTS, **HOW)
    new, how = COUNTS[:6], dict(exposure=np.full(6, 2.0))
    design = np.column_stack([np.ones(6), new.x])
    given = dict(random=False) if tail else {}
    wanted = res.predict(new, **given, **how)
    if not tail:  # levels of g are in no design
        found = res.predict(design, transform=False, offset=new.logt.to_numpy(), **how)
        np.testing.assert_allclose(found, wanted, rtol=1e-12)
        np.testing.assert_allclose(wanted, 2 * res.predict(new), rtol=1e-12)
    for method in (res.predict, res.get_prediction):
        with pytest.raises(ArgumentError, match="needs offset= for the new rows"):
            method(design, transform=False, **given, **how)


def test_an_exposure_of_a_design_in_a_file_does_not_either(tmp_path):
    res = sgmc.poisson("y ~ x + offset(log(t))", COUNTS, **HOW)
    design = pd.DataFrame({"Intercept": 1.0, "x": COUNTS.x, "t": COUNTS.t})
    design.to_csv(tmp_path / "new.csv", index=False)
    with pytest.raises(ArgumentError, match="needs offset= for the new rows"):
        res.predict(tmp_path / "new.csv", transform=False, exposure="t")


def test_the_dot_and_gaps_treat_it_as_the_argument():
    frame = COUNTS.assign(t=np.where(np.arange(400) < 7, np.nan, COUNTS.t))
    table = read("y ~ . + offset(log(t)) - s - f - nine", frame)
    assert table.spec.exog_names == ["Intercept", "x", "g", "logt"] and table.dropped == 7
    table = read("y ~ offset(2) + x", frame)
    assert (table.offset == 2).all()
    with pytest.raises(ArgumentError, match="offset does not apply to mnlogit"):
        sgmc.mnlogit("g ~ x + offset(t)", COUNTS, **HOW)


@pytest.mark.extended
@pytest.mark.filterwarnings("ignore::sgmc.errors.GroupsWarning")
def test_prepared_files_take_columns_as_offsets(tmp_path):
    text = "y ~ poly(x, 2) + offset(logt)"
    table = sgmc.prepare(text, COUNTS, tmp_path / "a.sgmc", seed=1)
    ours = sgmc.poisson(text, table, **HOW)
    theirs = sgmc.poisson("y ~ poly(x, 2)", COUNTS, offset="logt", **HOW)
    assert (np.abs(ours.params - theirs.params) < 0.5 * theirs.bse).all()  # 200 draws each
    new = COUNTS[:5]
    expected = theirs.predict(new, offset=new.logt)
    np.testing.assert_allclose(ours.predict(new), expected, rtol=0.1)
    with pytest.raises(FormulaError, match="one column of the source: make it a column"):
        sgmc.prepare("y ~ x + offset(log(t))", COUNTS, tmp_path / "b.sgmc")
    grouped = "y ~ x + offset(log(t)) + (1 | g)"  # which keeps its columns
    table = sgmc.prepare(grouped, COUNTS, tmp_path / "c.sgmc", seed=1)
    np.testing.assert_allclose(
        sgmc.poisson(grouped, table, **HOW).params,
        sgmc.poisson(grouped, COUNTS, **HOW).params,
        atol=0.1,
    )
    wrong = sgmc.prepare("cbind(s, f) ~ x", COUNTS, tmp_path / "d.sgmc", seed=1)
    with pytest.raises(FormulaError, match="counts of successes and failures"):
        sgmc.poisson("cbind(s, f) ~ x", wrong, **HOW)


# ---- counts of both ----


def test_cbind_is_the_sum_of_two_columns():
    theirs = sgmc.logit("s + f ~ x", COUNTS, **HOW)
    for text in ("cbind(s, f) ~ x", "cbind(s, nine - s) ~ x", "cbind(s, 9 - s) ~ log(exp(x))"):
        ours = sgmc.logit(text, COUNTS, **HOW)
        np.testing.assert_allclose(ours.draws, theirs.draws, rtol=1e-9, atol=1e-9)
        assert ours.model.endog_names == text.partition(" ~ ")[0]
    more = ours.update(COUNTS[:50])
    assert np.isfinite(more.params).all()
    with pytest.raises(FormulaError, match="counts of successes and failures"):
        sgmc.poisson("cbind(s, f) ~ x", COUNTS, **HOW)


def test_the_order_of_cbind_matters():
    """Successes and failures exchanged turn the sign of every coefficient."""
    ours, other = (sgmc.logit(t, COUNTS, **HOW) for t in ("cbind(s, f) ~ x", "cbind(f, s) ~ x"))
    assert ours.params.iloc[0] * other.params.iloc[0] < 0


def test_offsets_of_truth_values_and_of_operators_add_up():
    """Two truths are 2, not true; each offset is in parentheses of its own."""
    frame = pd.DataFrame({"y": [0.0, 1.0, 2.0], "x": [1.0, 3.0, 2.0], "s": [True, False, True]})
    table = read("y ~ x + offset(s) + offset(s)", frame)
    np.testing.assert_array_equal(table.offset, [2.0, 0.0, 2.0])
    table = read("y ~ x + offset(x > 2) + offset(x > 1)", frame)
    np.testing.assert_array_equal(table.offset, [0.0, 2.0, 1.0])
