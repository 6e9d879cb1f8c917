#!/usr/bin/env python3
"""The tables of docs/internals/papers.md, from the newest runs in bench/results/.

usage: tables.py           writes them into docs/internals/papers.md
       tables.py --check   only says what there is not as the runs have it:
                           tables, numbers in sentences (claims.py), plots
       tables.py --source GROUP
                           the run that a group's tables are of (points.py)

A table is what stands between "<!-- table NAME -->" and "<!-- end -->"; the rest
of the file is written by hand.
"""
import os
import re
import sys

sys.dont_write_bytecode = True

import claims
from points import (ONE_VALUE, ROOT, abdel_hafeez, faster, hp_figure, kozakai, log, lower_bounds,
                    read, source, sql, sql_gpus)

DOC = os.path.join(ROOT, "docs", "internals", "papers.md")

# The plots, and whose runs are in them (plots.sh).
PLOTS = {"hp-2021": ["hp"], "hp-2022": ["hp"], "zhang-wu": ["zhang"],
         "comparison-free": ["free"], "chen": ["chen", "gpus"],
         "comparison-free-threads": ["threads"]}


def count(n):
    for unit, letter in ((10**6, "M"), (10**3, "k")):
        if n >= unit and n % unit == 0:
            return f"{n // unit}{letter}"
    return f"2^{n.bit_length() - 1}" if n & (n - 1) == 0 else str(n)


def ms(value):
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:#.3g}".rstrip(".")


def ratio(peer, value):
    if peer is None or value is None:
        return ""
    times = peer / value
    return f"{times:.0f}" if times >= 9.95 else f"{times:.2f}" if times >= 0.0995 else f"{times:#.2g}"


def numbers_in(text):
    """Sorts "delta 10" behind "delta 1"."""
    return [(0, float(part)) if re.fullmatch(r"-?[\d.]+", part) else (1, part)
            for part in text.split()]


def several(values):
    return " / ".join(value for value in values if value)


