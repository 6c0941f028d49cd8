"""Compiled models of ordered outcomes: the probability of an interval between two thresholds, or of
stopping at one of several stages.
"""
import numpy as np

from libc.math cimport exp, expm1, fabs, fmax, fmin, log, log1p
from libc.string cimport memset
from scipy.special.cython_special cimport log_ndtr

from sgmc.core.numerics import limits
from sgmc.core.contract cimport OK, Design
from sgmc.core.numerics cimport simd
from sgmc.models.regression.bases.dispersed cimport Dispersed
from sgmc.models.regression.bases.predictors.two_designs cimport TwoDesignsModel
from sgmc.models.regression.bases.predictors.varying import Columnless

cdef enum:
    LOGIT = 0
    PROBIT = 1
    CLOGLOG = 2
    LEVELS_AT_MOST = 20
    STAGES_AT_ONCE = 128          # rows whose exponentials and logarithms are taken together

CUMULATIVE_LINKS = {"logit": LOGIT, "probit": PROBIT, "cloglog": CLOGLOG}
MAX_ORDERED = LEVELS_AT_MOST

cdef double HALF_LOG_2PI = limits.HALF_LOG_2PI
# logs of gaps beyond which a gap or its inverse, squared, is no number
cdef double LEAST_LOG_GAP = -300.0
cdef double MOST_LOG_GAP = 100.0
cdef double LARGEST_Z = 300.0            # |z| beyond which exp(z), squared, is no number
MAX_LOG_DISCRIMINATION = 30.0            # beyond: tails of intervals lose all digits
cdef double LARGEST_SCALE = MAX_LOG_DISCRIMINATION
cdef double NORMAL_TAIL = 1e4                   # beyond: the normal law's tail, to 1e-16
cdef double SURE_ODDS = 690.0              # log odds of what is certain: slopes of 1e-300
cdef double SHORTEST_DIRECT = 1e-2               # intervals and rates below: series, of error 1e-14


cdef struct Interval:
    # of log(F(a) - F(b)): the value; its slope in a, and in a and b together; minus its second
    # derivatives: by a twice, by a and both, by b and both
    double value
    double upper
    double both
    double curve
    double above
    double below


cdef struct Cuts:
    # c_1, .., c_{K-1} from 0 on, and of each level its width, and, of the logistic function,
    # 1 / (exp(width) - 1) and log(1 - exp(-width))
    double[LEVELS_AT_MOST] cut
    double[LEVELS_AT_MOST] gap
    double[LEVELS_AT_MOST] hazard
    double[LEVELS_AT_MOST] log


