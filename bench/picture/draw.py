#!/usr/bin/env python3
"""Draws docs/picture.svg from the newest bench/results/*-picture.csv of measure.sh, and below it resident columns
from the newest *-resident-gpu.csv of resident_gpu_bench.sh.

draw.py [CSV RESIDENT_CSV]: writes it; draw.py --check: fails if it is not what this would draw.
"""
import csv
import glob
import math
import os
import re
import sys
from html import escape

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
target = os.path.join(root, "docs", "picture.svg")

# Query, title, hpsort's way.
PANELS = [
    ("order", "SELECT * FROM t ORDER BY y", "hpsort: the same query"),
    ("percentile", "percentile_disc(0.5) … (ORDER BY y)", "hpsort: middle of hpsort_column_array(…)"),
    ("array", "array_agg(y ORDER BY y)", "hpsort: hpsort_column_array('t', 'y')"),
]
# The same of resident columns: query, title; and ways: column, name, class of lines.
RESIDENT_PANELS = [
    ("SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY x) FROM even", "percentile_disc(0.5) … (ORDER BY x)"),
    ("SELECT count(DISTINCT x) FROM even", "count(DISTINCT x)"),
    ("SELECT x  count(*) FROM even GROUP BY x", "x, count(*) … GROUP BY x"),
]
RESIDENT_WAYS = [
    ("core_9_ms", "PostgreSQL, nine processes", "newer"),
    ("pages_ms", "hpsort: from pages", "new"),
    ("memory_ms", "hpsort: kept in memory", "old"),
    ("gpu_ms", "hpsort: kept on the GPU", "hpsort"),
]
# A class of lines for each contender; PostgreSQLs from the oldest on.
POSTGRESQL = ["old", "new", "newer", "newest"]
STYLE = """
svg { font: 12px -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
.paper { fill: #ffffff } text { fill: #1f2328 } .faint { fill: #59636e } .grid { stroke: #d1d9e0 }
path { fill: none; stroke-width: 1.75 } .old { stroke: #9a6700; fill: #9a6700 } .new { stroke: #59636e; fill: #59636e }
.newer { stroke: #8250df; fill: #8250df } .newest { stroke: #1a7f37; fill: #1a7f37 }
.duckdb { stroke: #bc4c00; fill: #bc4c00 } path.duckdb { stroke-dasharray: 5 3 } .hpsort { stroke: #0969da; fill: #0969da }
path.old, path.new, path.newer, path.newest, path.duckdb, path.hpsort { fill: none }
path.hpsort { stroke-width: 3 } text.value { stroke: none } .title { font-weight: 600 }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117 } text { fill: #f0f6fc } .faint { fill: #9198a1 } .grid { stroke: #3d444d }
.old { stroke: #d29922; fill: #d29922 } .new { stroke: #b7bdc8; fill: #b7bdc8 } .newer { stroke: #ab7df8; fill: #ab7df8 }
.newest { stroke: #3fb950; fill: #3fb950 } .duckdb { stroke: #f0883e; fill: #f0883e } .hpsort { stroke: #4493f8; fill: #4493f8 }
path.old, path.new, path.newer, path.newest, path.duckdb, path.hpsort { fill: none }
}
"""

WIDTH, HEIGHT, LEFT, TOP, PANEL_WIDTH, PANEL_HEIGHT, STEP = 936, 410, 56, 96, 190, 230, 310
RESIDENT_HEIGHT = HEIGHT - 14


