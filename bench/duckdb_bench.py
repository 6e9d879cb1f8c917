#!/usr/bin/env python3
"""DuckDB on the columns of sql_bench.sh: a column store as a further peer.

duckdb_bench.py ROWS REPS: CSV like sql.csv's, without a ratio, on standard
output.  DuckDB reads its own in-memory table: no executor, no tuples, no
visibility; what it takes is a bound on what a row store's ORDER BY could.
"""
import statistics
import sys
import time

import duckdb

rows, reps = int(sys.argv[1]), int(sys.argv[2])
print("case,workers,contender,reps,median_ms,min_ms,max_ms")
for threads in (1, 2):
    db = duckdb.connect(config={"threads": threads})
    db.execute(f"""CREATE TABLE t AS SELECT (hash(i) % 1000)::INT AS x, (hash(i + 1) % 1000000)::INT AS y,
        ((hash(i + 2) % 4294967296)::BIGINT - 2147483648)::INT AS z FROM range({rows}) r(i)""")
    queries = {"sum(x)": "SELECT sum(x) FROM t"}
    for column in "xyz":
        queries[f"ordered array of {column}"] = f"SELECT len(list({column} ORDER BY {column})) FROM t"
        queries[f"ordered set of {column}"] = f"SELECT max({column}) FROM (SELECT {column} FROM t ORDER BY {column}) s"
    queries["percentile of x"] = "SELECT quantile_disc(x, 0.5) FROM t"
    for name, query in queries.items():
        times = []
        for _ in range(reps + 1):
            since = time.perf_counter()
            db.execute(query).fetchall()
            times.append(1000 * (time.perf_counter() - since))
        times = times[1:]
        print(f"{name},{threads - 1},DuckDB {duckdb.__version__},{reps},"
              f"{statistics.median(times):.2f},{min(times):.2f},{max(times):.2f}")
    db.close()
