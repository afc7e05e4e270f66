from fractions import Fraction

import pytest

from sudare.engine.profile import Profile
from sudare.risk import formulas

DATE = Profile.of([(4, 2, 1), (3, 2, 1), (3, 1, 1)])


def test_risk_is_alpha_times_values_over_records():
    assert formulas.alpha(DATE) == pytest.approx(float(Fraction(13, 6)), abs=1e-15)
    assert formulas.uniform_risk(DATE) == 0.65
    assert formulas.alpha(DATE) * DATE.values / DATE.records == pytest.approx(0.65, abs=1e-15)


def test_equal_entries_of_a_profile_are_added_up_whatever_their_order():
    assert Profile.of([(3, 1, 1), (2, 2, 1), (3, 1, 4)]).pairs == ((2, 2, 1), (3, 1, 5))


def test_low_cost_error_is_the_relative_error_of_the_low_cost_model():
    low = formulas.low_cost(DATE.values, DATE.records)
    exact = formulas.uniform_risk(DATE)
    assert formulas.low_cost_error(formulas.alpha(DATE)) == pytest.approx((exact - low) / exact)


def test_bounds_hold_the_risk():
    low, high = formulas.bounds(DATE.values, DATE.records, 3)
    assert low <= formulas.uniform_risk(DATE) <= high


def test_an_attacker_without_its_counts_is_refused():
    with pytest.raises(ValueError, match="squares"):
        formulas.proportional_risk(DATE)
    with pytest.raises(ValueError, match="largest"):
        formulas.bayes_risk(DATE)


def test_stronger_attackers_by_hand():
    """Two values: of 4 records 3 + 1, of 6 records 2 + 2 + 2."""
    both = Profile.of([(4, 2, 1), (6, 3, 1)], squares=[(4, 10, 1), (6, 12, 1)], largest=5)
    assert formulas.proportional_risk(both) == pytest.approx((10 / 4 + 12 / 6) / 10)
    assert formulas.bayes_risk(both) == 0.5
    twice = Profile.of([(4, 2, 3)], squares=[(4, 10, 3)])
    assert formulas.proportional_risk(twice) == pytest.approx(0.625)


def test_spread_of_alpha_by_hand():
    """alpha of the three dates: 2, 3/2, 3."""
    assert formulas.alpha_sd(DATE) ** 2 == pytest.approx(float(Fraction(7, 18)))
    assert formulas.alpha_sd(DATE, ddof=1) ** 2 == pytest.approx(float(Fraction(7, 12)))
    assert formulas.alpha_sd(Profile.of([(4, 2, 1)]), ddof=1) == 0.0
    assert formulas.alpha_sd(Profile.of([(4, 2, 1), (3, 1, 1)]), ddof=1) ** 2 == pytest.approx(0.5)
    assert formulas.alpha_sd(Profile.of([(4, 2, 2), (3, 1, 2)])) == pytest.approx(0.5)


def test_alpha_counts_every_value():
    assert formulas.alpha(Profile.of([(4, 2, 3), (3, 1, 1)])) == pytest.approx((3 * 2 + 3) / 4)
