"""The numbers in the sentences of docs/papers.md.

Each claim is a piece of a sentence as the newest runs have it; tables.py --check
looks for it in the text.  A new run that makes one untrue so names the sentence
to read again: whether its words still hold is for a person to say.
"""
from points import abdel_hafeez, hp_figure, kozakai, read

ZERO = "zero_compressed_published"


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


def best_choice():
    points = read("hp")
    both = {key: point["hpsort"] / point["hp"] for key, point in points.items()
            if point["hp"] < min(point["cub_bits"], point["hpsort"])}
    distinct = [key for key in both if key[1] == "distinct"]
    arbitrary = [key for key in both if key[1] == "arbitrary"]
    one = {key: point["hpsort"] / point["one_hp"] for key, point in points.items()
           if point.get("one_hp") == min(point.values())}
    # peers that know the range; Zhang and Wu's keys have 16 and 32 bits
    engine = {key: point["hpsort"] / point.get("cub_bits", point["cub"])
              for group in ("hp", "zhang", "free") for key, point in read(group).items()
              if "hpsort" in point}
    slower = sorted(((times, key) for key, times in engine.items() if times > 1), reverse=True)
    interval = [1 / times for figure in (14, 15)
                for times in over(hp_figure(points, f"2021-{figure}"), "hp").values()]

    def most(keys, figure):
        return max(n for f, _, n in keys if f == f"2021-{figure}")

    yield (f"Of {len(points)} H-P points `hp` beats CUB in "
           f"{sum(point['hp'] < point['cub'] for point in points.values())}, CUB bits in "
           f"{sum(point['hp'] < point['cub_bits'] for point in points.values())}, and both CUB "
           f"bits and hpsort in {len(both)}: up to {most(distinct, 8):,} distinct keys with δ 1 and "
           f"{most(distinct, 9):,} with δ 0.5 (by up to {max(both[k] for k in distinct):.2f} times "
           "over hpsort)")
    yield (f"and {min(n for _, _, n in arbitrary) // 10**6} and "
           f"{max(n for _, _, n in arbitrary) // 10**6} million arbitrary ones (Fig. "
           f"{arbitrary[0][0][5:]}; by up to {max(both[k] for k in arbitrary):.2f})")
    yield (f"fastest of all for distinct keys up to {most(one, 8):,} with δ 1 and 0.5, "
           f"{most(one, 10):,} with δ 0.25 (by up to {max(one.values()):.2f} times over hpsort)")
    yield (f"slower than CUB bits in {len(slower)} of {len(engine)} points: " +
           "; ".join(f"{n:,} keys, {data} ({times:.2f} times)" for times, (_, data, n) in slower))
    yield f"is {span(interval, '.0f')} times slower than CUB)"