def read(path):
    """The comments before the table, and its rows."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    comments = [line[2:] for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def read_times(path):
    """The comments, and median_ms by query, contender and rows."""
    comments, table = read(path)
    times = {}
    for row in table:
        times.setdefault(row["query"], {}).setdefault(row["contender"], {})[int(row["rows"])] = float(row["median_ms"])
    return comments, times


def read_resident(path):
    """The same of resident columns."""
    comments, table = read(path)
    times = {}
    for row in table:
        for column, name, _ in RESIDENT_WAYS:
            if row[column] != "-":
                times.setdefault(row["query"], {}).setdefault(name, {})[int(row["rows"])] = float(row[column])
    return comments, {query: times[query] for query, _ in RESIDENT_PANELS}


def styles(contenders):
    """A class for each, in the order of the legend."""
    def major(contender):
        return int(re.match(r"PostgreSQL (\d+)", contender)[1])

    postgresqls = sorted((c for c in contenders if c.startswith("PostgreSQL")), key=major)
    if len(postgresqls) > len(POSTGRESQL):
        raise SystemExit(f"draw.py has colours for {len(POSTGRESQL)} PostgreSQLs only")
    return (dict(zip(postgresqls, POSTGRESQL)) | {c: "duckdb" for c in contenders if c.startswith("DuckDB")}
            | {c: "hpsort" for c in contenders if c.startswith("hpsort")})


def round_ms(ms):
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}"


def power(exponent):
    return f"{10 ** exponent:,}" if exponent >= 0 else f"{10.0 ** exponent:g}"


def text(x, y, content, css="", anchor="start"):
    css = f' class="{css}"' if css else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{css}>{escape(content)}</text>'


def panel(left, title, way, lines, classes, scales):
    """One query: grid, a line for each contender, and its time for the most rows beside it."""
    (least_rows, most_rows), (low, high) = scales

    def x(rows):
        return left + PANEL_WIDTH * math.log(rows / least_rows) / math.log(most_rows / least_rows)

    def y(ms):
        return TOP + PANEL_HEIGHT * (1 - (math.log10(ms) - low) / (high - low))

    out = [text(left, TOP - 30, title, "title"), text(left, TOP - 14, way, "faint")]
    for exponent in range(low, high + 1):
        at = y(10 ** exponent)
        out.append(f'<line class="grid" x1="{left}" x2="{left + PANEL_WIDTH}" y1="{at:.1f}" y2="{at:.1f}"/>')
        out.append(text(left - 6, at + 4, power(exponent), "faint", "end"))
    for exponent in range(math.ceil(math.log10(least_rows)), math.floor(math.log10(most_rows)) + 1):
        at = x(10 ** exponent)
        out.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{TOP + PANEL_HEIGHT}"/>')
        out.append(text(at, TOP + PANEL_HEIGHT + 18, power(exponent), "faint", "middle"))
    ends = []
    for contender, css in classes.items():
        points = sorted(lines.get(contender, {}).items())
        if not points:
            continue
        line = "L".join(f"{x(rows):.1f},{y(ms):.1f}" for rows, ms in points)
        out.append(f'<path class="{css}" d="M{line}"/>')
        out += [f'<circle class="{css}" cx="{x(rows):.1f}" cy="{y(ms):.1f}" r="{3 if css == "hpsort" else 2}"/>' for rows, ms in points]
        ends.append([y(points[-1][1]), points[-1][1], css])
    # Numbers that would lie on one another are moved apart.
    ends.sort()
    for before, this in zip(ends, ends[1:]):
        this[0] = max(this[0], before[0] + 13)
    out += [text(left + PANEL_WIDTH + 7, at + 4, round_ms(ms) + " ms", "value " + css) for at, ms, css in ends]
    return out


def scales_of(times):
    """Bounds of rows, and of the powers of ten of milliseconds."""
    all_rows = [rows for lines in times.values() for points in lines.values() for rows in points]
    all_ms = [ms for lines in times.values() for points in lines.values() for ms in points.values()]
    return (min(all_rows), max(all_rows)), (math.floor(math.log10(min(all_ms))), math.ceil(math.log10(max(all_ms))))


def legend(classes):
    out, at = [], LEFT
    for contender, css in classes.items():
        out.append(f'<path class="{css}" d="M{at},22L{at + 24},22"/>')
        out.append(text(at + 30, 26, contender))
        at += 30 + 7 * len(contender) + 28
    return out


def draw(path, resident_path):
    comments, times = read_times(path)
    resident_comments, resident = read_resident(resident_path)
    classes = styles({c for lines in times.values() for c in lines})
    resident_classes = {name: css for _, name, css in RESIDENT_WAYS}
    scales, resident_scales = scales_of(times), scales_of(resident)
    height = HEIGHT + RESIDENT_HEIGHT

    title = ("Milliseconds against rows, both in powers of ten: " + ", ".join(query for query, *_ in PANELS) + " by " + ", ".join(classes)
             + "; " + ", ".join(query for _, query in RESIDENT_PANELS) + " by " + ", ".join(resident_classes))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">',
           f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
           f'<rect class="paper" width="{WIDTH}" height="{height}"/>']
    out += legend(classes)
    for number, (query, name, way) in enumerate(PANELS):
        out += panel(LEFT + number * STEP, name, way, times[query], classes, scales)
    machine = comments[1].split(", ")
    out.append(text(LEFT, HEIGHT - 32, "Milliseconds against rows, both in powers of ten: lower is faster. Tables in memory, one process or "
                    "thread each, y from 0 to 999,999, medians.", "faint"))
    out.append(text(LEFT, HEIGHT - 14, f"{machine[0][:10]}, {', '.join(machine[2:])}; bench/results/{os.path.basename(path)}", "faint"))
    out.append(f'<g transform="translate(0,{HEIGHT})">')
    out += legend(resident_classes)
    for number, (query, name) in enumerate(RESIDENT_PANELS):
        out += panel(LEFT + number * STEP, name, "x is kept: 1,000 different values", resident[query], resident_classes, resident_scales)
    machine = resident_comments[1].split(", ")
    out.append(text(LEFT, RESIDENT_HEIGHT - 32, "Whole statements of hpsort in one process, and of PostgreSQL with eight workers. Tables in memory, medians.", "faint"))
    out.append(text(LEFT, RESIDENT_HEIGHT - 14, f"{machine[-1]}, {', '.join([machine[0], *machine[3:-1]])}; "
                    f"bench/results/{os.path.basename(resident_path)}", "faint"))
    out.append("</g>")
    out.append("</svg>")
    return "\n".join(out) + "\n"


def main():
    arguments = sys.argv[1:]
    check = arguments == ["--check"]
    if not arguments or check:
        arguments = [name for pattern in ("*-picture.csv", "*-resident-gpu.csv")
                     for name in sorted(glob.glob(os.path.join(root, "bench", "results", pattern)))[-1:]]
    if len(arguments) != 2:
        raise SystemExit(__doc__)
    drawn = draw(*arguments)
    if not check:
        with open(target, "w", encoding="utf-8") as file:
            file.write(drawn)
    elif not os.path.exists(target) or open(target, encoding="utf-8").read() != drawn:
        raise SystemExit(f"docs/picture.svg is not drawn from {' and '.join(map(os.path.basename, arguments))}: run bench/picture/draw.py")


main()
