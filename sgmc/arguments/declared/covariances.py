"""Keywords of the covariance of draws: rows of the table in `sgmc.arguments.declared.keywords`."""

from sgmc.arguments.declared.parameter import Keyword
from sgmc.errors import ArgumentError

COV_TYPES = ("nonrobust", "robust", "HC3", "cluster")
COVARIANCES = (
    Keyword(
        "groups",
        None,
        """Clusters of rows for ``cov_type="cluster"``, as a column name or labels.  The dot does
        not stand for this column.""",
        "str or array (n,)",
        "_Column",
        ("formula", "arrays"),
        str,
    ),
    Keyword(
        "cov_type",
        "nonrobust",
        """Covariance of the draws: the posterior's, or a sandwich's.  ``"robust"``: draws around
        the mode with covariance H^-1 (V + P) H^-1 (HC0 for many rows): H the curvature of the log
        posterior, P the prior's part, V the covariance of the rows' scores.  For independent rows
        whose spread the model has wrong, such as overdispersed counts.  ``"HC3"``: scores are
        divided by one less the row's leverage, for few rows.  ``"cluster"``: V is of sums of
        scores by `groups`, for rows that depend on others of their group.  Draws are independent by
        default.  The summary shows the model's own sds beside it.  Not for samplers that accept or
        reject.""",
        '{"nonrobust", "robust", "HC3", "cluster"}',
        'Literal["nonrobust", "robust", "HC3", "cluster"]',
        ("regression",),
        str,
    ),
)


def check_covariance_of(groups: object, cov_type: str) -> None:
    """ArgumentError where clusters are missing, or have no meaning."""
    if groups is None and cov_type == "cluster":
        raise ArgumentError(
            "cov_type='cluster' needs groups=, the name of a column or a label for each row"
        )
    if groups is not None and cov_type != "cluster":
        raise ArgumentError(
            f"groups does not apply to cov_type={cov_type!r}; give cov_type='cluster'"
        )