cdef class Cumulative(Dispersed):
    """y_i = k where a latent x_i . theta + error lies between the thresholds c_k and c_{k+1}:
    P(y_i <= k) = F(c_{k+1} - eta_i), k = 0, .., K - 1, c_0 = -inf, c_K = inf (McCullagh 1980).

    c_1 = 0, as eta has an intercept, and c_{k+1} = c_k + exp(u_k): u are logs of the K - 2 gaps.
    With A and B the slopes of log(F(a) - F(b)) in a = c_{y+1} - eta and -b = eta - c_y the scores
    are B - A for eta, exp(u_k) (A - B) for gaps below the outcome's, exp(u_y) A for its own.

    Parameters
    ----------
    X, y, offset, weight
        As in `Glm`; y is 0, 1, .., K - 1.
    levels : int
        K, at least 2 and at most MAX_ORDERED.
    link : str
        One of CUMULATIVE_LINKS.
    """

    cdef readonly int link

    nanoseconds = 50.0

    def __init__(self, Design X, y, offset=None, weight=None, Py_ssize_t levels=0, link="logit"):
        if not (2 <= levels <= LEVELS_AT_MOST and 0 <= np.min(y) and np.max(y) < levels):
            raise ValueError(f"outcomes must be 0, .., levels - 1 = {levels - 1}")
        Dispersed.__init__(self, X, y, offset, weight, levels - 2)
        self.link = CUMULATIVE_LINKS[link]

    cdef Interval interval(self, Py_ssize_t j, double eta, const Cuts *at) noexcept nogil:
        """That of level j."""
        cdef Py_ssize_t last = self.width
        cdef double a = at.cut[j] - eta if j < last else 0
        cdef double b = at.cut[j - 1] - eta if j > 0 else 0
        if self.link == LOGIT:
            return by_logit(logistic(a), logistic(-b), at.hazard[j], at.log[j], j == 0, j == last)
        if self.link == PROBIT:
            return by_probit(a, b, at.gap[j], j == 0, j == last)
        return by_cloglog(a, b, at.gap[j], j == 0, j == last)

    cdef Cuts cuts(self, const double *theta) noexcept nogil:
        cdef Cuts at
        cdef Py_ssize_t j
        at.cut[0] = at.gap[0] = at.gap[self.width] = 0
        at.hazard[0] = at.hazard[self.width] = at.log[0] = at.log[self.width] = 0
        for j in range(1, self.width):
            at.gap[j] = exp(fmin(fmax(theta[self.X.d + j - 1], LEAST_LOG_GAP), MOST_LOG_GAP))
            at.cut[j] = at.cut[j - 1] + at.gap[j]
            at.hazard[j], at.log[j] = 1 / expm1(at.gap[j]), log(-expm1(-at.gap[j]))
        return at

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, start = 0
        cdef Interval T
        cdef Cuts cuts = self.cuts(theta)
        if self.link == LOGIT:
            while start < m:
                logit_intervals(self.width, min(m - start, STAGES_AT_ONCE), y + start,
                                eta + start, &cuts, r + start * self.width,
                                NULL if density == NULL else density + start)
                start += STAGES_AT_ONCE
            return OK
        for i in range(m):
            T = self.interval(<Py_ssize_t> y[i], eta[i], &cuts)
            slopes(&T, <Py_ssize_t> y[i], self.width, cuts.gap, r + i * self.width)
            if density != NULL:
                density[i] = T.value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, j, k, l, width = self.width
        cdef double score[LEVELS_AT_MOST]
        cdef double *at
        cdef Interval T
        cdef Cuts cuts = self.cuts(theta)
        for i in range(m):
            j = <Py_ssize_t> y[i]
            T = self.interval(j, eta[i], &cuts)
            slopes(&T, j, width, cuts.gap, score)
            at = w + i * width * width
            at[0] = T.above + T.below
            for l in range(1, width):
                at[l] = -cuts.gap[l] * (T.above + T.below if l < j else T.above if l == j else 0)
                at[l * width] = at[l]
                for k in range(1, l):
                    at[l * width + k] = at[k * width + l] = -cuts.gap[k] * at[l]
                # and what the logs of gaps bend
                at[l * width + l] = cuts.gap[l] * cuts.gap[l] * (
                    T.above + T.below if l < j else T.curve if l == j else 0) - score[l]
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        """sum_k p_k s_k s_k', s_k the scores of level k."""
        cdef Py_ssize_t i, j, k, l, width = self.width
        cdef double score[LEVELS_AT_MOST]
        cdef double *at
        cdef Interval T
        cdef Cuts cuts = self.cuts(theta)
        memset(w, 0, m * width * width * sizeof(double))
        for i in range(m):
            at = w + i * width * width
            for j in range(width + 1):
                T = self.interval(j, eta[i], &cuts)
                slopes(&T, j, width, cuts.gap, score)
                for k in range(width):
                    for l in range(width):
                        at[k * width + l] += exp(T.value) * score[k] * score[l]
        return OK


