#!/usr/bin/env python3
"""DuckDB's part of aggregate_bench.sh: the same SQL on the same rows, in memory.

duckdb_aggregates.py EVEN.csv ODD.csv REPS QUERY: the query's median milliseconds with
one thread and with two, as "MS,MS"; its result goes to a table that is
thrown away.
"""
import statistics
import sys
import time

import duckdb

even, odd, reps, query = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
table, path = ("even", even) if " even" in query else ("odd", odd)
result = []
for threads in (1, 2):
    db = duckdb.connect(config={"threads": threads})
    db.execute(f"CREATE TABLE {table} AS SELECT * FROM read_csv('{path}', header = true)")
    for column, kind in db.execute(f"SELECT column_name, data_type FROM duckdb_columns() WHERE table_name = '{table}'").fetchall():
        if kind == "BIGINT":
            db.execute(f"ALTER TABLE {table} ALTER {column} TYPE INTEGER")
    times = []
    for _ in range(reps + 1):
        since = time.perf_counter()
        db.execute(f"CREATE OR REPLACE TEMP TABLE result AS {query}")
        times.append(1000 * (time.perf_counter() - since))
    # The first is for warming up.
    result.append(f"{statistics.median(times[1:]):.2f}")
    db.close()
print(",".join(result))
