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
    "hp": ("papers-h100-2*.csv", "hp,"),
    "zhang": ("papers-h100-2*.csv", "zhang,"),
    "free": ("papers-h100-2*.csv", "free,"),
    "chen": ("papers-h100-2*.csv", "chen,"),
    "gpus": ("papers-h100-x2-2*.csv", "chen,5"),
    "threads": ("papers-free-cpu-16-cores-2*.csv", ""),
    # all threads always used, whatever n and range
    "forced": ("papers-free-cpu-16-cores-forced-*.csv", ""),
    # with other work on the rest of the machine's cores
    "beside": ("papers-free-cpu-16-cores-beside-*.csv", ""),
}


def age(path):
    """Orders ...-2026-11-21.csv before ...-2026-11-21-2.csv, and -2 before -10."""
    name = os.path.basename(path)[:-4]
    return [int(number) for number in re.findall(r"\d+", name[re.search(r"\d{4}-\d\d-\d\d", name).start():])]


def newest(pattern):
    return sorted(glob.glob(os.path.join(RESULTS, pattern)), key=age, reverse=True)


def runs(group):
    """Those that hold any of a group, the newest first."""
    pattern, beginning = GROUPS[group]
    for path in newest(pattern):
        with open(path) as lines:
            if any(line.startswith(beginning) for line in lines):
                yield path


def source(group):
    for path in runs(group):
        return path
    raise SystemExit(f"no {GROUPS[group][0]} with {group} in {RESULTS}")


def rows(path):
    with open(path, newline="") as lines:
        yield from csv.DictReader(line for line in lines if not line.startswith("#"))


# Of "70 % repeated", runs of free_cpu that have no column "ran" had the other reading.
ONE_VALUE = "70 % one value"


def read(group):
    """{(figure, data, n): {series: ms}}; threads: {(data, n, range): {threads allowed: ms}}."""
    if group in ("threads", "forced", "beside"):
        return threads_run(source(group))
    points = defaultdict(dict)
    for row in rows(source(group)):
        if row["paper"] == ("chen" if group == "gpus" else group):
            points[row["figure"], row["data"], int(row["n"])][row["series"]] = float(row["ms"])
    return points


def times(path):
    """Of a run of papersbench, all: {(paper, figure, data, n, series): ms}."""
    return {tuple(row[name] for name in ("paper", "figure", "data", "n", "series")): float(row["ms"])
            for row in rows(path)}


def seconds(path):
    """What a run of papersbench took, by its groups."""
    with open(path) as lines:
        return sum(int(took) for took in re.findall(r"^# [a-z]+: (\d+) s$", lines.read(), re.M))


def threads_run(path):
    """{(data, n, range): {threads allowed: ms}} of a run of free_cpu.sh."""
    points = defaultdict(dict)
    for row in rows(path):
        data = row["data"]
        if "ran" not in row and data == "70 % repeated":
            data = ONE_VALUE
        points[data, int(row["n"]), int(row["range"])][int(row["threads"])] = float(row["ms"])
    return points


def log(pattern):
    """(path, {section: text}) of the newest log of tests."""
    path = newest(pattern)[0]
    with open(path) as lines:
        parts = re.split(r"^== (.*)$", lines.read(), flags=re.M)
    return path, dict(zip(parts[1::2], parts[2::2]))


def sql_gpus():
    """(path, {(function, n): {number of GPUs: row}}) of the newest run of sql_gpus.sh."""
    path = newest("papers-sql-gpus-2*.csv")[0]
    found = defaultdict(dict)
    for row in rows(path):
        found[row["function"], int(row["n"])][int(row["gpus"])] = row
    return path, found


def sql(device):
    """({(algorithm, "runs" or "keys"): row}, [runs]) of sql.sh; of each the newest run that has it."""
    found, used = {}, []
    for path in newest(f"papers-sql-{device}-2*.csv"):
        new = {(row["algorithm"], row["returned"]): row for row in rows(path)}
        if new.keys() - found.keys():
            used.append(path)
        found = {**new, **found}
    return found, used


def kozakai():
    """Theirs, ms: {(figure, n): {series: ms}}; Figs. 8 to 23 of 2021."""
    return {(int(row["figure"]), int(row["n"])):
            {name: float(value) for name, value in row.items()
             if name not in ("figure", "n") and value}
            for row in rows(os.path.join(HERE, "kozakai-2021.csv"))}


def threads_that_ran(n, values):
    """How many of 1, 2, 4 ... threads allowed sorted, the same for all distributions."""
    ran = defaultdict(set)
    for row in rows(source("threads")):
        if (int(row["n"]), int(row["range"])) == (n, values):
            ran[int(row["threads"])].add(int(row["ran"]))
    return [one for allowed in sorted(ran) for one in sorted(ran[allowed])]


def abdel_hafeez():
    """Theirs, ms: {n: {"gpu": ms, "cpu_8": ms}}; Tables 4 (8 threads) and 5 (GPU)."""
    return {int(row["n"]): {"gpu": float(row["gpu"]), "cpu_8": float(row["cpu_8"])}
            for row in rows(os.path.join(HERE, "abdel-hafeez-2018.csv"))}


def hp_figure(points, figure):
    """One H-P figure, such as "2021-8": {n: {series: ms}}."""
    return {n: point for (f, _, n), point in points.items() if f == figure}


def faster(point):
    """The authors of 2021 compare with the faster of CUB and Thrust."""
    return min(point["cub"], point["thrust"])


def lower_bounds(lo):
    """Points that differ in their lower bound: (with 0, with lo, n, series)."""
    three = ["hp", "zero_compressed_published", "hpsort"]
    pairs = [(("2022-6", "distinct", 10**6), ("2022 lower bound", f"distinct lo {lo}", 10**6),
              10**6, three[:2] + ["one_hp", "hpsort"])]
    for delta in (1, 50):
        for n in (10**6, 10**7):
            data = f"arbitrary delta {delta} sigma 50"
            pairs.append((("2022 grid", data, n), ("2022 lower bound", f"{data} lo {lo}", n), n,
                          three))
    return pairs


def disturbed(points):
    """Points of the charts where some time is over 1.5 times those of both neighbours in n."""
    lines = defaultdict(list)
    for (figure, data, n), point in points.items():
        for series, time in point.items():
            lines[figure, data, series].append((n, time))
    found = set()
    for (figure, data, _), line in lines.items():
        line.sort()
        for before, (n, time), behind in zip(line, line[1:], line[2:]):
            if time > 1.5 * max(before[1], behind[1]) and figure != "2022 grid":
                found.add((figure, data, n))
    return found


def read_charts():
    """The H-P group without what is disturbed, for sentences about all of its points."""
    points = read("hp")
    skipped = disturbed(points)
    return {key: point for key, point in points.items() if key not in skipped}