def table(head, rows, *groups):
    """What is the same as in the row above is not repeated in the first column."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    above = None
    for row in rows:
        lines.append("| " + " | ".join(["" if row[0] == above else row[0]] + row[1:]) + " |")
        above = row[0]
    runs = sorted({os.path.basename(source(group)) for group in groups})
    lines += ["", "Run: " + ", ".join(f"[{run}](../../bench/results/{run})" for run in runs) + "."]
    return "\n".join(lines)


TITLES_2021 = {
    8: "distinct, δ 1", 9: "distinct, δ 0.5", 10: "distinct, δ 0.25",
    11: "uniform, δ 1, σ 1", 12: "uniform, δ 10, σ 1", 13: "uniform, δ 50, σ 1",
    14: "interval, δ 1, σ 10", 15: "interval, δ 1, σ 100",
    16: "arbitrary, δ 1, σ 10", 17: "arbitrary, δ 1, σ 100",
    18: "interval, δ 10, σ 100", 19: "interval, δ 50, σ 100",
    20: "interval, δ 100, σ 100", 21: "arbitrary, δ 10, σ 100",
    22: "arbitrary, δ 50, σ 100", 23: "arbitrary, δ 100, σ 100"}


def hp_2021():
    points, then = read("hp"), kozakai()
    rows = []
    for figure, title in TITLES_2021.items():
        sizes = sorted(n for f, n in then if f == figure)
        names = ["hp", "zero_compressed_published"] + (["one_hp"] if figure <= 10 else [])
        for n in (sizes[0], sizes[-1]):
            now, old = hp_figure(points, f"2021-{figure}")[n], then[figure, n]
            rows.append([
                f"{figure}: {title}", count(n),
                several(ms(old[name]) for name in ["cub", "thrust"] + names),
                several(ms(now[name]) for name in ["cub", "thrust"] + names),
                several(ratio(faster(old), old[name]) for name in names),
                several(ratio(faster(now), now[name]) for name in names),
                ms(now["cub_bits"]), ms(now["hpsort"]), ratio(faster(now), now["hpsort"])])
    return table(["fig.", "n", "then: CUB / Thrust / H-P / 0-comp (/ 1-H-P)", "now",
                  "over the faster of both, then", "now", "CUB bits now", "hpsort now",
                  "over the faster"], rows, "hp")


def hp_stable():
    points = read("hp")
    rows = []
    for figure, title in TITLES_2021.items():
        of = hp_figure(points, f"2021-{figure}")
        for n in (min(of), max(of)):
            now = of[n]
            rows.append([f"{figure}: {title}", count(n)] +
                        [ms(now[name]) for name in ("hp", "hpsort", "permutation", "cub_pairs",
                                                    "cub_pairs_bits")] +
                        [ratio(now["hp"], now["permutation"]),
                         ratio(now["cub_pairs"], now["permutation"]),
                         ratio(now["cub_pairs_bits"], now["permutation"]),
                         f"{now['permutation'] / now['hpsort']:.2f}"])
    return table(["fig.", "n", "H-P, keys", "hpsort, keys", "hpsort, stable permutation",
                  "CUB pairs", "CUB pairs, bits", "permutation over H-P", "over CUB pairs",
                  "over CUB pairs, bits", "permutation / keys"], rows, "hp")


def hp_2022_grid():
    """The data that the text of 2022 names without a chart."""
    points = read("hp")
    rows = []
    for figure in ("2022 distinct", "2022 grid", "2022 len", "2022 maxVal"):
        names = ["hp", "zero_compressed_published"] + \
            (["one_hp"] if figure == "2022 distinct" else []) + ["hpsort"]
        for data in sorted({d for f, d, _ in points if f == figure}, key=numbers_in):
            sizes = sorted(n for f, d, n in points if (f, d) == (figure, data))
            row = [data.replace("delta", "δ").replace("sigma", "σ")]
            for n in (sizes[0], sizes[-1]):
                now = points[figure, data, n]
                row += [count(n), ms(now["cub"]),
                        several(ratio(now["cub"], now[name]) for name in names)]
            rows.append(row)
    return table(["data", "n", "CUB", "over it: H-P / 0-comp (/ 1-H-P) / hpsort", "n", "CUB",
                  "over it"], rows, "hp")


def hp_2022_lower():
    points = read("hp")
    rows = []
    for lo in (-2**31, -1000000007, -1, 1, 1000000007):
        row = [f"{lo:,}"]
        for zero, shifted, n, names in lower_bounds(lo):
            row.append(several(f"{points[shifted][name] / points[zero][name]:.2f}"
                               for name in names))
        rows.append(row)
    return table(["lower bound", "distinct, δ 1, 1M: H-P / 0-comp / 1-H-P / hpsort",
                  "δ 1, σ 50, 1M: H-P / 0-comp / hpsort", "δ 1, σ 50, 10M", "δ 50, σ 50, 1M",
                  "δ 50, σ 50, 10M"], rows, "hp")


def hp_2022():
    points = read("hp")
    titles = {6: "distinct, δ 1", 7: "δ 50, σ 50", 8: "δ 1, 100 values", 9: "range 100"}
    rows = []
    for figure, title in titles.items():
        for n, now in sorted(hp_figure(points, f"2022-{figure}").items()):
            if n not in (200000, 2000000, 20000000):
                continue
            names = ["hp", "zero_compressed_published", "one_hp", "hpsort"]
            rows.append([f"{figure}: {title}", count(n)] +
                        [ms(now.get(name)) for name in ["cub", "cub_bits"] + names] +
                        [several(ratio(now["cub"], now.get(name)) for name in names)])
    return table(["fig.", "n", "CUB", "CUB bits", "H-P", "0-comp", "1-H-P", "hpsort",
                  "over CUB: H-P / 0-comp (/ 1-H-P) / hpsort"], rows, "hp")


def zhang_wu():
    points = read("zhang")
    rows = []
    for data in ("16 bits", "32 bits"):
        for n in (2**k for k in (16, 20, 24, 26)):
            now, phases = points["6", data, n], points["7", data, n]
            rows.append([data, count(n), ms(now["bucket_radix"])] +
                        [ms(phases.get("phase " + name)) for name in
                         ("bucket partition", "counting sort", "insertion sort")] +
                        [ms(now.get(name)) for name in ("cub", "hpsort", "std_sort", "vqsort_1")] +
                        [ratio(now.get(name), now["bucket_radix"])
                         for name in ("std_sort", "cub")])
    return table(["keys", "n", "bucket_radix", "of it partition", "counting", "insertion",
                  "CUB bits", "hpsort", "std::sort", "VQSort", "over std::sort",
                  "over CUB bits"], rows, "zhang")


def zhang_wu_rows():
    points = read("zhang")
    n = 2**24
    rows = []
    for data in ("16 bits", "32 bits"):
        for name in ("", " s 4096", " s 16384", " s 65536", " r 256"):
            figure = "7 other" if name else "7"
            phases = points.get((figure, data + name, n))
            if not phases:
                continue
            rows.append([data, (name or " s 1024").replace(" s ", "s = ").replace(" r ", "r = "),
                         ms(points["6", data, n]["bucket_radix" + name])] +
                        [ms(phases.get("phase " + phase)) for phase in
                         ("bucket partition", "counting sort", "insertion sort")] +
                        [f"{phases['rounds']:.0f}", f"{phases['repaired']:.0f}"])
    return table(["keys", "rows or radix", "bucket_radix", "of it partition", "counting",
                  "insertion", "choices of pivots", "groups repaired"], rows, "zhang")


def comparison_free():
    points, then = read("free"), abdel_hafeez()
    which = [("8-13", "gaussian", "Gaussian", k) for k in (20, 22, 24, 26, 28)]
    which += [("8-13", data, data, 26)
              for data in ("random", "reversed", "nearly sorted", "70 % repeated", ONE_VALUE)]
    which += [("8-13", "100 % repeated", "100 % repeated", 26),
              ("16", "gaussian 1000 N", "Gaussian, values to 1000 N", 20)]
    rows = []
    for figure, data, title, k in which:
        now = points[figure, data, 2**k]
        theirs = then[2**k]["gpu"] if data == "gaussian" else None
        rows.append([title, count(2**k), ms(theirs), ms(now.get("gpu with transfers")),
                     ratio(theirs, now.get("gpu with transfers")),
                     ms(now.get("cub with transfers")), ms(now["gpu"])] +
                    [ms(now.get(name)) for name in ("cub", "hpsort", "cpu_1", "cpu_8", "vqsort_1")] +
                    [ratio(now["cub"], now["gpu"])])
    return table(["data", "n", "theirs, GPU, with copies", "GPU with transfers", "over theirs",
                  "CUB with transfers", "GPU", "CUB bits", "hpsort", "CPU, 1 thread",
                  "CPU, 8 threads", "VQSort", "GPU over CUB bits"], rows, "free")


def comparison_free_crossing():
    """Figs. 9, 13 and 14: Gaussian keys, as many values as keys."""
    points = read("free")
    rows = []
    for k in (8, 10, 12, 13, 14, 16, 18, 20, 22, 24, 26):
        now = points.get(("8-13", "gaussian", 2**k))
        if now is None:
            continue
        phases = points["14", "gaussian", 2**k]
        rows.append([f"2^{k}"] +
                    [ms(now.get(name)) for name in ("cpu_1", "cpu_8", "cpu_8_shared", "cpu_paying")] +
                    [f"{now['cpu_paying threads']:.0f}", ms(now["gpu"]),
                     ms(now.get("gpu with transfers")),
                     several(ratio(now["cpu_1"], now[name]) for name in
                             ("gpu", "gpu with transfers")),
                     several(ratio(now["cpu_8"], now[name]) for name in
                             ("gpu", "gpu with transfers")),
                     several(ms(phases["phase " + phase]) for phase in ("count", "sum", "sort"))])
    return table(["n", "CPU, 1 thread", "8 threads", "8, shared counters", "as many as pay",
                  "which are", "GPU", "with transfers", "over 1 thread: without / with transfers",
                  "over 8 threads", "GPU: count / sum / sort"], rows, "free")


def comparison_free_memory():
    """Figs. 10, 11, 15, 17 and 18."""
    points = read("free")
    rows = []

    def mb(value):
        return "" if value is None else ms(value / 1e6)

    for k in (16, 20, 22, 24, 26):
        now, phases = points["11-15-18", "gaussian", 2**k], points["10", "gaussian", 2**k]
        peers = points.get(("17", "gaussian", 2**k), {})
        rows.append([f"2^{k}"] +
                    [mb(now.get(name + " bytes")) for name in
                     ("gpu", "cpu_1", "cpu_8", "cpu_8_shared")] +
                    [several(ms(value) for series, value in phases.items()
                             if series.startswith(name + " phase ")) for name in
                     ("cpu_1", "cpu_8", "cpu_8_shared")] +
                    [several(ms(peers.get(name)) for name in
                             ("std_sort", "std_stable_sort", "radix 8 bits"))])
    return table(["n", "GPU, MB", "1 thread, MB", "8 threads, MB", "8, shared, MB",
                  "1 thread: count / merge / sort", "8 threads", "8, shared",
                  "quicksort / merge sort / radix sort, 1 thread"], rows, "free")


def method_1():
    points = read("free")
    rows = []
    for k in (8, 10, 12, 14, 16, 17):
        now = points["method 1", "random", 2**k]
        rows.append([f"2^{k}"] + [ms(now[name]) for name in
                    ("onehot", "onehot rows", "gpu", "cub", "cub_pairs")])
    return table(["n", "eq. 11", "eq. 11 with rows", "method 2", "CUB bits", "CUB pairs"], rows,
                 "free")


def by_threads():
    points = read("threads")
    n = 2**24
    rows = []
    for data in ("random", "reversed", "nearly sorted", "gaussian", "70 % repeated", ONE_VALUE,
                 "100 % repeated"):
        if (data, n, n) not in points:
            continue
        row = ["Gaussian" if data == "gaussian" else data]
        for values in (1000, n):
            times = points[data, n, values]
            row += [several(ms(times[t]) for t in (1, 2, 4, 8, 16)),
                    f"{times[1] / min(times.values()):.1f}"]
        rows.append(row)
    return table(["data", "1,000 values", "gain", "as many values as keys", "gain"], rows,
                 "threads")


LISTS = ["int uniform", "int gaussian", "int nearly sorted", "float uniform", "float gaussian",
         "float nearly sorted"]


def title_of(name):
    kind, shape = name.split(" ", 1)
    return f"{kind}, {'Gaussian' if shape == 'gaussian' else shape}"


def chen():
    points = read("chen")
    n = 24000000
    rows = []
    for name in LISTS:
        now = points["2" if name.startswith("int") else "3", name, n]
        way = points["eq. 2", name, n]
        rows.append([title_of(name), f"{way['disorder']:,.2f}", f"{way['levels']:.0f}"] +
                    [ms(now[s]) for s in ("bucket_bitonic", "cub")] +
                    [ratio(now["cub"], now["bucket_bitonic"])] +
                    [ms(now[s + " with transfers"]) for s in ("bucket_bitonic", "cub")] +
                    [ms(now["std_sort"]),
                     ratio(now["std_sort"], now["bucket_bitonic with transfers"]),
                     several(ms(now.get(s)) for s in ("strided", "not strided"))])
    return table(["data", "disorder", "levels", "bucket_bitonic", "CUB", "over CUB",
                  "with transfers", "CUB with transfers", "std::sort",
                  "with transfers over std::sort", "strided / not"], rows, "chen")


def chen_payload():
    points = read("chen")
    n = 24000000
    rows = []
    for name in LISTS:
        now, wide = points["payload", name, n], points.get(("3b", name, n), {})
        rows.append([title_of(name)] + [ms(now[s]) for s in ("bucket_bitonic", "cub")] +
                    [ratio(now["cub"], now["bucket_bitonic"])] +
                    [ms(wide.get(s)) for s in ("bucket_bitonic", "bucket_bitonic with transfers",
                                               "std_sort")] +
                    [ratio(wide.get("std_sort"), wide.get("bucket_bitonic with transfers"))])
    return table(["data", "key and 4 bytes", "CUB pairs", "over CUB", "four floats",
                  "with transfers", "std::sort of them", "with transfers over std::sort"], rows,
                 "chen")


def chen_images():
    points = read("chen")
    n = 24000000
    rows = []
    for name in LISTS[3:]:
        now, bits = points["images", name, n], points["3", name, n]
        rows.append([title_of(name)] +
                    [ms(now["as integers"]), f"{now['levels as integers']:.0f}",
                     ms(now["by value"]), f"{now['levels by value']:.0f}",
                     ms(bits["bucket_bitonic"])])
    return table(["data", "images as integers", "levels", "images by value", "levels",
                  "floats by value"], rows, "chen")


def chen_options():
    points = read("chen")
    now = points["E and M", "int uniform", 24000000]
    times = {tuple(int(word) for word in name.split()[1::2]): value for name, value in now.items()}
    rows = []
    for most in (256, 512, 1024, 2048):
        rows.append([str(most)] + [f"{ms(times[most, e])} (E = {e})" for m, e in sorted(times)
                                   if m == most])
    return table(["M", "E = M / 16", "E = 80 M / 512", "E = M / 4"], rows, "chen")


WAYS = ("one gpu", "the same gpu twice", "two gpus")


def several_gpus():
    points = read("gpus")
    rows = []
    for n in (10**6 * m for m in (4, 8, 16, 24, 32, 64)):
        now = points["5", "int uniform", n]
        rows.append([count(n)] + [ms(now[way]) for way in WAYS + ("cub with transfers",)] +
                    [ratio(now["one gpu"], now[way]) for way in WAYS[1:]])
    return table(["n", "one H100", "the same twice", "two H100", "CUB, one H100", "twice over one",
                  "two over one"], rows, "gpus")


def several_gpus_lists():
    points = read("gpus")
    rows = []
    for figure, name in [("5", name) for name in LISTS[1:]] + \
                        [("5 structures", name) for name in LISTS[:3]]:
        title = title_of(name)
        row = [title if figure == "5" else title.replace("int", "int and payload")]
        for n in (24000000, 64000000):
            now = points[figure, name, n]
            peer = now.get("cub with transfers")
            row.append(several(ms(now[way]) for way in WAYS) + (f"; {ms(peer)}" if peer else ""))
        rows.append(row)
    return table(["list", "24M", "64M"], rows, "gpus")


def several_gpus_jobs():
    points = read("gpus")
    both = [("int uniform", "the number known"), ("int uniform streamed", "not known")]
    rows = []
    for n in sorted(n for figure, data, n in points if (figure, data) == ("5 jobs", both[0][0])):
        rows.append([count(n)] + [text for data, _ in both for text in
                                  [ms(points["5 jobs", data, n][way]) for way in WAYS] +
                                  [ratio(points["5 jobs", data, n]["one gpu"],
                                         points["5 jobs", data, n]["two gpus"])]])
    return table(["n"] + [f"{way}, {known}" for _, known in both for way in
                          ("one H100", "the same twice", "two H100", "two over one")], rows, "gpus")


def sql_several_gpus():
    path, found = sql_gpus()
    lines = ["| function | n | one H100: call (sorting; filling / sorting), ms | two H100 | two over one |",
             "|---|---|---|---|---|"]
    for function in ("hpsort", "hpsort_order", "hpsort_float4", "hpsort_agg"):
        for n in sorted(n for name, n in found if name == function):
            now = found[function, n]
            # an array's keys are there already
            parts = ("fill_ms", "sort_ms") if function == "hpsort_agg" else ("sort_ms",)
            texts = [f"{ms(float(row['ms']))} ({several(ms(float(row[part])) for part in parts)})"
                     for row in (now[1], now[2])]
            lines.append(f"| `{function}` | {count(n)} | {texts[0]} | {texts[1]} | "
                         f"{ratio(float(now[1]['ms']), float(now[2]['ms']))} |")
    name = os.path.basename(path)
    return "\n".join(lines + ["", f"Run: [{name}](../../bench/results/{name})."])


# The long jobs of test_published_cancel.cu, in its order, and how many of its log's lines each is.
LONG_JOBS = (("`hp`, `zero_compressed_published`, one value", 2), ("`comparison_free`, one value", 1),
             ("`bucket_radix`, 16 bits; 2^27 keys of 32 bits", 2), ("`bucket_bitonic`, 2^29 keys, Zipf", 1))


def cancelled():
    path, parts = log("publishedtest-h100-x2-*.txt")
    found = re.findall(r"^\w+, \w+: (\d+) ms, cancelled (\d+)$", parts["publishedtest"], re.M)
    lines = ["| job | ms | cancelled after a twentieth, over after |", "|---|---|---|"]
    for job, n in LONG_JOBS:
        took, over = (list(dict.fromkeys(f"{int(line[column]):,}" for line in found[:n])) for column in (0, 1))
        lines.append(f"| {job} | {'; '.join(took)} | {'; '.join(over)} |")
        found = found[n:]
    name = os.path.basename(path)
    return "\n".join(lines + ["", f"Run: [{name}](../../bench/results/{name})."])


def sql_sizes():
    """2^30 keys from SQL: filling / sorting (/ the whole query), s; GB."""
    (cpu, cpu_runs), (gpu, gpu_runs) = sql("cpu"), sql("gpu")
    rows = []
    for key in list(cpu) + [key for key in gpu if key not in cpu]:
        row = [key[0], (cpu.get(key) or gpu[key])["values"], key[1]]
        for of in (cpu, gpu):
            m = of.get(key)
            # the whole query only where the run has it
            row += ["", ""] if m is None else [
                several(f"{float(m[name]):.1f}" for name in ("fill_s", "sort_s", "seconds") if m[name]),
                f"{float(m['peak_gb']):.1f}"]
        rows.append([row[0], f"{int(row[1]):,}"] + row[2:])
    if not rows:
        return "No run of `bench/papers/sql.sh` is in bench/results."
    head = ["algorithm", "values", "returned", "CPU: fill / sort (/ query), s", "GB", "GPU", "GB"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in sorted(rows)]
    runs = [os.path.basename(path) for path in cpu_runs + gpu_runs]
    lines += ["", "Run: " + ", ".join(f"[{run}](../../bench/results/{run})" for run in runs) + "."]
    return "\n".join(lines)


TABLES = {"hp-2021": hp_2021, "hp-stable": hp_stable, "hp-2022": hp_2022,
          "hp-2022-grid": hp_2022_grid, "hp-2022-lower": hp_2022_lower, "zhang-wu": zhang_wu,
          "zhang-wu-rows": zhang_wu_rows, "comparison-free": comparison_free,
          "crossing": comparison_free_crossing, "memory": comparison_free_memory,
          "method-1": method_1, "threads": by_threads, "chen": chen,
          "chen-payload": chen_payload, "chen-images": chen_images,
          "chen-options": chen_options, "several-gpus": several_gpus,
          "several-gpus-lists": several_gpus_lists, "several-gpus-jobs": several_gpus_jobs,
          "sql-gpus": sql_several_gpus, "sql": sql_sizes, "cancelled": cancelled}


def with_tables(text):
    def fresh(match):
        return f"{match[1]}\n{TABLES[match[2]]()}\n{match[3]}"

    return re.sub(r"(<!-- table (\S+) -->\n).*?(\n?<!-- end -->)", fresh, text, flags=re.DOTALL)


def check(text):
    """What is wrong, a line each."""
    wrong = [f"no table {name}" for name in TABLES if f"<!-- table {name} -->" not in text]
    if with_tables(text) != text:
        wrong.append("tables are not of the newest runs: bench/papers/tables.py")
    said = " ".join(text.split())
    wrong += [f"does not say: {claim}" for claim in claims.claims() if claim not in said]
    for plot, groups in PLOTS.items():
        with open(os.path.join(ROOT, "docs", "internals", f"papers-{plot}.svg")) as svg:
            drawn = svg.read()
        wrong += [f"papers-{plot}.svg is not of {os.path.basename(source(group))}: "
                  "bench/papers/plots.sh"
                  for group in groups if os.path.basename(source(group)) not in drawn]
    return wrong


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--source":
        print(source(sys.argv[2]))
        return 0
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    with open(DOC) as file:
        text = file.read()
    if not sys.argv[1:]:
        text = with_tables(text)
        with open(DOC, "w") as file:
            file.write(text)
    wrong = check(text)
    for line in wrong:
        print(f"docs/internals/papers.md: {line}", file=sys.stderr)
    return 1 if wrong else 0


sys.exit(main())
