#!/usr/bin/env python3
"""DuckDB's part of public_bench.sh: the same SQL on the same rows, in memory, with one thread.

duckdb_public.py DIRECTORY REPS: DIRECTORY has tables.sql, TABLE.csv, queries (number, question and SQL, separated by
tabs) and PostgreSQL's rows of each as NUMBER.rows.  Prints of each query the number, the least processor time and time by the
clock in ms, whether the rows are PostgreSQL's (equal, other or failed; floats to nine digits), and the question, separated by tabs.
"""
import csv
import math
import os
import sys
import time

import duckdb

directory, reps = sys.argv[1], int(sys.argv[2])


def normal(value):
    """A field as a number, if it is one, or as text without trailing blanks."""
    if isinstance(value, (int, float)):
        return value
    for kind in (int, float) if isinstance(value, str) else (float,):
        try:
            return kind(value)
        except (TypeError, ValueError):
            pass
    return "" if value is None else str(value).rstrip()


def sort_key(row):
    """A row as what is the same in both systems: floats rounded, identifiers whole."""
    return [f"{value:.6g}" if isinstance(value, (int, float)) and abs(value) < 1e15 else str(value) for value in row]


def in_order(rows):
    return sorted(([normal(value) for value in row] for row in rows), key=sort_key)


def same(left, right):
    """Whether two fields are equal, floats to nine digits."""
    if isinstance(left, float) and isinstance(right, (int, float)) or isinstance(left, int) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)
    return left == right


db = duckdb.connect(config={"threads": 1})
for line in open(os.path.join(directory, "tables.sql")):
    db.execute(line)
    table = line.split()[2]
    db.execute(f"COPY {table} FROM '{directory}/{table}.csv' (FORMAT csv, HEADER, ALLOW_QUOTED_NULLS false)")
for line in open(os.path.join(directory, "queries")):
    number, question, query = line.rstrip("\n").split("\t")
    try:
        all_rows = query.rsplit(" LIMIT ", 1)[0] if question.endswith("(any)") else query
        rows = in_order(db.execute(all_rows).fetchall())
        expected = in_order(csv.reader(open(f"{directory}/{number}.rows")))
        equal = len(rows) == len(expected) and all(same(a, b) for row in zip(rows, expected) for a, b in zip(*row))
        processor, clock = [], []
        for _ in range(reps):
            since, at = time.process_time(), time.perf_counter()
            db.execute(f"CREATE OR REPLACE TEMP TABLE result AS {query}")
            processor.append(1000 * (time.process_time() - since))
            clock.append(1000 * (time.perf_counter() - at))
        print(number, f"{min(processor):.3f}", f"{min(clock):.3f}", "equal" if equal else "other", question, sep="\t", flush=True)
    except duckdb.Error as error:
        print(f"{number}: {error}", file=sys.stderr)
        print(number, "", "", "failed", question, sep="\t", flush=True)
