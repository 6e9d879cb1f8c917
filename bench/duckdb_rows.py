#!/usr/bin/env python3
"""DuckDB on the rows of order_bench.sh, as a further peer of rows in order.

duckdb_rows.py ROWS REPS: CSV on standard output, milliseconds of SELECT * ... ORDER BY,
the whole result made in DuckDB's memory and not converted to Python; and of the same
without ORDER BY, which says what making a result of all rows takes (execute() alone stops at
the first rows).  The rows are those of the table narrow but for other hashes: a column
store's, without visibility.  DuckDB 2.0 or later.
"""
import statistics
import sys
import time

import duckdb

rows, reps = int(sys.argv[1]), int(sys.argv[2])
print("rows,threads,query,contender,reps,median_ms,min_ms,max_ms")
for threads in (1, 2):
    db = duckdb.connect(config={"threads": threads})
    db.execute(f"""CREATE TABLE narrow AS SELECT i::INT AS id, hash(i) % 2 = 1 AS flag, (hash(i) % 1000)::INT AS x,
        (hash(i + 1) % 1000000)::INT AS y, ((hash(i + 2) % 4294967296)::BIGINT - 2147483648)::INT AS z,
        'row ' || i AS label, (hash(i + 3) >> 1)::BIGINT AS big FROM range({rows}) r(i)""")
    for query in ("SELECT * FROM narrow", "SELECT * FROM narrow ORDER BY x", "SELECT * FROM narrow ORDER BY y"):
        times = []
        for _ in range(reps + 1):
            since = time.perf_counter()
            result = db.sql(query).materialize()
            times.append(1000 * (time.perf_counter() - since))
            del result
        times = times[1:]
        print(f"{rows},{threads},{query},DuckDB {duckdb.__version__},{reps},"
              f"{statistics.median(times):.2f},{min(times):.2f},{max(times):.2f}", flush=True)
    db.close()
