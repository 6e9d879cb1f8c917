"""The numbers in the sentences of docs/internals/papers.md.

Each claim is a piece of a sentence as the newest runs have it; tables.py --check
looks for it in the text.  A new run that makes one untrue so names the sentence
to read again: whether its words still hold is for a person to say.
"""
import itertools
import os
import re

from points import (ONE_VALUE, RESULTS, abdel_hafeez, disturbed, faster as faster_peer, hp_figure, kozakai, log, lower_bounds,
                    read, read_charts, runs, seconds, source, sql, sql_gpus, threads_run, threads_that_ran, times)

ZERO = "zero_compressed_published"

# Of keys of one value by comparison_free there are other times in these.
ANOTHER_HOST = os.path.join(RESULTS, "papers-h100-2026-11-21-2.csv")
T_OF_THE_RUN = os.path.join(RESULTS, "papers-h100-2026-11-23.csv")


def span(values, form=".1f", word="to"):
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} {word} {high}"


def over(points, name, peer="cub"):
    """How many times faster than the peer, by n."""
    return {n: point[peer] / point[name] for n, point in points.items()}


def percent(times):
    return 100 * (times - 1)


def if_so(condition, words):
    """Words that are true under a condition."""
    return words if condition else f"the contrary of: {words}"


def is_chart(key):
    """Points of the papers' charts: not those that only the text of 2022 names."""
    return not key[0].startswith("2022 ")


def named(key, times):
    return f"{key[2]:,} keys, {key[1]} ({times:.2f} times)"


def row(*cells):
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def link(words, path):
    return f"[{words}](../../bench/results/{os.path.basename(path)})"


def two_runs():
    """The newest run of all figures beside the one before."""
    new, old = itertools.islice(runs("hp"), 2)
    now, before = times(new), times(old)

    def ratios(series, least=0):
        return sorted(now[key] / before[key] for key in now
                      if key[4] in series and before.get(key, 0) > least)

    def tenths(series, percents):
        agree = [abs(percent(ratio)) <= percents for ratio in ratios(series)]
        return 10 * sum(agree) // len(agree)

    cpu = ratios(("cpu_1", "std_sort", "std_stable_sort", "vqsort_1", "radix 8 bits"), 1)
    yield f"{link('all points', new)}, {seconds(new)} s"
    yield (f"sorts of a millisecond and more by one thread took {span(cpu)} times, {cpu[len(cpu) // 2]:.1f} in the "
           f"middle, what they took in {link('another run', old)}")
    same = ("cub", "cub_bits", "cub_pairs", "cub_pairs_bits", "hp", "one_hp", "hpsort", "permutation", "bucket_radix",
            "bucket_bitonic", "gpu")
    yield if_so(tenths(same, 5) == 9 and tenths(("thrust", ZERO), 20) == 9,
                "Times on the GPU agree to 5 % in nine of ten points, times of Thrust and of 0-compressed as "
                "published to 20 %")


def best_choice():
    points = {key: point for key, point in read_charts().items() if is_chart(key)}
    both = {key: point["hpsort"] / point["hp"] for key, point in points.items()
            if point["hp"] < min(point["cub_bits"], point["hpsort"])}
    distinct = [key for key in both if key[1] == "distinct"]
    others = [key for key in both if key[1] != "distinct"]
    one = {key: point["hpsort"] / point["one_hp"] for key, point in points.items()
           if point.get("one_hp") == min(point[name] for name in
                                         ("thrust", "cub", "cub_bits", "hp", ZERO, "hpsort",
                                          "one_hp") if name in point)}
    # peers that know the range; Zhang and Wu's keys have 16 and 32 bits
    engine = {key: point["hpsort"] / point.get("cub_bits", point["cub"])
              for group in ("hp", "zhang", "free") for key, point in read(group).items()
              if "hpsort" in point}
    slower = sorted(((times, key) for key, times in engine.items() if times > 1), reverse=True)
    interval = [1 / times for figure in (14, 15)
                for times in over(hp_figure(points, f"2021-{figure}"), "hp").values()]

    def most(keys, figure):
        return max((n for f, _, n in keys if f == f"2021-{figure}"), default=0)

    yield (f"Of {len(points)} points of the H-P charts `hp` beats CUB in "
           f"{sum(point['hp'] < point['cub'] for point in points.values())}, CUB bits in "
           f"{sum(point['hp'] < point['cub_bits'] for point in points.values())}, and both CUB "
           f"bits and hpsort in {len(both)}: up to "
           + " and ".join(f"{most(distinct, figure):,} {keys}" for figure, keys in
                          ((8, "distinct keys with δ 1"), (9, "with δ 0.5"), (10, "with δ 0.25"))
                          if most(distinct, figure) > 0) +
           f" (by up to {max(both[k] for k in distinct):.2f} times over hpsort)")
    yield (f"and {len(others)} of other keys (by up to {max(both[k] for k in others):.2f})"
           if others else "and none of other keys")
    yield (f"fastest of all for distinct keys up to {most(one, 8):,} with δ 1, {most(one, 9):,} with "
           f"0.5, {most(one, 10):,} with 0.25 (by up to {max(one.values()):.2f} times over hpsort)")
    yield (f"slower than CUB bits in {len(slower)} of {len(engine)} points: " +
           "; ".join(named(key, times) for times, key in slower[:3]))
    yield f"`hp` is {span(interval, '.0f')} times slower than CUB"