def hp_2021():
    points, then = read("hp"), kozakai()

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

    most = 10**7
    yield f"1-H-P was at most {max(old([8], 'one_hp')):.1f} times as fast as CUB"
    million = over({f: then[f, 10**6] for f in (8, 9, 10)}, "one_hp")
    yield f"at a million keys {span(million.values(), '.2f')} times"
    yield (f"now it is {span(now([8], 'one_hp'))} times as fast with δ 1 and "
           f"{span(now([10], 'one_hp'))} times with δ 0.25")
    yield f"The authors gained up to {max(old((13, 22, 23), 'hp')):.1f} times with δ of 50 and 100"
    yield (f"now H-P is {span(now([13], 'hp'))} times as fast as CUB at δ 50 uniform, and "
           f"{span(now((22, 23), 'hp'), '.2f')} times on the arbitrary data of 22 and 23")
    ended = min(n for (figure, n), p in then.items() if figure == 12 and p["hp"] > p["cub"])
    yield (f"With δ 10 uniform it is {span(now([12], 'hp'))} times as fast at all sizes; then it was "
           f"the slower one from {ended // 10**6} million keys on")
    yield (f"CUB has become {then[13, most]['cub'] / hp_figure(points, '2021-13')[most]['cub']:.0f} "
           f"times faster and H-P {then[13, most]['hp'] / hp_figure(points, '2021-13')[most]['hp']:.0f} "
           "times (Fig. 13, 10 million)")
    yield (f"is slower than H-P here with δ of 10 and more, by {span(gap((12, 13, 21, 22, 23)), '.0f')} "
           "µs")
    faster = [n for n, point in hp_figure(points, "2021-17").items() if point[ZERO] < point["hp"]]
    yield if_so(len(faster) == sum(n >= min(faster) for n in hp_figure(points, "2021-17")),
                "with δ 1 and σ 100 it is the faster one from "
                f"{min(faster) // 10**6} million keys on")
    interval = (14, 15, 18, 19, 20)
    fig15 = hp_figure(points, "2021-15")[most]
    yield f"0-compressed was up to {max(old(interval, ZERO)):.1f} times as fast as CUB"
    yield f"now it is {span(now(interval, ZERO), '.2f')} times as fast"
    yield f"{fig15['hp']:.1f} ms in Fig. 15"
    yield f"({fig15[ZERO]:.2f} against {fig15['hp']:.1f})"
    yield f"{span(now((18, 19, 20), 'hpsort'))} times CUB in Figs. 18 to 20"
    least = min(over(points, "hpsort", "cub_bits").items(), key=lambda item: item[1])
    yield (f"hpsort itself gains least over CUB bits in Fig. {least[0][0][5:]} at "
           f"{least[0][2] // 10**6} million keys ({least[1]:.2f} times)")


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
    yield f"the partition, whose atomics today's L2 does fast, is {span(share('bucket partition'), '.0f')} %"
    yield f"the conflict-free counting {span(share('counting sort'), '.0f')} %"
    yield (f"(with 2^16 keys, where launches count, {span(share('bucket partition', 16), '.0f')} and "
           f"{span(share('counting sort', 16), '.0f')} %)")
    yield f"The insertion sort costs {share('insertion sort')[1]:.0f} %"


def comparison_free():
    points, then = read("free"), abdel_hafeez()
    data = ("random", "gaussian", "reversed", "nearly sorted", "70 % repeated")

    def gpu(shape, k, name="gpu", figure="8-13"):
        return points[figure, shape, 2**k][name]

    spread = [max(gpu(d, k) for d in data) / min(gpu(d, k) for d in data)
              for k in (20, 22, 24, 26, 28)]
    flat = [gpu("100 % repeated", k) / gpu("random", k) for k in (20, 22, 24, 26)]
    yield (f"{span([t['gpu'] / gpu('gaussian', n.bit_length() - 1) for n, t in then.items()], '.0f')} "
           "times as fast as on their card")
    yield f"({span(spread)} times between best and worst from 2^20 keys on; they say 1.1)"
    yield f"one value alone takes {span(flat, '.0f')} times as long"
    yield (f"at 2^20 it is {gpu('gaussian 1000 N', 20, figure='16') / gpu('gaussian', 20):.0f} times")
    yield ("CUB told the range is "
           f"{span([gpu(d, k) / gpu(d, k, 'cub') for d in data for k in (24, 26, 28)])} times as fast at "
           "2^24 to 2^28")
    yield (f"VQSort on one thread is "
           f"{span([gpu('gaussian', k, 'cpu_1') / gpu('gaussian', k, 'vqsort_1') for k in (20, 22, 24, 26)])}"
           " times as fast there (Gaussian, 2^20 to 2^26;")
    onehot = {k: points["method 1", "random", 2**k] for k in range(8, 18)}
    yield (f"{onehot[10]['onehot']:.3f} ms for 2^10 keys, {onehot[16]['onehot']:.1f} for 2^16, "
           f"{onehot[17]['onehot']:.1f} for 2^17 with 17 GB")
    yield f"take {onehot[17]['gpu']:.3f} and {onehot[17]['cub']:.3f} for that"
    last = max(k for k, p in onehot.items() if p["onehot"] < p["gpu"])
    yield f"It is the faster method up to 2^{last}"


