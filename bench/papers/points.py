"""The measured points of the papers' figures, theirs and ours.

For tables.py and claims.py.  Of each group of figures the newest run in
bench/results/ that holds any of it counts, whole: no table mixes two runs.
What the numbers mean is the business of those who ask.
"""
import csv
import glob
import os
import re
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RESULTS = os.path.join(ROOT, "bench", "results")

# Where runs of a group are, and what a line of one begins with.
GROUPS = {
    "hp": ("papers-h100-*.csv", "hp,"),
    "zhang": ("papers-h100-*.csv", "zhang,"),
    "free": ("papers-h100-*.csv", "free,"),
    "chen": ("papers-h100-*.csv", "chen,"),
    "gpus": ("papers-h200-x2-*.csv", "chen,5"),
    "threads": ("papers-free-cpu-16-cores-2*.csv", ""),
    # all threads always used, whatever n and range
    "forced": ("papers-free-cpu-16-cores-forced-*.csv", ""),
}


def age(path):
    """Orders ...-2026-11-21.csv before ...-2026-11-21-2.csv, and -2 before -10."""
    return [int(number) for number in re.findall(r"\d+", os.path.basename(path)[:-4])]


def source(group):
    pattern, beginning = GROUPS[group]
    for path in sorted(glob.glob(os.path.join(RESULTS, pattern)), key=age, reverse=True):
        with open(path) as lines:
            if any(line.startswith(beginning) for line in lines):
                return path
    raise SystemExit(f"no {pattern} with {group} in {RESULTS}")


def rows(path):
    with open(path, newline="") as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


def read(group):
    """{(figure, data, n): {series: ms}}; threads: {(data, n, range): {threads: ms}}."""
    points = defaultdict(dict)
    for row in rows(source(group)):
        if group in ("threads", "forced"):
            points[row["data"], int(row["n"]), int(row["range"])][int(row["threads"])] = \
                float(row["ms"])
        elif row["paper"] == ("chen" if group == "gpus" else group):
            points[row["figure"], row["data"], int(row["n"])][row["series"]] = float(row["ms"])
    return points


def kozakai():
    """Theirs, ms: {(figure, n): {series: ms}}; Figs. 8 to 23 of 2021."""
    return {(int(row["figure"]), int(row["n"])):
            {name: float(value) for name, value in row.items()
             if name not in ("figure", "n") and value}
            for row in rows(os.path.join(HERE, "kozakai-2021.csv"))}


def abdel_hafeez():
    """Theirs, ms: {n: {"gpu": ms, "cpu_8": ms}}; Tables 4 (8 threads) and 5 (GPU)."""
    return {int(row["n"]): {"gpu": float(row["gpu"]), "cpu_8": float(row["cpu_8"])}
            for row in rows(os.path.join(HERE, "abdel-hafeez-2018.csv"))}


def hp_figure(points, figure):
    """One H-P figure, such as "2021-8": {n: {series: ms}}."""
    return {n: point for (f, _, n), point in points.items() if f == figure}