def stable():
    points = {key: point for key, point in read_charts().items() if "permutation" in point}

    def times(peer):
        return [point[peer] / point["permutation"] for point in points.values()]

    def wins(peer):
        return sum(t > 1 for t in times(peer))

    def middle(values):
        return f"{sorted(values)[len(values) // 2]:.2f}"

    cost = [point["permutation"] / point["hpsort"] for point in points.values()]
    slower = sorted((point["permutation"] / point["cub_pairs_bits"], key)
                    for key, point in points.items()
                    if point["permutation"] > point["cub_pairs_bits"])
    for peer, words in (("cub_pairs", "CUB's pairs"), ("cub_pairs_bits", "CUB's pairs, told the bits")):
        yield row(words, f"{wins(peer)} of {len(points)} points", middle(times(peer)), f"up to {max(times(peer)):.2f}")
    yield ("The exceptions beside pairs that are told the bits: " + "; ".join(f"Fig. {key[0][5:]} at {key[2] // 10**6} million, {t:.2f} times as "
                                          "long" for t, key in slower))
    yield row("the unstable H-P on keys alone", f"{wins('hp')} of {len(points)} points", middle(times('hp')),
              f"{min(times('hp')):.2f} to {max(times('hp')):.0f}")
    yield f"Stability costs {middle(cost)} times what hpsort takes for the keys alone, from {min(cost):.2f} on"