cdef class Discriminating(TwoDesignsModel):
    """P(y_i <= k) = F(exp(zeta_i) (c_{k+1} - eta_i)): a `Cumulative` whose thresholds and predictor
    are both multiplied by the discrimination exp(zeta_i), zeta_i = z_i . gamma.

    A row is that of the model without discrimination at x = exp(zeta) eta and v_l = u_l + zeta, u
    being the logs of gaps.  With its scores g_0 of x and g_l of v_l the scores are exp(zeta) g_0
    for eta, x g_0 + sum_l g_l for zeta, g_l for u_l; of curvatures see `turned`.

    Parameters
    ----------
    X, y, offset, weight, predictor
        As in `TwoDesignsModel`.
    levels, link
        As in `Cumulative`.
    """

    cdef readonly Cumulative whole

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None, Py_ssize_t levels=0,
                 link="logit"):
        self.whole = Cumulative(Columnless(len(y)), y, None, None, levels, link)
        TwoDesignsModel.__init__(self, X, y, offset, weight, predictor, levels - 2)

    cdef double scaled(self, const double *row, double *logs) noexcept nogil:
        """exp(zeta) of a row, and v into `logs`."""
        cdef Py_ssize_t l
        cdef double zeta = fmin(fmax(row[1], -LARGEST_SCALE), LARGEST_SCALE)
        for l in range(self.auxiliary):
            logs[l] = row[2 + l] + zeta
        return exp(zeta)

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, l, k = self.width
        cdef double logs[LEVELS_AT_MOST]
        cdef double score[LEVELS_AT_MOST]
        cdef double s, x
        for i in range(m):
            s = self.scaled(eta + k * i, logs)
            x = s * eta[k * i]
            self.whole.family(logs, 1, &x, y + i, score, NULL if density == NULL else density + i)
            r[k * i], r[k * i + 1] = s * score[0], x * score[0]
            for l in range(1, k - 1):
                r[k * i + 1] += score[l]
                r[k * i + 1 + l] = score[l]
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        cdef double logs[LEVELS_AT_MOST]
        cdef double score[LEVELS_AT_MOST]
        cdef double V[LEVELS_AT_MOST * LEVELS_AT_MOST]
        cdef double s, x
        for i in range(m):
            s = self.scaled(eta + k * i, logs)
            x = s * eta[k * i]
            self.whole.observed_information(logs, 1, &x, y + i, V)
            self.whole.family(logs, 1, &x, y + i, score, NULL)
            self.turned(s, x, score[0], V, w + k * k * i)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width
        cdef double logs[LEVELS_AT_MOST]
        cdef double V[LEVELS_AT_MOST * LEVELS_AT_MOST]
        cdef double s, x
        for i in range(m):
            s = self.scaled(eta + k * i, logs)
            x = s * eta[k * i]
            self.whole.expected_information(logs, 1, &x, y + i, V)
            self.turned(s, x, 0.0, V, w + k * k * i)  # scores have mean zero
        return OK

    cdef void turned(self, double s, double x, double score, const double *V,
                     double *w) noexcept nogil:
        """J' V J less `score`, that of x, times the second derivatives of x; J has the derivatives
        of (x, v) by (eta, zeta, u).
        """
        cdef Py_ssize_t l, n, k = self.width, inner = self.width - 1
        cdef double first = 0.0, total = 0.0, own
        for l in range(1, inner):
            first += V[l]
            own = 0.0
            for n in range(1, inner):
                own += V[l * inner + n]
                w[(1 + l) * k + 1 + n] = V[l * inner + n]
            total += own
            w[1 + l] = w[(1 + l) * k] = s * V[l]
            w[k + 1 + l] = w[(1 + l) * k + 1] = x * V[l] + own
        w[0] = s * s * V[0]
        w[1] = w[k] = s * (x * V[0] + first - score)
        w[k + 1] = x * (x * V[0] + 2 * first - score) + total


cdef class Sequential(Dispersed):
    """y_i = k where the row passes the stages 0, .., k - 1 and stops at k: P(y_i = k | y_i >= k) =
    F(c_{k+1} - eta_i), k = 0, .., K - 2 (Tutz 1991).

    c_1 = 0, as eta has an intercept, and c_{k+1} = c_k + u_k, u of either sign.  A stage adds
    log F(t) where a row stops, log(1 - F(t)) where it passes, t = c_{k+1} - eta.  With slopes s_k
    in t and curvatures w_k of the stages that a row reaches, scores are -sum_k s_k for eta and
    sum_{k >= l} s_k for u_l; curvatures are sums of w_k alike, as t is linear.

    Parameters
    ----------
    X, y, offset, weight, levels, link
        As in `Cumulative`.
    """

    cdef readonly int link

    nanoseconds = 50.0

    def __init__(self, Design X, y, offset=None, weight=None, Py_ssize_t levels=0, link="logit"):
        if not (2 <= levels <= LEVELS_AT_MOST and 0 <= np.min(y) and np.max(y) < levels):
            raise ValueError(f"outcomes must be 0, .., levels - 1 = {levels - 1}")
        Dispersed.__init__(self, X, y, offset, weight, levels - 2)
        self.link = CUMULATIVE_LINKS[link]

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, j, start = 0, stages = self.width
        cdef double value
        cdef Passage one
        if self.link == LOGIT:
            while start < m:
                logit_stages(stages, min(m - start, STAGES_AT_ONCE), y + start, eta + start, 1,
                             False, theta + self.X.d - 1, r + start * stages,
                             NULL if density == NULL else density + start)
                start += STAGES_AT_ONCE
            return OK
        for i in range(m):
            one = passed(self.link, stages, <Py_ssize_t> y[i], eta[i], NULL,
                         theta + self.X.d - 1, &value)
            r[i * stages] = -one.rest[0]
            for j in range(1, stages):
                r[i * stages + j] = one.rest[j]
            if density != NULL:
                density[i] = value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, stages = self.width
        cdef double value
        cdef Passage one
        for i in range(m):
            one = passed(self.link, stages, <Py_ssize_t> y[i], eta[i], NULL,
                         theta + self.X.d - 1, &value)
            join(stages, &one, w + i * stages * stages)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, stages = self.width
        cdef Passage one
        for i in range(m):
            one = expected(self.link, stages, eta[i], NULL, theta + self.X.d - 1)
            join(stages, &one, w + i * stages * stages)
        return OK


