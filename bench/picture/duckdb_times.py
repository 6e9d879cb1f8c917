#!/usr/bin/env python3
"""DuckDB's part of measure.sh: the same rows, one thread, tables in memory.

duckdb_times.py ROWS LOOPS: the name of this DuckDB on the first line, and for each
query and loop a line of query, answer and milliseconds, with tabs between them.
"""
import sys
import time

import duckdb

rows, loops = int(sys.argv[1]), int(sys.argv[2])
db = duckdb.connect(config={"threads": 1})
db.execute(f"""
    CREATE TABLE t AS
    SELECT i::INT AS id, (xor(h, h >> 15) % 1000000)::INT AS y, 'row ' || i AS label, 3 * i AS amount
    FROM (SELECT i, xor(h, h >> 13) * 1812433253 % 2147483648 AS h
          FROM (SELECT i, (i * 1103515245 + 12345) % 2147483648 AS h FROM range(1, {rows + 1}) r(i)))""")

# The last row of all, so that every row is sorted and none is sent.
queries = {
    "order": f"SELECT * FROM t ORDER BY y LIMIT 1 OFFSET {rows - 1}",
    "percentile": "SELECT quantile_disc(y, 0.5) FROM t",
    "array": "SELECT len(a), a[1], a[1 + len(a) // 3] FROM (SELECT list(y ORDER BY y) AS a FROM t)",
}
print(f"DuckDB {duckdb.__version__}")
for name, query in queries.items():
    for _ in range(loops):
        since = time.perf_counter()
        answer = db.execute(query).fetchall()[0]
        ms = 1000 * (time.perf_counter() - since)
        print(name, "-" if name == "order" else " ".join(map(str, answer)), f"{ms:.3f}", sep="\t")