def hp_2021():
    points, then = read_charts(), kozakai()

    def now(figures, name):
        return [times for figure in figures
                for times in over(hp_figure(points, f"2021-{figure}"), name).values()]

    def old(figures, name):
        return [times for figure in figures for times in
                over({n: p for (f, n), p in then.items() if f == figure}, name).values()]

    def gap(figures):
        """0-compressed less H-P, µs."""
        return [1000 * (point[ZERO] - point["hp"]) for figure in figures
                for point in hp_figure(points, f"2021-{figure}").values()]

    def against_both(figures, name):
        """Over the faster of CUB and Thrust, as the authors have it: then and now, by n."""
        return ([faster_peer(p) / p[name] for (f, _), p in then.items() if f in figures],
                [faster_peer(p) / p[name] for f in figures
                 for p in hp_figure(points, f"2021-{f}").values()])

    most = 10**7
    lost = disturbed(read("hp"))
    yield (f"{len(lost)} of the {len(read('hp'))} H-P points are disturbed")
    one = [against_both([f], "one_hp") for f in (8, 9, 10)]
    smallest = [hp_figure(points, f"2021-{f}")[10**5] for f in (8, 9, 10)]
    yield row("then", *(span(t) for t, _ in one))
    yield row("now", *(span(n) for _, n in one))
    yield row("then, 100,000 keys, where Thrust was the faster one",
              *(format(faster_peer(then[f, 10**5]) / then[f, 10**5]['one_hp'], '.2f') for f in (8, 9, 10)))
    yield row("now, 100,000 keys", *(format(faster_peer(p) / p['one_hp'], '.2f') for p in smallest))
    yield (f"Thrust is the faster of both in {sum(p['thrust'] < p['cub'] for p in points.values())} of "
           f"{len(points)} points now, in {sum(p['thrust'] < p['cub'] for p in then.values())} of "
           f"{len(then)} then")
    yield f"1-H-P was at most {max(old([8], 'one_hp')):.1f} times as fast as CUB"
    million = over({f: then[f, 10**6] for f in (8, 9, 10)}, "one_hp")
    yield f"at a million keys {span(million.values(), '.2f')} times"
    yield (f"On an H100 it is {span(now([8], 'one_hp'))} times as fast with δ 1 and "
           f"{span(now([10], 'one_hp'))} times with δ 0.25")
    yield f"The authors gained up to {max(old((13, 22, 23), 'hp')):.1f} times with δ of 50 and 100"
    yield (f"On an H100, H-P is {span(now([13], 'hp'))} times as fast as CUB at δ 50 uniform, and "
           f"{span(now((22, 23), 'hp'), '.2f')} times on the arbitrary data of 22 and 23")
    ended = min(n for (figure, n), p in then.items() if figure == 12 and p["hp"] > p["cub"])
    yield (f"With δ 10 uniform it is {span(now([12], 'hp'))} times as fast at all sizes; then it was "
           f"the slower one from {ended // 10**6} million keys on")
    yield (f"CUB has become {then[13, most]['cub'] / hp_figure(points, '2021-13')[most]['cub']:.0f} "
           f"times faster and H-P {then[13, most]['hp'] / hp_figure(points, '2021-13')[most]['hp']:.0f} "
           "times (Fig. 13, 10 million)")
    yield (f"is slower than H-P here with δ of 10 and more, by {span(gap((12, 13, 21, 22, 23)), '.0f')} "
           "µs")
    gains = {n: percent(point["hp"] / point[ZERO]) for n, point in hp_figure(points, "2021-17").items()}
    level = min(n for n, gain in gains.items() if gain >= 0)
    faster = min(n for n, gain in gains.items() if gain > 2)
    yield if_so(all((gain >= 0) == (n >= level) and (gain > 2) == (n >= faster) for n, gain in gains.items()),
                f"0-compressed with δ 1 and σ 100 draws level at {level // 10**6} million keys, and is faster by more "
                f"than 2 % from {faster // 10**6} million keys on")
    interval = (14, 15, 18, 19, 20)
    fig15 = hp_figure(points, "2021-15")[most]
    yield f"0-compressed was up to {max(old(interval, ZERO)):.1f} times as fast as CUB"
    yield f"now it is {span(now(interval, ZERO), '.2f')} times as fast"
    yield f"{fig15['hp']:.1f} ms in Fig. 15"
    yield f"({fig15[ZERO]:.2f} against {fig15['hp']:.1f})"
    yield f"{span(now((18, 19, 20), 'hpsort'))} times CUB in Figs. 18 to 20"
    least = min(over(points, "hpsort", "cub_bits").items(), key=lambda item: item[1])
    yield (f"hpsort itself gains least over CUB bits in Fig. {least[0][0][5:]} at "
           f"{least[0][2]:,} keys ({least[1]:.2f} times)")


def hp_2022():
    points = read("hp")
    one, fig7, fig8, fig9 = (hp_figure(points, f"2022-{f}") for f in (6, 7, 8, 9))
    most = 20000000
    yield if_so(all(p["one_hp"] < min(p["cub"], p["hp"], p[ZERO]) for p in one.values()),
                "1-H-P is the fastest of his from 200,000 to 2 million distinct keys, as he found")
    faster = min(n for n, p in one.items() if p["hpsort"] < p["one_hp"])
    yield f"(hpsort is faster from {faster // 10**6} million on)"
    yield (f"H-P is {span(over(fig7, 'hp').values(), '.2f')} times as fast as CUB with δ 50, σ 50, but "
           f"at 20 million {over(fig7, 'hp', 'cub_bits')[most]:.2f} times CUB bits")
    yield if_so(all(p["cub"] < p[ZERO] for p in fig8.values()),
                f"now CUB is faster at all sizes, by {1 / over(fig8, ZERO)[most]:.1f} times at 20 "
                f"million, and hpsort by {over(fig8, 'hpsort', ZERO)[most]:.1f}")
    yield f"the gap is now {1 / over(fig9, 'hp')[most]:.0f} times"


