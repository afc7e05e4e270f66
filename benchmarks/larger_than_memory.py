"""A recipe on a table that does not fit into memory, beside DuckDB shuffling and writing the same file.

    python -m benchmarks.larger_than_memory 20000000 2GB

Each side is a process of its own; CPU seconds, wall seconds and peak memory are those of the process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import duckdb

from sudare.keys import Key

TABLE = """
COPY (
    SELECT 'p' || (i * 7919 % 20000003) AS person, (i * 31 % 90)::INTEGER AS age,
           CASE WHEN i % 2 = 0 THEN 'f' ELSE 'm' END AS sex, (10000 + (i * 17) % 500)::VARCHAR AS zip,
           'country ' || (i % 40) AS country, DATE '2020-01-01' + ((i * 13) % 1500)::INTEGER AS visit,
           'edu ' || (i % 12) AS education, hash(i) % 10000000 / 100 AS income, (hash(i, 1) % 1000)::INTEGER AS score,
           'd' || ((i * 101) % 60) AS diagnosis
    FROM range({rows}) t(i)
) TO '{path}' (FORMAT parquet)
"""
RECIPE = """
[[step]]
method = "pseudonymize"

[[step]]
method = "generalize"
column = "visit"
level = 2

[[step]]
method = "round"
column = "income"
to = 100

[[step]]
method = "noise"
columns = ["score"]
sd = 0.1

[[step]]
method = "randomized-addition"
l = 3
column = "diagnosis"
"""
BARE = """
import duckdb
duckdb.sql("SET memory_limit = '{memory}'; SET temp_directory = '{folder}/spill'")
table = "SELECT * FROM '{folder}/table.parquet' ORDER BY hash(person, visit, score)"
duckdb.sql(f"COPY ({{table}}) TO '{folder}/bare.parquet'")
"""


def measured(command: list[str], **variables: str) -> dict[str, Any]:
    """What a process takes."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, env={**os.environ, **variables}, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"{command[0]} ended with {status}")
    return {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 1),
        "wall_s": round(time.perf_counter() - begin, 1),
        "peak_gb": round(usage.ru_maxrss / 2**20, 2),
    }


def compared(rows: int, memory: str) -> dict[str, Any]:
    """sudare's recipe and DuckDB's shuffle, one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        duckdb.sql(TABLE.format(rows=rows, path=folder / "table.parquet"))
        (folder / "recipe.toml").write_text(RECIPE)
        (folder / "keys").mkdir()
        Key.new().save(folder / "keys" / "my.key")
        roles = "--user person --quasi age,sex,zip,country,visit,education --sensitive income,score,diagnosis"
        call = f"anonymize {folder}/table.parquet {roles} --recipe {folder}/recipe.toml --key {folder}/keys/my.key"
        call += f" -o {folder}/out.parquet --truth {folder}/truth.parquet"
        ours = measured([sys.executable, "-m", "sudare.cli.main", *call.split()], SUDARE_MEMORY=memory)
        bare = measured([sys.executable, "-c", BARE.format(memory=memory, folder=folder)])
    return {"rows": rows, "memory": memory, "sudare": ours, "duckdb": bare}


if __name__ == "__main__":
    size, limit = (sys.argv[1:] + ["20000000", "2GB"][len(sys.argv) - 1 :])[:2]
    print(json.dumps(compared(int(size), limit), indent=2))
