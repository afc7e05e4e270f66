"""The risk of an attribute (P1): pure functions of a profile, exact up to the last rounding."""

from __future__ import annotations

from math import fsum, sqrt

from sudare.engine.profile import Profile


def alpha(profile: Profile) -> float:
    """alpha_X, the mean over the values of their records per user (P1, Def. 4).

    >>> round(alpha(Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)])), 4)
    2.1667
    """
    return _alpha_total(profile) / profile.values


def uniform_risk(profile: Profile) -> float:
    """R(X), the mean over the records of 1/|U_x| = alpha_X |D_X| / m (P1, Def. 5 and 6).

    >>> uniform_risk(Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)]))
    0.65
    """
    return _alpha_total(profile) / profile.records


def proportional_risk(profile: Profile) -> float:
    """The risk when the attacker guesses each owner of x in proportion to their records with x.

    Sum over users and values of |R_ux|^2 / (|R_x| m); never below the uniform attacker's.

    >>> proportional_risk(Profile.of([(4, 2, 1)], squares=[(4, 10, 1)]))
    0.625
    """
    if profile.squares is None:
        raise ValueError("the profile was measured without the squares of the users' records")
    return fsum(squares / records * count for records, squares, count in profile.squares) / profile.records


def bayes_risk(profile: Profile) -> float:
    """The risk when the attacker always names the owner of x with most records: sum of max_u |R_ux| / m.

    >>> bayes_risk(Profile.of([(4, 2, 1)], largest=3))
    0.75
    """
    if profile.largest is None:
        raise ValueError("the profile was measured without the largest owner of each value")
    return profile.largest / profile.records


def wrong_risk(profile: Profile, luck: float, q: float) -> float:
    """The risk when another value is seen with probability q, and believed.

    (1-q) R, plus q times the chance that the owner of x happens to own the wrong value z, over |U_z|: `luck` sums the
    records of z's owners with other values, over |U_z|.

    >>> round(wrong_risk(Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)]), 0.0, 0.1), 4)
    0.585
    """
    right = uniform_risk(profile)
    if profile.values == 1:
        return right
    return (1 - q) * right + q * luck / ((profile.values - 1) * profile.records)


ATTACKERS = {"uniform": uniform_risk, "proportional": proportional_risk, "bayes": bayes_risk}


def low_cost(values: int, records: int) -> float:
    """|D_X|/m, the low-cost model (P1, Def. 7): a lower bound of R(X), as no alpha_x is below 1.

    >>> low_cost(3, 10)
    0.3
    """
    return values / records


def low_cost_error(mean_alpha: float) -> float:
    """The low-cost model's relative error, 1 - 1/alpha_X (P1, Thm 1).

    >>> round(low_cost_error(13 / 6), 4)
    0.5385
    """
    return abs(1.0 - 1.0 / mean_alpha)


def bounds(values: int, records: int, users: int) -> tuple[float, float]:
    """Where R(X) must lie: from max(1/n, |D_X|/m) to 1.

    >>> bounds(3, 10, 3)
    (0.3333333333333333, 1.0)
    """
    return max(1 / users, values / records), 1.0


def alpha_sd(profile: Profile, *, ddof: int = 0) -> float:
    """The standard deviation of alpha_x over the values of an attribute.

    >>> round(alpha_sd(Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)])), 4)
    0.6236
    """
    mean, freedom = alpha(profile), profile.values - ddof
    if freedom <= 0:
        return 0.0
    return sqrt(
        fsum((records / users - mean) ** 2 * count for records, users, count in profile.pairs) / freedom
    )


def one_value_error(profile: Profile) -> float:
    """How far the risk from one sampled value is from R(X), in the mean over the values (P1, Table 7).

    >>> round(one_value_error(Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)])), 4)
    0.1667
    """
    scale, exact = profile.values / profile.records, uniform_risk(profile)
    apart = (abs(records / users * scale - exact) * count for records, users, count in profile.pairs)
    return fsum(apart) / profile.values


def _alpha_total(profile: Profile) -> float:
    return fsum(records / users * count for records, users, count in profile.pairs)