def hp_2022_text():
    """The data that the text names without a chart, and lower bounds."""
    points = read("hp")
    grid = {(data, n): point for (figure, data, n), point in points.items() if figure == "2022 grid"}

    def best(delta, names=("hp", ZERO)):
        return [max(p["cub"] / p[name] for name in names) for (data, _), p in grid.items()
                if f"delta {delta} " in data]

    yield row("the better of H-P and 0-compressed", *(span(best(delta), '.2f') for delta in (1, 10, 50)))
    one = [p["cub"] / p["one_hp"] for (figure, _, _), p in points.items() if figure == "2022 distinct"]
    yield f"1-H-P with δ 0.5 and 0.25 up to 2 million: {span(one, '.2f')} times"
    shifts = [points[shifted][name] / points[zero][name]
              for lo in (-2**31, -1000000007, -1, 1, 1000000007)
              for zero, shifted, _, names in lower_bounds(lo) for name in names if name != "hpsort"]
    yield (f"With five other lower bounds the three take {span(shifts, '.2f')} times what they take with 0")
    told = [points[shifted]["cub_bits"] / points[zero]["cub_bits"]
            for lo in (-2**31, -1000000007, -1, 1, 1000000007)
            for zero, shifted, _, _ in lower_bounds(lo)]
    yield (f"CUB told the bits that differ takes {span(told, '.2f')} times as long")


def zhang_wu():
    points = read("zhang")
    now = [points["6", data, 2**24] for data in ("16 bits", "32 bits")]

    def both(name, form):
        return span([p[name] / p["bucket_radix"] for p in now], form, "and")

    def share(name, k=24):
        return [100 * points["7", data, 2**k].get("phase " + name, 0) /
                points["6", data, 2**k]["bucket_radix"] for data in ("16 bits", "32 bits")]

    # "and" lists one pass and two, and span() puts the smaller first
    yield f"two passes and one are {both('std_sort', '.0f')} times as fast at 2^24"
    yield f"over a vectorised CPU sort {both('vqsort_1', '.1f')} times"
    yield f"CUB is {span([p['bucket_radix'] / p['cub'] for p in now], '.0f')} times as fast"
    yield row("bucket partition, whose atomics today's L2 does fast", "about 70 % of one pass",
              f"{span(share('bucket partition'), '.0f')} %", f"{span(share('bucket partition', 16), '.0f')} %")
    yield row("conflict-free counting", "", f"{span(share('counting sort'), '.0f')} %",
              f"{span(share('counting sort', 16), '.0f')} %")
    yield row("insertion sort", "10 %", f"{share('insertion sort')[1]:.0f} %", "")
    n = 2**24
    few, many = points["7", "16 bits", n], points["7 other", "16 bits s 65536", n]
    whole = points["6", "16 bits", n]
    yield ("With s = 2^16 the counting of 2^24 keys of 16 bits takes "
           f"{many['phase counting sort']:.2f} ms, {few['phase counting sort'] / many['phase counting sort']:.0f}"
           " times less; they had over 10")
    eight = points["7 other", "16 bits r 256", n]
    yield (f"With r = 2^8 two passes take {whole['bucket_radix r 256']:,.0f} ms: insertion, which a thread does "
           f"for each upper digit, gives up after {eight['phase insertion sort']:,.0f}")