cdef class Staged(TwoDesignsModel):
    """The same where stages have predictors of their own: P(y_i = k | y_i >= k) = F(c_{k+1} - eta_i
    - zeta_ik), zeta_ik of stage k.

    Scores and curvatures by eta and u are those of `Sequential`; by zeta_ik they are those of the
    stage k alone.

    Parameters
    ----------
    X, y, offset, weight, predictor
        As in `TwoDesignsModel`; of the predictors the first is eta.
    levels, link
        As in `Cumulative`.
    """

    cdef readonly int link

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None, Py_ssize_t levels=2,
                 link="logit"):
        if not (2 <= levels <= LEVELS_AT_MOST and 0 <= np.min(y) and np.max(y) < levels):
            raise ValueError(f"outcomes must be 0, .., levels - 1 = {levels - 1}")
        TwoDesignsModel.__init__(self, X, y, offset, weight, predictor, levels - 2, levels)
        self.link = CUMULATIVE_LINKS[link]

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, j, start = 0, k = self.width, stages = self.parts - 1
        cdef double value
        cdef Passage one
        if self.link == LOGIT:
            while start < m:
                logit_stages(stages, min(m - start, STAGES_AT_ONCE), y + start, eta + start * k, k,
                             True, eta + stages, r + start * k,
                             NULL if density == NULL else density + start)
                start += STAGES_AT_ONCE
            return OK
        for i in range(m):
            one = passed(self.link, stages, <Py_ssize_t> y[i], eta[i * k], eta + i * k + 1,
                         eta + i * k + stages, &value)
            r[i * k] = -one.rest[0]
            for j in range(stages):
                r[i * k + 1 + j] = -one.slope[j]
            for j in range(1, stages):
                r[i * k + stages + j] = one.rest[j]
            if density != NULL:
                density[i] = value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width, stages = self.parts - 1
        cdef double value
        cdef Passage one
        for i in range(m):
            one = passed(self.link, stages, <Py_ssize_t> y[i], eta[i * k], eta + i * k + 1,
                         eta + i * k + stages, &value)
            join_stages(stages, &one, w + i * k * k)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width, stages = self.parts - 1
        cdef Passage one
        for i in range(m):
            one = expected(self.link, stages, eta[i * k], eta + i * k + 1, eta + i * k + stages)
            join_stages(stages, &one, w + i * k * k)
        return OK


