#!/usr/bin/env python3
"""The tables of docs/papers.md, from a CSV of papersbench.

usage: tables.py bench/results/papers-<gpu>-<date>.csv

Prints Markdown: for each figure of Kozakai, Fujimoto, Wada (2021) the authors'
times and ours at the smallest and the largest n, and how many times faster
than CUB each is (CUB sorting 32 bits, as theirs did); for the other papers,
whose figures are charts without numbers, ours alone.
"""
import csv
import os
import sys
from collections import defaultdict

HERE = os.path.dirname(os.path.abspath(__file__))


def read(path):
    points = defaultdict(dict)
    with open(path, newline="") as lines:
        for row in csv.DictReader(lines):
            key = (row["paper"], row["figure"], row["data"], int(row["n"]))
            points[key][row["series"]] = float(row["ms"])
    return points


def read_then():
    then = {}
    with open(os.path.join(HERE, "kozakai-2021.csv"), newline="") as lines:
        for row in csv.DictReader(lines):
            then[(int(row["figure"]), int(row["n"]))] = {
                name: float(value) for name, value in row.items()
                if name not in ("figure", "n") and value}
    return then


def count(n):
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if n >= unit and n % unit == 0:
            return f"{n // unit}{letter}"
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def ms(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def ratio(peer, value):
    return "–" if value is None else f"{peer / value:.2f}"


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def hp_2021(points, then):
    titles = {
        8: "distinct, δ 1", 9: "distinct, δ 0.5", 10: "distinct, δ 0.25",
        11: "uniform, δ 1, σ 1", 12: "uniform, δ 10, σ 1", 13: "uniform, δ 50, σ 1",
        14: "interval, δ 1, σ 10", 15: "interval, δ 1, σ 100",
        16: "arbitrary, δ 1, σ 10", 17: "arbitrary, δ 1, σ 100",
        18: "interval, δ 10, σ 100", 19: "interval, δ 50, σ 100",
        20: "interval, δ 100, σ 100", 21: "arbitrary, δ 10, σ 100",
        22: "arbitrary, δ 50, σ 100", 23: "arbitrary, δ 100, σ 100"}
    rows = []
    for figure, title in titles.items():
        sizes = sorted(n for f, n in then if f == figure)
        names = ["hp", "zero_compressed_published"]
        if figure <= 10:
            names.append("one_hp")
        for n in (sizes[0], sizes[-1]):
            now = next(p for (paper, f, _, m), p in points.items()
                       if paper == "hp" and f == f"2021-{figure}" and m == n)
            old = then[(figure, n)]
            cells = [f"{figure}" if n == sizes[0] else "", title if n == sizes[0] else "",
                     count(n)]
            cells += [" / ".join(ms(old.get(name)) for name in ["cub"] + names)]
            cells += [" / ".join(ms(now.get(name)) for name in ["cub"] + names)]
            cells += [" / ".join(ratio(old["cub"], old[name]) for name in names)]
            cells += [" / ".join(ratio(now["cub"], now[name]) for name in names)]
            cells += [ms(now["cub_bits"]), ms(now["hpsort"]),
                      ratio(now["cub"], now["hpsort"])]
            rows.append(cells)
    table(["fig.", "data", "n", "then: CUB / H-P / 0-comp (/ 1-H-P)", "now",
           "over CUB then", "over CUB now", "CUB bits now", "hpsort now",
           "over CUB"], rows)


def by_series(points, paper, figure, series, sizes=None, first="n"):
    rows = []
    for (p, f, data, n), point in sorted(points.items(), key=lambda i: (i[0][2], i[0][3])):
        if p == paper and f == figure and (sizes is None or n in sizes):
            rows.append([data, count(n)] + [ms(point.get(name)) for name in series])
    table(["data", first] + list(series), rows)


def main():
    points = read(sys.argv[1])
    print("### Kozakai, Fujimoto, Wada 2021\n")
    hp_2021(points, read_then())
    print("### Kozakai 2022\n")
    for figure in ("2022-6", "2022-7", "2022-8", "2022-9"):
        print(f"Figure {figure[5:]}:\n")
        by_series(points, "hp", figure,
                  ["cub", "cub_bits", "hp", "zero_compressed_published", "one_hp", "hpsort"],
                  {200000, 2000000, 20000000})
    print("### Zhang, Wu\n")
    sizes = {2**k for k in (16, 20, 24, 26)}
    by_series(points, "zhang", "6",
              ["bucket_radix", "cub", "hpsort", "std_sort", "vqsort_1"], sizes)
    by_series(points, "zhang", "7",
              ["phase bucket partition", "phase counting sort", "phase insertion sort"], sizes)
    print("### Abdel-hafeez, Gordon-Ross, Abubaker\n")
    sizes = {2**k for k in (10, 16, 20, 24, 26, 28)}
    series = ["gpu", "cpu_1", "cpu_16", "cub", "hpsort", "vqsort_1"]
    by_series(points, "free", "8-13", series, sizes)
    by_series(points, "free", "16", series, sizes)
    by_series(points, "free", "14", ["phase count", "phase sum", "phase sort"],
              {2**20, 2**26})
    by_series(points, "free", "method 1", ["onehot", "gpu", "cub"])
    print("### Chen, Qin, Xie, Zhao, Heng\n")
    sizes = {4000000, 24000000}
    for figure in ("2", "3"):
        by_series(points, "chen", figure,
                  ["bucket_bitonic", "cub", "std_sort", "strided", "not strided",
                   "bucket_bitonic with transfers", "cub with transfers"], sizes)
    by_series(points, "chen", "3 structures", ["bucket_bitonic", "cub"], sizes)
    by_series(points, "chen", "4",
              ["phase extremes", "phase slice division", "phase slice merge", "phase move",
               "phase bitonic sort"], {24000000})
    by_series(points, "chen", "5",
              ["one gpu", "the same gpu twice", "two gpus", "cub with transfers"])
    by_series(points, "chen", "merge", ["one pass", "passes of 16M", "cub"])


main()
