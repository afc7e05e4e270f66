import pytest

import sudare
from sudare import charts
from sudare.errors import UsageError
from sudare.risk import charts as pictures
from sudare.risk.measure import risk


@pytest.fixture(scope="module")
def purchases():
    return sudare.open("example:purchases", user="user")


@pytest.fixture(scope="module")
def result(purchases):
    return risk(purchases, combine=2)


def test_every_chart_becomes_a_picture(purchases, result):
    drawn = [
        result.chart(threshold=0.5),
        pictures.models_bars([risk(purchases, model=m) for m in ("exact", "low-cost", "sample")]),
        pictures.risk_bars(risk(purchases, model="sample")),
        pictures.risk_bars(risk(purchases, release=purchases, truth=list(range(10)))),
        pictures.alpha_histogram(result, "date"),
        pictures.records_and_users(result, "date"),
        pictures.error_and_cost(result, "date"),
        pictures.sampled_means(result, "date", sample_size=2, draws=50),
        pictures.pair_heatmap(result),
    ]
    for chart in drawn:
        assert charts.svg(chart).startswith("<svg")


def test_the_lines_of_the_scatter_have_the_slopes_of_the_models(result):
    spec = pictures.records_and_users(result, "date").to_dict()
    lines = spec["layer"][1]["data"]["values"]
    assert [p["records"] / p["users"] for p in lines if p["users"]] == pytest.approx([13 / 6, 1.0])


def test_without_pairs_there_is_no_heat_map(purchases):
    with pytest.raises(UsageError, match="combine=2"):
        pictures.pair_heatmap(risk(purchases))