cdef class DiscriminatingStages(TwoDesignsModel):
    """A `Sequential` whose thresholds and predictor are both multiplied by the discrimination
    exp(zeta_i), zeta_i = z_i . gamma: P(y_i = k | y_i >= k) = F(exp(zeta_i) (c_{k+1} - eta_i)).

    With t_k = exp(zeta) (c_{k+1} - eta), and slopes g_k and curvatures h_k in t_k of the stages
    that a row reaches, scores are -exp(zeta) sum_k g_k for eta, sum_k t_k g_k for zeta and
    exp(zeta) sum_{k >= l} g_k for u_l; of curvatures see `turned`.

    Parameters
    ----------
    X, y, offset, weight, predictor
        As in `TwoDesignsModel`.
    levels, link
        As in `Cumulative`.
    """

    cdef readonly int link

    def __init__(self, Design X, y, offset=None, weight=None, predictor=None, Py_ssize_t levels=2,
                 link="logit"):
        if not (2 <= levels <= LEVELS_AT_MOST and 0 <= np.min(y) and np.max(y) < levels):
            raise ValueError(f"outcomes must be 0, .., levels - 1 = {levels - 1}")
        TwoDesignsModel.__init__(self, X, y, offset, weight, predictor, levels - 2)
        self.link = CUMULATIVE_LINKS[link]

    cdef double scaled(self, const double *row, double *steps, double *t) noexcept nogil:
        """exp(zeta) of a row; steps times it, from the second stage on, and each t."""
        cdef Py_ssize_t l, stages = self.auxiliary + 1
        cdef double s = exp(fmin(fmax(row[1], -LARGEST_SCALE), LARGEST_SCALE)), cut = 0
        for l in range(stages):
            steps[l] = s * row[1 + l] if l > 0 else 0
            cut += steps[l]
            t[l] = cut - s * row[0]
        return s

    cdef int family(self, const double *theta, Py_ssize_t m, const double *eta, const double *y,
                    double *r, double *density) except -1 nogil:
        cdef Py_ssize_t i, l, k = self.width, stages = self.auxiliary + 1
        cdef double[LEVELS_AT_MOST] steps
        cdef double[LEVELS_AT_MOST] t
        cdef double s, value
        cdef Passage one
        for i in range(m):
            s = self.scaled(eta + k * i, steps, t)
            one = passed(self.link, stages, <Py_ssize_t> y[i], s * eta[k * i], NULL, steps, &value)
            r[k * i], r[k * i + 1] = -s * one.rest[0], 0
            for l in range(stages):
                r[k * i + 1] += one.slope[l] * t[l]
            for l in range(1, stages):
                r[k * i + 1 + l] = s * one.rest[l]
            if density != NULL:
                density[i] = value
        return OK

    cdef int observed_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width, stages = self.auxiliary + 1
        cdef double[LEVELS_AT_MOST] steps
        cdef double[LEVELS_AT_MOST] t
        cdef double s, value
        cdef Passage one
        for i in range(m):
            s = self.scaled(eta + k * i, steps, t)
            one = passed(self.link, stages, <Py_ssize_t> y[i], s * eta[k * i], NULL, steps, &value)
            self.turned(s, t, &one, w + k * k * i)
        return OK

    cdef int expected_information(self, const double *theta, Py_ssize_t m, const double *eta,
                                  const double *y, double *w) except -1 nogil:
        cdef Py_ssize_t i, k = self.width, stages = self.auxiliary + 1
        cdef double[LEVELS_AT_MOST] steps
        cdef double[LEVELS_AT_MOST] t
        cdef double s
        cdef Passage one
        for i in range(m):
            s = self.scaled(eta + k * i, steps, t)
            one = expected(self.link, stages, s * eta[k * i], NULL, steps)  # of slopes of mean zero
            self.turned(s, t, &one, w + k * k * i)
        return OK

    cdef void turned(self, double s, const double *t, const Passage *one, double *w) noexcept nogil:
        """J' H J of t by (eta, zeta, u), less slopes times second derivatives of t: those by zeta
        and another are the first derivatives by that one.
        """
        cdef Py_ssize_t l, n, k = self.width, stages = self.auxiliary + 1
        cdef double bent = 0.0  # sum of h t, less that of g, over this and later stages
        w[k + 1] = 0
        for l in range(stages - 1, -1, -1):
            bent += one.curve[l] * t[l] - one.slope[l]
            w[k + 1] += (one.curve[l] * t[l] - one.slope[l]) * t[l]
            if l > 0:
                w[1 + l] = w[(1 + l) * k] = -s * s * one.bend[l]
                w[k + 1 + l] = w[(1 + l) * k + 1] = s * bent
        w[0], w[1] = s * s * one.bend[0], -s * bent
        w[k] = w[1]
        for l in range(1, stages):
            for n in range(1, stages):
                w[(1 + l) * k + 1 + n] = s * s * one.bend[max(l, n)]


cdef struct Passage:
    # of a row, for each stage: slope and curvature in t, and their sums over this and later ones
    double[LEVELS_AT_MOST] slope
    double[LEVELS_AT_MOST] curve
    double[LEVELS_AT_MOST] rest
    double[LEVELS_AT_MOST] bend


cdef inline void add_up(Py_ssize_t stages, Passage *one) noexcept nogil:
    """The sums, from the last stage on."""
    cdef Py_ssize_t j
    cdef double slope = 0, curve = 0
    for j in range(stages - 1, -1, -1):
        slope += one.slope[j]
        curve += one.curve[j]
        one.rest[j], one.bend[j] = slope, curve


