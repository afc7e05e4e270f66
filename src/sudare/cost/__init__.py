"""What k-anonymity by dummy records costs: before processing (P3's estimates and a right one) and after."""

from sudare.cost.clusterings import dummies, expected_dummies_exact
from sudare.cost.distinct import expected_distinct, pr_distinct, variance_distinct
from sudare.cost.estimates import best_clusters, best_k, expected_dummies, normaliser, score

__all__ = [
    "best_clusters",
    "best_k",
    "dummies",
    "expected_distinct",
    "expected_dummies",
    "expected_dummies_exact",
    "normaliser",
    "pr_distinct",
    "score",
    "variance_distinct",
]