def threads():
    points, then = read("threads"), abdel_hafeez()
    few = {key: p for key, p in points.items() if key[2] == 1000}
    even = {key: p for key, p in points.items() if key[1] == key[2]}

    def mean(threads_used):
        gains = [points["gaussian", 2**k, 2**k][1] / points["gaussian", 2**k, 2**k][threads_used]
                 for k in (20, 22, 24)]
        return sum(gains) / len(gains)

    def spread(some):
        return span([max(one) / min(one) for k in range(16, 25, 2)
                     for one in [[p[1] for (_, n, _), p in some.items() if n == 2**k]]])

    def gains(some):
        return [p[1] / min(p.values()) for (_, n, _), p in some.items() if n == 2**24]

    eight = [points["gaussian", 2**k, 2**k][8] for k in (22, 24)]
    theirs = [then[2**k]["cpu_8"] for k in (22, 24)]
    loss = sorted((percent(ms / p[1]), key) for key, p in points.items()
                  for t, ms in p.items() if t > 1)
    worst = loss[-1][1]
    rest = max(times for times, key in loss if key != worst)
    forced = read("forced")
    start = [1000 * (p[t] - p[1]) / (t - 1) for (_, n, r), p in forced.items()
             if n == 8192 and r == 1000 for t in (2, 4, 8, 16)]
    yield f"we gain {mean(4):.1f} and {mean(8):.1f}"
    yield (f"8 threads take {eight[0]:.0f} and {eight[1]:.0f} ms for 2^22 and 2^24 keys where theirs took "
           f"{theirs[0]:.0f} and {theirs[1]:.0f}")
    yield (f"the gain is {span(gains(few), '.0f')} times; with as many values as keys it is "
           f"{span(gains(even))}")
    yield if_so(all(p[1] < min(p[t] for t in p if t > 1) for (_, n, r), p in forced.items()
                    if (n, r) == (2**16, 1000)), "here it still is at 2^16 keys of 1,000 values")
    yield f"each further thread costs {span(start, '.0f')} µs"
    yield (f"{worst[1]:,} {worst[0]} keys of {worst[2]:,} values lose {loss[-1][0]:.0f} % by that, nothing "
           f"else measured more than {rest:.0f}")
    yield (f"takes {spread(even)} times as long as the fastest with as many values as keys, {spread(few)} "
           "with 1,000")


def chen():
    points, gpus = read("chen"), read("gpus")
    n = 24000000
    lists = [p for (figure, _, m), p in points.items() if figure in ("2", "3") and m == n]
    pairs = [p for (figure, _, m), p in points.items() if figure == "3 structures" and m == n]
    strided = [percent(p["strided"] / p["not strided"]) for p in lists if "strided" in p]
    phases = points["4", "int uniform", n]
    merge = points["merge", "int uniform", 64000000]
    one = {m: points["5", "int uniform", 10**6 * m] for m in (24, 32, 64)}

    def gain(figure, m, sign=1):
        return span([sign * percent(p["one gpu"] / p["two gpus"])
                     for (f, _, k), p in gpus.items() if f == figure and k == 10**6 * m], ".0f")

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
    level = percent(gpus["5", "int uniform", 32000000]["one gpu"] /
                    gpus["5", "int uniform", 32000000]["two gpus"])
    yield (f"Two GPUs lose {gain('5', 24, -1)} % on keys at 24 million and gain {level:.0f} % at 32, "
           f"{gain('5', 64)} % at 64; with payloads they gain {gain('5 structures', 24)} and "
           f"{gain('5 structures', 64)} %")
    twice = [percent(p["one gpu"] / p["the same gpu twice"]) for p in one.values()]
    yield f"The same GPU twice gains {span(twice, '.0f')} % from 24 million on"
    yield (f"Cutting into four, sorting and merging costs "
           f"{percent(merge['passes of 16M'] / merge['one pass']):.0f} % over one pass")


def claims():
    for group in (best_choice, hp_2021, hp_2022, zhang_wu, comparison_free, threads, chen):
        try:
            yield from [" ".join(claim.split()) for claim in group()]
        except (ValueError, IndexError, KeyError) as error:
            # such as the points where hp is the fastest, when there are none
            yield f"{group.__name__}: not what these runs have ({error!r})"