cdef Passage passed(int link, Py_ssize_t stages, Py_ssize_t y, double eta, const double *zeta,
                    const double *steps, double *value) noexcept nogil:
    """Of a row that stops at stage y, and the log of its probability; `zeta` may be NULL, and
    `steps` begins with a number that is not read.
    """
    cdef Passage one
    cdef Interval T
    cdef Py_ssize_t j
    cdef double cut = 0
    value[0] = 0
    for j in range(stages):
        one.slope[j] = one.curve[j] = 0
    for j in range(min(y + 1, stages)):
        cut += steps[j] if j > 0 else 0
        T = stage(link, cut - eta - (0 if zeta == NULL else zeta[j]), j == y)
        value[0] += T.value
        one.slope[j], one.curve[j] = T.both, T.above + T.below
    add_up(stages, &one)
    return one


cdef void logit_stages(Py_ssize_t stages, Py_ssize_t m, const double *y, const double *eta,
                       Py_ssize_t width, bint own, const double *steps, double *r,
                       double *density) noexcept nogil:
    """Scores and log densities of up to STAGES_AT_ONCE rows by the logistic function, from the last
    stage on: the formulas of `passed`, exponentials and logarithms row beside row.

    `eta` and `r` have `width` numbers a row; where stages have predictors of their own, these stand
    behind the first one, and scores by them before those by steps, else `r` has one a stage.
    """
    cdef Py_ssize_t i, j, last = 0, size = 2 * stages if own else stages
    cdef double cut = 0
    cdef double[STAGES_AT_ONCE] stops
    cdef double[STAGES_AT_ONCE] t
    cdef double[STAGES_AT_ONCE] odds
    cdef double[STAGES_AT_ONCE] slope
    cdef double[STAGES_AT_ONCE] rest
    cdef double[STAGES_AT_ONCE] linear
    cdef double[STAGES_AT_ONCE] product           # of at most 2 a stage
    for i in range(m):
        rest[i] = linear[i] = 0
        product[i] = 1
        last = max(last, <Py_ssize_t> y[i])
    last = min(last, stages - 1)
    memset(r, 0, m * size * sizeof(double))
    for j in range(1, last + 1):
        cut += steps[j]
    for j in range(last, -1, -1):
        for i in range(m):
            t[i] = cut - eta[i * width]
        for i in range(m if own else 0):
            t[i] -= eta[i * width + 1 + j]
        for i in range(m):  # rows that do not come so far pass for certain
            stops[i] = 1 if y[i] == j else 0
            t[i] = t[i] if y[i] >= j else -SURE_ODDS
        simd.logit_terms(m, t, stops, slope, odds)
        for i in range(m):
            linear[i] += t[i]
            product[i] *= odds[i]
            rest[i] += slope[i]
        for i in range(m if own else 0):
            r[i * size + 1 + j] = -slope[i]
        for i in range(m if j else 0):
            r[i * size + (stages if own else 0) + j] = rest[i]
        cut -= steps[j] if j > 0 else 0
    for i in range(m):
        r[i * size] = -rest[i]
    if density != NULL:
        memset(density, 0, m * sizeof(double))
        simd.logit_sums(m, 1, linear, product, density)


cdef Passage expected(int link, Py_ssize_t stages, double eta, const double *zeta,
                      const double *steps) noexcept nogil:
    """Means of curvatures, which are those of squared slopes, over where a row may stop."""
    cdef Passage one
    cdef Interval S, P
    cdef Py_ssize_t j
    cdef double cut = 0, reached = 1, t, passes
    for j in range(stages):
        cut += steps[j] if j > 0 else 0
        t = cut - eta - (0 if zeta == NULL else zeta[j])
        S, P = stage(link, t, True), stage(link, t, False)
        passes = exp(P.value)
        one.slope[j] = 0
        one.curve[j] = reached * (exp(S.value) * S.both ** 2 + passes * P.both ** 2)
        reached *= passes
    add_up(stages, &one)
    return one


cdef void join(Py_ssize_t stages, const Passage *one, double *w) noexcept nogil:
    """Curvatures of a row by eta and steps: t of a stage falls with eta, and rises with all steps
    up to it.
    """
    cdef Py_ssize_t k, l
    w[0] = one.bend[0]
    for k in range(1, stages):
        w[k] = w[k * stages] = -one.bend[k]
        for l in range(1, stages):
            w[k * stages + l] = one.bend[max(k, l)]


