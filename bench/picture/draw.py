#!/usr/bin/env python3
"""Draws docs/picture.svg, and writes its table into docs/performance.md, from the newest bench/results/*-picture.csv of measure.sh.

draw.py [CSV]: writes both; draw.py --check: fails if they are not what this would write, or if hpsort was
measured in an older version than hpsort.control has.

The table is what stands between "<!-- table picture -->" and "<!-- end -->"; the rest of the page is written by hand.
"""
import csv
import glob
import math
import os
import re
import sys
from html import escape

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
picture = os.path.join(root, "docs", "picture.svg")
page = os.path.join(root, "docs", "performance.md")

# Query, what it is, and its SQL as the picture and the table have it.
PANELS = [
    ("order", "Rows in order", "SELECT * … ORDER BY y"),
    ("percentile", "A percentile", "percentile_disc(0.5) … (ORDER BY y)"),
    ("groups", "A percentile by group", "x, percentile_disc(0.5) … GROUP BY x"),
]
# A class of lines for each contender, by the beginning of its name, in the order of the legend.
CLASSES = [
    ("PostgreSQL", "postgresql"), ("DuckDB", "duckdb"), ("hpsort: columns kept in memory", "memory"),
    ("hpsort: columns kept on a GPU", "gpu"), ("hpsort", "hpsort"),
]
STYLE = """
svg { font: 12px -apple-system, "Segoe UI", "Liberation Sans", Arial, sans-serif; }
.paper { fill: #ffffff } text { fill: #1f2328 } .faint { fill: #59636e } .grid { stroke: #d1d9e0 }
.postgresql { stroke: #59636e; fill: #59636e } .duckdb { stroke: #bc4c00; fill: #bc4c00 } .hpsort { stroke: #0969da; fill: #0969da }
.memory { stroke: #8250df; fill: #8250df } .gpu { stroke: #1a7f37; fill: #1a7f37 }
@media (prefers-color-scheme: dark) {
.paper { fill: #0d1117 } text { fill: #f0f6fc } .faint { fill: #9198a1 } .grid { stroke: #3d444d }
.postgresql { stroke: #b7bdc8; fill: #b7bdc8 } .duckdb { stroke: #f0883e; fill: #f0883e } .hpsort { stroke: #4493f8; fill: #4493f8 }
.memory { stroke: #ab7df8; fill: #ab7df8 } .gpu { stroke: #3fb950; fill: #3fb950 }
}
path { stroke-width: 1.75 } path.line { fill: none } path.duckdb { stroke-dasharray: 5 3 } path.hpsort { stroke-width: 3 }
text.value { stroke: none } .title { font-weight: 600 }
"""

WIDTH, HEIGHT, LEFT, TOP, PANEL_WIDTH, PANEL_HEIGHT, STEP = 936, 410, 56, 96, 190, 230, 310


