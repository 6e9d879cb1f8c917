#!/usr/bin/env python3
"""DuckDB's part of measure.sh: the same rows, one thread, tables in memory.

duckdb_times.py ROWS LOOPS FEW: the name of this DuckDB on the first line, the answers to compare, and for each
query and loop a line of query and milliseconds, with a tab between them.  Each query is asked of FEW rows first.
"""
import sys
import time

import duckdb

rows, loops, few = map(int, sys.argv[1:])
db = duckdb.connect(config={"threads": 1})
db.execute(f"""
    CREATE TABLE t AS
    SELECT i::INT AS id, ((h * 1812433253 % 2147483648 >> 11) % 1000)::INT AS x, (h % 1000000)::INT AS y, 'row ' || i AS label
    FROM (SELECT i, xor(h, h >> 15) AS h
          FROM (SELECT i, xor(h, h >> 13) * 1812433253 % 2147483648 AS h
                FROM (SELECT i, (i * 1103515245 + 12345) % 2147483648 AS h FROM range(1, {rows + 1}) r(i))))""")
db.execute(f"CREATE TABLE few AS FROM t LIMIT {few}")

# Of the order the last row, so that every row is sorted and none is sent.
queries = {
    "order": "SELECT * FROM {table} ORDER BY y LIMIT 1 OFFSET {last}",
    "percentile": "SELECT quantile_disc(y, 0.5) FROM {table}",
    "groups": "SELECT x, quantile_disc(y, 0.5) FROM {table} GROUP BY x",
}
print(f"DuckDB {duckdb.__version__}")
for query in queries.values():
    db.execute(query.format(table="few", last=few - 1)).fetchall()
for name, query in queries.items():
    for _ in range(loops):
        since = time.perf_counter()
        answer = db.execute(query.format(table="t", last=rows - 1)).fetchall()
        print(name, f"{1000 * (time.perf_counter() - since):.3f}", sep="\t")
    if name == "percentile":
        print(name, *answer[0])
    elif name == "groups":
        print(name, len(answer), sum((x + 1) * p for x, p in answer))
