"""The buckets of t5 and deberta against thresholds in big integers, never a logarithm.

    check.py BUCKET-RUNS [all]

Compares every distance from -2048 to 2048 for a fixed sample of the requests with num_buckets
up to 64 and max_distance up to 1024, or for all of them. A bucket is decided by the definition
in powers: t5's bucket exact + t begins at the least n with (n/exact)^steps >= (max/exact)^t,
and deberta's mid + t ends at the greatest a with (a/mid)^(mid-1) <= (last/mid)^t.
"""

import subprocess
import sys

REACH = 2048
BUCKETS_MAX, DISTANCE_MAX = 64, 1024
SAMPLED_DISTANCES = {
    2,
    3,
    4,
    7,
    8,
    9,
    27,
    32,
    33,
    49,
    54,
    64,
    81,
    100,
    127,
    128,
    129,
    160,
    162,
    243,
    255,
    256,
    257,
    333,
    500,
    512,
    625,
    729,
    800,
    961,
    1000,
    1023,
    1024,
}
SAMPLED_BUCKETS = {
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    9,
    10,
    12,
    14,
    16,
    17,
    18,
    20,
    24,
    31,
    32,
    33,
    34,
    38,
    40,
    48,
    50,
    63,
    64,
}


def floor_root(value, power):
    """The greatest n with n^power <= value."""
    low, high = 0, 1
    while high**power <= value:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if middle**power <= value:
            low = middle
        else:
            high = middle
    return low


def ceiling_root(value, power):
    """The least n with n^power >= value."""
    return floor_root(value - 1, power) + 1


def t5_magnitudes(buckets, longest):
    """[(least n, bucket)] of one direction."""
    exact = buckets // 2
    steps = buckets - exact
    starts = [(n, n) for n in range(exact)]
    for t in range(steps):  # n^steps >= longest^t * exact^(steps - t)
        starts.append((ceiling_root(longest**t * exact ** (steps - t), steps), exact + t))
    return starts


def t5(buckets, longest, bidirectional):
    """The runs over key minus query, or the parameter that is refused."""
    if bidirectional and (buckets % 2 or buckets < 4):
        return "num_buckets"
    one_way = buckets // 2 if bidirectional else buckets
    if longest <= one_way // 2:
        return "max_distance"
    values = expand(t5_magnitudes(one_way, longest))
    if bidirectional:  # keys after the query have the upper half
        ahead = [one_way + value for value in values]
    else:
        ahead = [0] * len(values)
    return runs([values[-d] if d <= 0 else ahead[d] for d in range(-REACH, REACH + 1)])


def deberta_magnitudes(buckets, longest):
    """[(least magnitude, bucket)] of query minus key."""
    middle, last = buckets // 2, longest - 1
    power = middle - 1
    starts, ends = [(n, n) for n in range(middle + 1)], middle
    for t in range(1, middle):  # a^power <= last^t * middle^(power - t)
        if ends < last:
            starts.append((ends + 1, middle + t))
        ends = floor_root(last**t * middle ** (power - t), power)
    return starts


def deberta(buckets, longest):
    if buckets == 1:
        return "position_buckets"
    if longest - 1 <= buckets // 2:
        return "max_relative_positions"
    values = expand(deberta_magnitudes(buckets, longest))
    return runs([values[-d] if d <= 0 else -values[d] for d in range(-REACH, REACH + 1)])


def expand(starts):
    """The bucket of each magnitude; where several begin at one, the last counts."""
    values, at = [], 0
    for (first, bucket), (end, _) in zip(starts, starts[1:] + [(REACH + 1, None)]):
        first, end = min(first, REACH + 1), min(end, REACH + 1)
        if end > at:
            values += [bucket] * (end - at)
            at = end
    return values


def runs(values):
    """(least distance, bucket) of each run."""
    found = []
    for index, bucket in enumerate(values):
        if index == 0 or bucket != values[index - 1]:
            found.append((index - REACH, bucket))
    return found


def cases(every):
    """(line for the program, what it should say) of each request."""
    for buckets in range(2, BUCKETS_MAX + 1):
        for longest in range(2, DISTANCE_MAX + 1):
            if not every and not {buckets, longest} <= SAMPLED_BUCKETS | SAMPLED_DISTANCES:
                continue
            query = f"heads=1&num_buckets={buckets}&max_distance={longest}"
            for flag in (True, False):
                yield (
                    f"t5 {query}&bidirectional={str(flag).lower()}",
                    t5(buckets, longest, flag),
                )
            yield (
                f"deberta dim=1&position_buckets={buckets}&max_relative_positions={longest}",
                deberta(buckets, longest),
            )


def check_known_answers():
    """Numbers that stand in the papers' programs, so that both sides cannot err alike."""
    default = dict(t5(32, 128, True))
    assert {-7: 7, -8: 8}.items() <= expanded(default).items(), default
    assert {
        -11: 8,
        -12: 9,
        -16: 10,
        -23: 11,
        -32: 12,
        -128: 15,
        1: 17,
        2048: 31,
    }.items() <= expanded(default).items(), default


def expanded(of_run):
    values, bucket = {}, None
    for distance in range(-REACH, REACH + 1):
        bucket = of_run.get(distance, bucket)
        values[distance] = bucket
    return values


def text(expected):
    if isinstance(expected, str):
        return f"refused {expected}"
    return " ".join(f"{distance}:{bucket}" for distance, bucket in expected)


def main():
    program, every = sys.argv[1], sys.argv[2:] == ["all"]
    check_known_answers()
    wanted = list(cases(every))
    asked = "".join(line + "\n" for line, _ in wanted)
    answers = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    answers = answers.stdout.splitlines()
    assert len(answers) == len(wanted), (len(answers), len(wanted))
    wrong = [
        (line, got.strip(), text(expected))
        for (line, expected), got in zip(wanted, answers)
        if got.strip() != text(expected)
    ]
    for line, got, expected in wrong[:5]:
        print(f"{line}\n  got      {got}\n  expected {expected}")
    refused = sum(isinstance(expected, str) for _, expected in wanted)
    print(
        f"buckets: {len(wanted)} requests, {refused} refused as they should be, "
        f"{len(wrong)} wrong"
    )
    return bool(wrong) or refused == 0


if __name__ == "__main__":
    sys.exit(main())
