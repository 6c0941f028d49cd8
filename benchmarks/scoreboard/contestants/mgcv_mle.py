"""mgcv's gam in R by REML: the same penalties, estimated smoothing parameters, and standard errors
that include their uncertainty (Wood, Pya & Saefken 2016).  Walks are Markov random fields over a
line of neighbours.  Of the coefficients that of z is scored: others have another centre.
"""

from contestants import NotExpressible
from contestants.by_r import runner

PACKAGES, KIND, LABEL = [], "floor", "mgcv"
LENGTHS = [0]
FAMILIES = {"ols": "gaussian()", "logit": "binomial()", "poisson": "poisson()"}
CURVE = "s(x, bs='cr', k=10)"
AREAS = "s({c}, bs='mrf', xt=list(nb=nb))"
# values and their standard errors, as differences from the mean over the rows or the levels
AFTER = """
V <- vcov(f, unconditional=TRUE); at <- c({at})
here <- d[rep(1, length(at)),]; here${c} <- {as}(at)
mean <- {mean}
L <- predict(f, here, type="lpmatrix")
M <- colMeans(predict(f, mean, type="lpmatrix"))
own <- grepl("{c}", names(coef(f)), fixed=TRUE)
L <- sweep(L, 2, M); L[, !own] <- 0
k <- match("z", names(coef(f)))
b <- c(coef(f)[k], L %*% coef(f)); e <- sqrt(c(V[k, k], rowSums((L %*% V) * L)))
"""


def neighbours(term, levels):
    """In R: a list by level."""
    graph = term.graph or {k: [j for j in (k - 1, k + 1) if 0 <= j < levels] for k in range(levels)}
    lists = (f"'{k}'=c({','.join(repr(str(j)) for j in near)})" for k, near in graph.items())
    return f"nb <- list({', '.join(lists)})"


def prepare(problem):
    """Models with one term that is a smooth or structured."""
    if not problem.terms:
        raise NotExpressible("models with smooths and structured terms alone are given to it")
    [term] = problem.terms
    column, at = term.column, ", ".join(map(str, term.at))
    if term.kind == "s":
        smooth, before, kind, mean = CURVE, "", "as.numeric", "d"
    else:
        smooth = AREAS.format(c=column)
        before = neighbours(term, problem.codes(column)[1])
        before += f"\nd${column} <- factor(d${column}, levels=names(nb))"
        kind = f"(function(v) factor(v, levels=levels(d${column})))"
        every = f"d[match(levels(d${column}), d${column}),]"
        mean = "d" if term.kind == "rw1" else every
    offset = f" + offset(log({problem.exposure}))" if problem.exposure else ""
    call = f"gam(y ~ z + {smooth}{offset}, {FAMILIES[problem.family]}, d, method='REML')"
    after = AFTER.format(c=column, at=at, mean=mean, **{"as": kind})
    names = ["z", *term.names]
    return runner(problem, names, package="mgcv", call=call, before=before, after=after)