def comparison_free():
    points, then = read("free"), abdel_hafeez()
    data = ("random", "gaussian", "reversed", "nearly sorted", "70 % repeated", ONE_VALUE)
    differ = data[:5]

    def gpu(shape, k, name="gpu", figure="8-13"):
        return points[figure, shape, 2**k][name]

    def spread(shapes):
        return span([max(gpu(d, k) for d in shapes) / min(gpu(d, k) for d in shapes)
                     for k in (20, 22, 24, 26, 28)])

    flat = [gpu("100 % repeated", k) / gpu("random", k) for k in (20, 22, 24, 26)]
    hosts = [t["gpu"] / gpu("gaussian", n.bit_length() - 1, "gpu with transfers")
             for n, t in then.items()]
    peers = [gpu("gaussian", k, "gpu with transfers") / gpu("gaussian", k, "cub with transfers")
             for k in (20, 22, 24, 26, 28)]
    yield f"Host to host it is {span(hosts, '.0f')} times as fast as on their card"
    yield f"CUB with the same transfers is {span(peers)} times as fast"
    yield (f"{spread(differ)} times between best and worst from 2^20 keys on where keys differ; they say "
           "1.1")
    for shape, words, form in (("70 % repeated", "70 % repeated: a uniform choice among 0.3 N values", ".2f"),
                               (ONE_VALUE, "70 % repeated: one value for 70 % of them", ".0f")):
        yield row(words, span([gpu(shape, k) / gpu("random", k) for k in (20, 22, 24, 26, 28)], form),
                  span([gpu(shape, k, "cpu_1") / gpu("random", k, "cpu_1") for k in (20, 22, 24)], ".2f"))
    yield row("one value alone (they call it slightly slower)", span(flat, '.0f'), "")
    writes = points["14", "100 % repeated", 2**26]["phase sort"]
    yield (f"{gpu('100 % repeated', 26):.0f} ms for 2^26 keys, {writes * 1e6 / 2**26:.1f} ns a key for the one "
           "thread")
    before = {path: {key[4]: ms for key, ms in times(path).items() if key[2:4] == ("100 % repeated", str(2**26))}
              for path in (ANOTHER_HOST, T_OF_THE_RUN)}
    yield (f"{link('{:.0f} ms on another H100'.format(before[ANOTHER_HOST]['gpu']), ANOTHER_HOST)}, "
           f"{before[ANOTHER_HOST]['phase sort'] * 1e6 / 2**26:.1f} ns a key")
    yield link(f"{before[T_OF_THE_RUN]['gpu']:.0f}", T_OF_THE_RUN)
    wide = points["16", "gaussian 1000 N", 2**20]
    yield (f"at 2^20 it is {wide['gpu'] / gpu('gaussian', 20):.0f} times on the GPU and "
           f"{wide['cpu_1'] / gpu('gaussian', 20, 'cpu_1'):.0f} on one CPU thread")
    yield ("CUB told the range is "
           f"{span([gpu(d, k) / gpu(d, k, 'cub') for d in differ for k in (24, 26, 28)])} times as fast at "
           "2^24 to 2^28")
    yield (f"VQSort on one thread is "
           f"{span([gpu('gaussian', k, 'cpu_1') / gpu('gaussian', k, 'vqsort_1') for k in (20, 22, 24, 26)])}"
           " times as fast (Gaussian, 2^20 to 2^26)")
    onehot = {k: points["method 1", "random", 2**k] for k in range(8, 18)}
    yield f"2^17 keys take 17 GB and {onehot[17]['onehot']:.1f} ms by equation 11"
    yield f"where method 2 and CUB take {onehot[17]['gpu']:.3f} and {onehot[17]['cub']:.3f}"
    last = max((k for k, p in onehot.items() if p["onehot"] < p["gpu"]), default=0)
    yield f"Method 1 is the faster one up to 2^{last} keys"


def crossing():
    """Figs. 9 to 15, 17 and 18, by eight threads that all ran."""
    points, then = read("free"), abdel_hafeez()
    gaussian = {n.bit_length() - 1: p for (f, d, n), p in points.items()
                if (f, d) == ("8-13", "gaussian")}

    def first(name, peer):
        """From which n on it is the faster one, and stays so."""
        return max([k for k, p in gaussian.items() if name in p and peer in p and p[name] >= p[peer]],
                   default=7) + 1

    def average(name, peer, least, most=26):
        gains = [p[peer] / p[name] for k, p in gaussian.items()
                 if least <= k <= most and name in p and peer in p]
        return sum(gains) / len(gains)

    eight = [gaussian[k]["cpu_8"] for k in (20, 22, 24, 26)]
    theirs = [then[2**k]["cpu_8"] for k in (20, 22, 24, 26)]
    yield row("ours", *(f"{t:#.3g}".rstrip(".") for t in eight[:3]), f"{eight[3]:,.0f}")
    yield row("theirs", *(f"{t:,.0f}" for t in theirs))
    yield (f"Eight threads gain {average('cpu_8', 'cpu_1', 20, 24):.1f} times on average from 2^20 to 2^24 (" +
           ", ".join(f"{gaussian[k]['cpu_1'] / gaussian[k]['cpu_8']:.1f}" for k in (20, 22, 24)) + ")")
    shared = [p["cpu_8_shared"] / p["cpu_8"] for k, p in gaussian.items() if k >= 16 and "cpu_8_shared" in p]
    yield f"the shared counters take {span(shared)} times as long from 2^16 keys on"
    yield if_so(all(gaussian[k]["cpu_8_shared"] < gaussian[k]["cpu_8"] for k in (20, 22, 24)),
                "from 2^20 on they are the faster ones, having an eighth of the memory to zero and nothing to "
                "merge")
    yield (f"The GPU is faster than one thread from 2^{first('gpu', 'cpu_1')} keys on, with transfers from "
           f"2^{first('gpu with transfers', 'cpu_1')} (they found 2^13)")
    yield if_so(first("gpu with transfers", "cpu_8") == min(gaussian),
                "It is faster than eight threads at all sizes")
    for threads, cpu, had in (("one thread", "cpu_1", "5.6"), ("eight threads", "cpu_8", "4.1")):
        yield row(threads, f"{average('gpu', cpu, 20):.0f}", f"{average('gpu with transfers', cpu, 20):.0f}", had)
    peers = {k: points["17", "gaussian", 2**k] for k in (20, 22, 24)}
    for name, words, had in (("std_sort", "the STL's sort", "4.6"), ("std_stable_sort", "the STL's merge sort", "6"),
                             ("radix 8 bits", "a radix sort of eight bits", "6")):
        yield row(words, span([p[name] / gaussian[k]["cpu_1"] for k, p in peers.items()]), had)
    memory = points["11-15-18", "gaussian", 2**26]
    yield (f"2^26 keys take {memory['gpu bytes'] / 1e6:,.0f} MB on the GPU besides keys and result, "
           f"{memory['cpu_1 bytes'] / 1e6:,.0f} by one thread and {memory['cpu_8 bytes'] / 1e6:,.0f} by eight")