def read(path):
    """The comments before the table, and median_ms by query, contender and rows."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    comments = [line[2:] for line in lines if line.startswith("#")]
    times = {}
    for row in csv.DictReader(line for line in lines if not line.startswith("#")):
        times.setdefault(row["query"], {}).setdefault(row["contender"], {})[int(row["rows"])] = float(row["median_ms"])
    return comments, times


def styles(times):
    """The contenders, and the class of each, in the order of the legend."""
    classes = {}
    for contender in {c for lines in times.values() for c in lines}:
        classes[contender] = next(css for beginning, css in CLASSES if contender.startswith(beginning))
    order = ["postgresql", "duckdb", "hpsort", "memory", "gpu"]
    return dict(sorted(classes.items(), key=lambda item: order.index(item[1])))


def round_ms(ms):
    return f"{ms:,.0f}" if ms >= 100 else f"{ms:.0f}" if ms >= 10 else f"{ms:.1f}"


def power(exponent):
    return f"{10 ** exponent:,}" if exponent >= 0 else f"{10.0 ** exponent:g}"


# --- the picture

def text(x, y, content, css="", anchor="start"):
    css = f' class="{css}"' if css else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{css}>{escape(content)}</text>'


def panel(left, title, sql, lines, classes, scales):
    """One query: grid, a line for each contender, and its time for the most rows beside it."""
    (least_rows, most_rows), (low, high) = scales

    def x(rows):
        return left + PANEL_WIDTH * math.log(rows / least_rows) / math.log(most_rows / least_rows)

    def y(ms):
        return TOP + PANEL_HEIGHT * (1 - (math.log10(ms) - low) / (high - low))

    out = [text(left, TOP - 30, title, "title"), text(left, TOP - 14, sql, "faint")]
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
        out.append(f'<path class="line {css}" d="M{line}"/>')
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
        out.append(f'<path class="line {css}" d="M{at},22L{at + 24},22"/>')
        out.append(text(at + 30, 26, contender))
        at += 30 + 6 * len(contender) + 24
    return out


def draw(comments, times):
    classes = styles(times)
    scales = scales_of(times)
    title = ("Milliseconds against rows, both in powers of ten: " + ", ".join(sql for _, _, sql in PANELS) + " by " + ", ".join(classes))
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" role="img">',
           f"<title>{escape(title)}</title>", f"<style>{STYLE}</style>",
           f'<rect class="paper" width="{WIDTH}" height="{HEIGHT}"/>']
    out += legend(classes)
    for number, (query, name, sql) in enumerate(PANELS):
        out += panel(LEFT + number * STEP, name, sql, times[query], classes, scales)
    out.append(text(LEFT, HEIGHT - 32, "Milliseconds against rows, both in powers of ten: lower is faster. Unchanged queries of tables in memory, "
                    "one process or thread each, medians.", "faint"))
    machine = comments[1].split(", ")
    out.append(text(LEFT, HEIGHT - 14, f"{machine[0][:10]}, {', '.join(machine[2:4])}; {comments[2]}", "faint"))
    out.append("</svg>")
    return "\n".join(out) + "\n"


# --- the table of the most rows

def table(path, times):
    classes = styles(times)
    most = scales_of(times)[0][1]
    lines = [f"| {most:,} rows, ms | " + " | ".join(classes) + " |", "|" + "---|" * (len(classes) + 1)]
    for query, _, sql in PANELS:
        cells = [round_ms(times[query][c][most]) if c in times[query] else "" for c in classes]
        lines.append(f"| `{sql}` | " + " | ".join(cells) + " |")
    run = os.path.basename(path)
    return "\n".join(lines + ["", f"Run: [{run}](../bench/results/{run})."])


def with_table(written, path, times):
    """The page with this table in it."""
    begin, end = "<!-- table picture -->\n", "<!-- end -->"
    if begin not in written:
        raise SystemExit(f"docs/performance.md has no {begin.strip()}")
    before, after = written.split(begin, 1)
    return before + begin + table(path, times) + "\n" + end + after.split(end, 1)[1]


# --- versions

def version(words, where):
    """The first two numbers of a version, from text before which "words" stands."""
    found = re.search(words + r"(\d+)\.(\d+)", where)
    return found and (int(found[1]), int(found[2]))


def check_version(comments):
    """The picture is to be of the hpsort that is described beside it."""
    with open(os.path.join(root, "hpsort.control"), encoding="utf-8") as file:
        current = version("default_version = '", file.read())
    measured = version("hpsort ", comments[2])
    if not measured or measured < current:
        raise SystemExit(f"docs/picture.svg was measured with hpsort {'.'.join(map(str, measured)) if measured else 'of an unknown version'}, "
                         f"and this is {'.'.join(map(str, current))}: run bench/picture/measure.sh")


def main():
    arguments = sys.argv[1:]
    check = arguments == ["--check"]
    if not arguments or check:
        arguments = sorted(glob.glob(os.path.join(root, "bench", "results", "*-picture.csv")))[-1:]
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    path = arguments[0]
    comments, times = read(path)
    if check:
        check_version(comments)
    with open(page, encoding="utf-8") as file:
        written = file.read()
    contents = {picture: draw(comments, times), page: with_table(written, path, times)}
    for name, content in contents.items():
        if not check:
            with open(name, "w", encoding="utf-8") as file:
                file.write(content)
        elif not os.path.exists(name) or open(name, encoding="utf-8").read() != content:
            raise SystemExit(f"{os.path.relpath(name, root)} is not of {os.path.basename(path)}: run bench/picture/draw.py")


main()
