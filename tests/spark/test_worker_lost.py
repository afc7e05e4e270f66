"""A worker that dies in the middle of a job changes nothing but the time."""

from __future__ import annotations

import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sudare

pytestmark = pytest.mark.spark
ROWS = 50_000


@pytest.fixture(scope="module")
def visits(tmp_path_factory):
    folder, draw = tmp_path_factory.mktemp("visits"), np.random.default_rng(2)
    for part in range(12):
        rows = 50_000
        columns = {
            "user": draw.zipf(1.3, rows) % 9973,
            "place": draw.zipf(1.2, rows) % 4001,
            "hour": draw.integers(0, 24, rows),
        }
        pq.write_table(pa.table(columns), folder / f"{part:02}.parquet")
    return folder


@pytest.mark.fault(46, "a Spark worker killed during a job: the job finishes with the same result")
def test_a_worker_killed_in_the_middle_of_a_job_changes_nothing(spark, spark_cluster, visits):
    expected = sudare.risk(sudare.open(f"{visits}/*.parquet", user="user"), combine=2)
    ds = sudare.open(spark.read.parquet(str(visits)), user="user")
    found, job = [], threading.Thread(target=lambda: found.append(sudare.risk(ds, combine=2)))
    job.start()
    _wait_for_running_tasks(spark)
    assert job.is_alive()
    spark_cluster.workers[0].kill()
    job.join(150)
    assert found, "the job did not finish"
    assert [dict(row) for row in found[0].rows] == [dict(row) for row in expected.rows]
    assert found[0].profiles == expected.profiles
    spark_cluster.add_workers(1)


def _wait_for_running_tasks(spark, seconds=60):
    tracker, end = spark.sparkContext.statusTracker(), time.monotonic() + seconds
    while time.monotonic() < end:
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        if any(stage and stage.numActiveTasks and stage.numTasks > 1 for stage in stages):
            return
        time.sleep(0.02)