cdef void join_stages(Py_ssize_t stages, const Passage *one, double *w) noexcept nogil:
    """The same by eta, each zeta, and steps."""
    cdef Py_ssize_t k, l, width = 2 * stages, first = stages
    cdef double by_step
    memset(w, 0, width * width * sizeof(double))
    w[0] = one.bend[0]
    for k in range(stages):
        w[1 + k] = w[(1 + k) * width] = w[(1 + k) * width + 1 + k] = one.curve[k]
        for l in range(1, stages):
            by_step = -one.curve[k] if l <= k else 0
            w[(1 + k) * width + first + l] = w[(first + l) * width + 1 + k] = by_step
    for k in range(1, stages):
        w[first + k] = w[(first + k) * width] = -one.bend[k]
        for l in range(1, stages):
            w[(first + k) * width + first + l] = one.bend[max(k, l)]


cdef struct Logistic:
    # F(t), F(-t) and log F(t), F the logistic function
    double below
    double above
    double log


cdef inline Logistic logistic(double t) noexcept nogil:
    """By a single exponential."""
    cdef double e = exp(-fabs(t))
    return logistic_by(t, e, log1p(e))


cdef inline Logistic logistic_by(double t, double e, double log_one) noexcept nogil:
    """The same where e = exp(-|t|) and log(1 + e) are known."""
    cdef Logistic F
    cdef double near = 1 / (1 + e), far = e * near
    F.below, F.above = (near, far) if t > 0 else (far, near)
    F.log = -log_one if t > 0 else t - log_one
    return F


cdef inline Interval stage(int link, double t, bint stops) noexcept nogil:
    """Of log F(t) where a row stops, else of log(1 - F(t)): both ends of `Interval` are t."""
    cdef Interval T
    cdef Logistic F
    if link == LOGIT:  # a single exponential, where an interval has one for each end
        F = logistic(t if stops else -t)
        T.value, T.both = F.log, F.above if stops else -F.above
        T.above, T.below, T.upper, T.curve = F.below * F.above, 0, 0, 0
        return T
    if link == PROBIT:
        return by_probit(t, t, 0, stops, not stops)
    return by_cloglog(t, t, 0, stops, not stops)


cdef inline void slopes(const Interval *T, Py_ssize_t j, Py_ssize_t width, const double *gap,
                        double *r) noexcept nogil:
    """Scores of level j by eta and the logs of the gaps."""
    cdef Py_ssize_t l
    r[0] = -T.both
    for l in range(1, width):
        r[l] = gap[l] * T.both if l < j else gap[l] * T.upper if l == j else 0


cdef inline Interval by_logit(Logistic A, Logistic B, double h, double width, bint first,
                              bint last) noexcept nogil:
    """F(a) - F(b) = F(a) F(-b) (1 - exp(-gap)) with F the logistic function, A and B that at a and
    -b; an end at infinity drops out with its factor.  h and `width` are those of `Cuts`.
    """
    cdef Interval T
    T.value = (0 if last else A.log) + (0 if first else B.log)
    T.above = 0 if last else A.below * A.above
    T.below = 0 if first else B.below * B.above
    T.both = (0 if last else A.above) - (0 if first else B.above)
    T.upper = 0 if last else A.above + h
    T.curve = T.above + h * (1 + h)
    T.value += width
    return T


cdef void logit_intervals(Py_ssize_t width, Py_ssize_t m, const double *y, const double *eta,
                          const Cuts *at, double *r, double *density) noexcept nogil:
    """Scores and log densities of up to STAGES_AT_ONCE rows by the logistic function."""
    cdef Py_ssize_t i, j
    cdef double[2 * STAGES_AT_ONCE] t, e, logs
    cdef Interval T
    for i in range(m):
        j = <Py_ssize_t> y[i]
        t[2 * i] = at.cut[j] - eta[i] if j < width else 0
        t[2 * i + 1] = eta[i] - at.cut[j - 1] if j > 0 else 0
    for i in range(2 * m):
        e[i] = -fabs(t[i])
    simd.exponential(2 * m, e, e)
    simd.log1p_unit(2 * m, e, logs)
    for i in range(m):
        j = <Py_ssize_t> y[i]
        T = by_logit(logistic_by(t[2 * i], e[2 * i], logs[2 * i]),
                     logistic_by(t[2 * i + 1], e[2 * i + 1], logs[2 * i + 1]),
                     at.hazard[j], at.log[j], j == 0, j == width)
        slopes(&T, j, width, at.gap, r + i * width)
        if density != NULL:
            density[i] = T.value