def threads():
    points = read("threads")
    few = {key: p for key, p in points.items() if key[2] == 1000}
    even = {key: p for key, p in points.items() if key[1] == key[2]}

    def spread(some):
        return span([max(one) / min(one) for k in range(16, 25, 2)
                     for one in [[p[1] for (_, n, _), p in some.items() if n == 2**k]]])

    def gains(some):
        return [p[1] / min(p.values()) for (_, n, _), p in some.items() if n == 2**24]

    def both(run):
        """The gain with few values, and with as many as keys: two cells of a row."""
        return (span(gains({key: p for key, p in run.items() if (key[2] == 1000) == few}), form)
                            for few, form in ((True, ".0f"), (False, ".1f")))

    loss = sorted((percent(ms / p[1]), key) for key, p in points.items()
                  for t, ms in p.items() if t > 1)
    worst = loss[-1][1]
    rest = max(times for times, key in loss if key != worst)
    forced = read("forced")
    start = [1000 * (p[t] - p[1]) / (t - 1) for (_, n, r), p in forced.items()
             if n == 8192 and r == 1000 for t in (2, 4, 8, 16)]
    ran = threads_that_ran(2**24, 2**24)
    _, other_run = itertools.islice(runs("threads"), 2)
    other = threads_run(other_run)
    slower = sorted(points[key][1] / p[1] for key, p in other.items() if key in points and key[1] == 2**24)
    yield if_so(slower[len(slower) // 2] > 1,
                row(f"{link('another one of the kind', other_run)}, {slower[len(slower) // 2]:.1f} times as fast "
                    "with one thread", *both(other)))
    yield row(f"{link('sixteen cores of the machine with two H100', source('beside'))}, beside tests on the other "
              "sixteen", *both(read('beside')))
    yield ("of 1, 2, 4, 8 and 16 threads allowed " + ", ".join(str(t) for t in ran[:-1]) +
           f" and {ran[-1]} ran where there are as many values as keys")
    yield row("this one", span(gains(few), '.0f'), span(gains(even)))
    yield if_so(all(p[1] < min(p[t] for t in p if t > 1) for (_, n, r), p in forced.items()
                    if (n, r) == (2**16, 1000)), "here it still is at 2^16 keys of 1,000 values")
    yield f"Each further thread costs {span(start, '.0f')} µs"
    yield (f"{worst[1]:,} {worst[0]} keys of {worst[2]:,} values lose {loss[-1][0]:.0f} % by that, nothing "
           f"else measured more than {rest:.0f}")
    yield (f"takes {spread(even)} times as long as the fastest with as many values as keys, {spread(few)} "
           "with 1,000")


def chen():
    points = read("chen")
    n = 24000000
    lists = [p for (figure, _, m), p in points.items() if figure in ("2", "3") and m == n]
    pairs = [p for (figure, _, m), p in points.items() if figure == "payload" and m == n]
    wide = [p for (figure, _, m), p in points.items() if figure == "3b" and m == n]
    ways = {name: p for (figure, name, m), p in points.items() if figure == "eq. 2" and m == n}
    images = {name: p for (figure, name, m), p in points.items() if figure == "images"}
    strided = [percent(p["strided"] / p["not strided"]) for p in lists if "strided" in p]
    phases = points["4", "int uniform", n]
    merge = points["merge", "int uniform", 64000000]

    yield ("extremes and disorder {:.2f}, slices {:.2f}, buckets {:.2f}, moving {:.2f}, bitonic {:.2f}"
           .format(*(phases["phase " + name] for name in
                     ("extremes", "slice division", "slice merge", "move", "bitonic sort"))))
    yield (f"one pass {merge['one pass']:.2f}, cut into four, sorted and merged "
           f"{merge['passes of 16M']:.2f}, CUB {merge['cub']:.2f}")
    yield (f"it is {span([p['std_sort'] / p['bucket_bitonic with transfers'] for p in lists], '.0f')} times "
           "as fast with transfers")
    kinds = [points["3", "float " + shape, n]["bucket_bitonic"] /
             points["2", "int " + shape, n]["bucket_bitonic"]
             for shape in ("uniform", "gaussian", "nearly sorted")]
    yield ("integers and floats take the same, to "
           f"{max(abs(percent(times)) for times in kinds):.0f} %")
    yield (f"CUB is {span([p['bucket_bitonic'] / p['cub'] for p in lists])} times as fast on keys "
           f"({span([p['bucket_bitonic with transfers'] / p['cub with transfers'] for p in lists])} with "
           f"transfers) and {span([p['bucket_bitonic'] / p['cub'] for p in pairs])} on pairs")
    yield f"it costs {span(strided, '.0f')} % now"
    yield ("their disorder is " + span([p["disorder"] for name, p in ways.items() if "nearly" in name],
                                       ".2f") + ", below C = 10, and the strided way was taken")
    yield ("Structures of four floats take " + span([p["bucket_bitonic"] for p in wide]) + " ms, " +
           span([p["bucket_bitonic with transfers"] for p in wide], ".0f") + " with transfers, " +
           span([p["std_sort"] / p["bucket_bitonic with transfers"] for p in wide], ".0f") +
           " times as fast as the STL's sort of them")
    even = images["float uniform"]
    yield (f"Images of uniform floats cut as integers take {even['as integers']:.2f} ms and "
           f"{even['levels as integers']:.0f} level of recursion, by the numbers' value "
           f"{even['by value']:.2f} and {even['levels by value']:.0f}")
    options = points["E and M", "int uniform", n]
    quickest = min(options, key=options.get)
    yield (f"Of their parameters {quickest.replace('M ', 'M = ').replace(' E ', ', E = ')} is the best now: "
           f"{options[quickest]:.2f} ms, M = 512, E = 80 {options['M 512 E 80']:.2f}")
    yield (f"Cutting into four, sorting and merging costs "
           f"{percent(merge['passes of 16M'] / merge['one pass']):.0f} % over one pass")


def gpus():
    """One GPU, the same twice, and two: host to host, jobs, and from SQL."""
    points = read("gpus")

    def gains(figure, way, least, most, data=None):
        """How many times as fast as one, for least to most million keys."""
        return span([p["one gpu"] / p[way] for (f, d, n), p in points.items()
                     if f == figure and least <= n / 10**6 <= most and data in (None, d)], ".2f")

    two = [gains("5", "two gpus", n, n) for n in (24, 64)]
    pairs = [gains("5 structures", "two gpus", n, n) for n in (24, 64)]
    yield row("keys", gains('5', 'two gpus', 0, 16), two[0], gains('5', 'two gpus', 32, 32), two[1])
    yield row("with payloads", "", pairs[0], "", pairs[1])
    yield (f"The same GPU twice is {gains('5', 'the same gpu twice', 32, 64, 'int uniform')} times as fast as once "
           "from 32 million on")
    for data, words in (("int uniform", "the number of keys known"), ("int uniform streamed", "not known")):
        yield row(words, gains("5 jobs", "two gpus", 0, 24, data), gains("5 jobs", "two gpus", 32, 64, data))
    three = [sorted(p[way] for way in ("one gpu", "the same gpu twice", "two gpus")) for p in points.values()
             if "two gpus" in p]
    yield (f"In {sum(times[2] > 1.25 * times[1] for times in three)} of the {len(three)} points of these tables one "
           "way takes over 1.25 times as long as the slower one of the other two")
    _, found = sql_gpus()
    gain = {function: span([float(now[1]["ms"]) / float(now[2]["ms"]) for (name, _), now in found.items()
                            if name == function], ".2f")
            for function in ("hpsort", "hpsort_order", "hpsort_float4", "hpsort_agg")}
    yield " ".join(row(f"`{name}`", times) for name, times in gain.items())
    share = [float(row["sort_ms"]) / float(row["ms"]) for now in found.values() for row in now.values()]
    yield f"the sort is {100 * min(share):.0f} to {100 * max(share):.0f} % of the call"


def from_sql():
    """2^30 keys."""
    cpu, gpu = sql("cpu")[0], sql("gpu")[0]
    waited = ("radix", "zero_compressed")

    def of(rows, part):
        return span([float(row[part]) for (name, _), row in rows.items()
                     if name != "comparison_free_onehot" and (rows is cpu or name not in waited)])

    yield row("filling", of(cpu, 'fill_s'), of(gpu, 'fill_s'))
    yield row("sorting", of(cpu, 'sort_s'), of(gpu, 'sort_s'))
    yield (f"its {float(gpu['comparison_free_onehot', 'runs']['sort_s']):.0f} s on the GPU are the time of kernels with a thread "
           "for each of four values")
    yield (f"the sort of `radix` ({float(gpu['radix', 'runs']['sort_s']):.0f} s) and the filling of `zero_compressed` "
           f"({float(gpu['zero_compressed', 'runs']['fill_s']):.0f} s)")


def sql_suite():
    path, parts = log("gpu-sql-*.txt")
    one, two = parts["one GPU"], parts["two GPUs"]
    passed = re.search(r"^(\d+) passed, 0 failed$", one, re.M)[1]
    checks = sum(map(int, re.findall(r"^ \w+ +\| +\d+ \| +(\d+)$", one, re.M)))
    over = [int(ms) for ms in re.findall(r"long job is over after (\d+) ms", one)]
    yield f"on one H100 ({link('its log', path)}): {passed} passed, 0 failed"
    yield f"{checks} checks of every algorithm"
    yield f"leave the GPU within {max(over)} ms"
    tests = [int(n) for n in re.findall(r"^PASS pgtap \w+ under gpu \((\d+) tests\)$", two, re.M)]
    yield if_so(two.rstrip().endswith("Terminated") and "FAIL" not in two,
                f"`hpsort.gpu_devices = '0,1'` a limit of time ended it after {len(tests)} scripts of pgTAP with "
                f"{sum(tests)} tests, which passed")


def tested():
    path, parts = log("publishedtest-h100-x2-*.txt")
    one_path, one = log("publishedtest-h100-2*.txt")

    def checks(text):
        return re.search(r"^(\d+) checks, 0 failures$", text, re.M)[1]

    took = sum(float(s) for s in re.findall(r" checks, +([\d.]+) s$", parts["publishedtest"], re.M))
    yield if_so(all("jobs on several gpus: 0 and 1" in parts[run]
                    for run in ("publishedtest", "memcheck")),
                f"on a machine with two H100: {int(checks(parts['publishedtest'])):,} checks, 0 failures, {took:.0f} s "
                f"({link('its log, and the sanitizers' + chr(39), path)})")
    yield if_so("ERROR SUMMARY: 0 errors" in parts["memcheck"] and "RACECHECK SUMMARY: 0 hazards" in parts["racecheck"],
                f"compute-sanitizer on the same two: memcheck on {int(checks(parts['memcheck'])):,} checks, racecheck on "
                f"{int(checks(parts['racecheck'])):,} (of one GPU), jobs among them: 0 errors, 0 hazards")
    yield if_so("ERROR SUMMARY: 0 errors" in one["initcheck"] and "jobs on several gpus: 0 and 0" in one["initcheck"],
                f"Initcheck finds nothing in {int(checks(one['initcheck'])):,} checks on one H100 that stands for several "
                f"({link('its log', one_path)})")
    yield if_so("in job of bucket_bitonic on several gpus" in parts["initcheck"] and
                "ERROR SUMMARY: 0 errors" in parts["initcheck"],
                "On two it reports no error of its own either, but jobs that both share end with \"an illegal "
                "memory access was encountered\"")


def claims():
    for group in (two_runs, tested, sql_suite, from_sql, gpus, best_choice, stable, hp_2021, hp_2022, hp_2022_text, zhang_wu,
                  comparison_free, crossing, threads, chen):
        try:
            yield from [" ".join(claim.split()) for claim in group()]
        except (ValueError, IndexError, KeyError) as error:
            # such as the points where hp is the fastest, when there are none
            yield f"{group.__name__}: not what these runs have ({error!r})"