cdef inline double mills(double t) noexcept nogil:
    """phi(t) / Phi(-t), which is about t where t is large."""
    return exp(-0.5 * t * t - HALF_LOG_2PI - log_ndtr(-t)) if t < NORMAL_TAIL else t + 1 / t


cdef Interval by_probit(double a, double b, double gap, bint first, bint last) noexcept nogil:
    """With the normal distribution function: by its tail that is the nearer one, and by a series
    around the middle of a short interval.
    """
    cdef Interval T
    cdef double A, B, high, low, near, fall, middle = 0.5 * (a + b)
    if not (first or last) and gap * (1 + fabs(middle)) < SHORTEST_DIRECT:
        return short_interval(middle, gap)
    if first or last:
        T.value = log_ndtr(a) if first else log_ndtr(-b)
        A, B = mills(-a) if first else 0, 0 if first else mills(b)
    else:
        high, low = (a, b) if middle <= 0 else (-b, -a)
        near = log_ndtr(high)
        fall = log_ndtr(low) - near
        T.value = near + log1p(-exp(fall))
        A, B = mills(-high) / -expm1(fall), mills(-low) / expm1(-fall)
        A, B = (A, B) if middle <= 0 else (B, A)
    T.upper, T.both = A, A - B
    T.curve = A * (A + a)
    T.above = A * (T.both + a)
    T.below = -B * (T.both + b)
    return T


cdef Interval short_interval(double m, double g) noexcept nogil:
    """log(Phi(m + g/2) - Phi(m - g/2)) = log phi(m) + log g + (m^2 - 1) g^2 / 24
    - (m^4 + 4 m^2 - 2) g^4 / 2880 + O(g^6), and its derivatives.
    """
    cdef Interval T
    cdef double s = m * m, g2 = g * g, bend
    cdef double quartic = s * s + 4 * s - 2, cubic = (4 * s + 8) * m
    cdef double by_middle = m * (g2 / 12 - 1) - cubic * g2 * g2 / 2880
    cdef double twice = 1 - g2 / 12 + (12 * s + 8) * g2 * g2 / 2880   # minus the derivative
    cdef double mixed = m * g / 6 - cubic * g2 * g / 720
    T.value = (-0.5 * s - HALF_LOG_2PI + log(g) + (s - 1) * g2 / 24 - quartic * g2 * g2 / 2880)
    T.both = by_middle
    T.upper = 0.5 * by_middle + 1 / g + (s - 1) * g / 12 - quartic * g2 * g / 720
    bend = 1 / g2 - (s - 1) / 12 + quartic * g2 / 240
    T.curve = 0.25 * twice - mixed + bend
    T.above = 0.5 * twice - mixed
    T.below = 0.5 * twice + mixed
    return T


cdef Interval by_cloglog(double a, double b, double gap, bint first, bint last) noexcept nogil:
    """With F(z) = 1 - exp(-exp(z)): F(a) - F(b) = exp(-l) (1 - exp(-D)), l = exp(b), D = exp(a) -
    l; with h = 1 / (exp(D) - 1) slopes exp(a) h in a, D h - l in both.
    """
    cdef Interval T
    cdef double l = 0 if first else exp(fmin(fmax(b, -LARGEST_Z), LARGEST_Z))
    cdef double top = 0 if last else exp(fmin(fmax(a, -LARGEST_Z), LARGEST_Z))
    cdef double D, h, k
    if last:
        T.value, T.upper, T.both, T.curve, T.above, T.below = -l, 0, -l, 0, 0, l
        return T
    D = fmax(top if first else l * expm1(fmin(gap, LARGEST_Z)), exp(-LARGEST_Z))
    h = 1 / expm1(D)
    # h (D (1 + h) - 1): the difference by its series where it would lose its digits
    k = h * (D * (0.5 + D * (1.0 / 12 - D * D / 720)) if D < SHORTEST_DIRECT else D * (1 + h) - 1)
    k = 0 if h == 0 else k
    T.value = log(-expm1(-D)) - l
    T.upper = top * h
    T.both = D * h - l
    T.above = top * k
    T.below = 0 if first else l * (1 - k)
    T.curve = top * (k + l * h * (1 + h))
    return T
