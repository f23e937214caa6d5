"""/v1/identify: tables of relative positions, their indices, and biases that have a formula."""

import json
import math
import random

import numpy

from confusion import Table
from forms import undone
from identify_case import IdentifyCase
from test_compare import RAW, npy

F = numpy.float32


def table_of(target, reply):
    """The table of a raw reply."""
    shape, dtype = (reply.header(name) for name in ("Tensor-Shape", "Tensor-Dtype"))
    return Table(target, dtype, tuple(json.loads(f"[{shape.strip('[]')}]")), reply.body)


class RelativeCase(IdentifyCase):
    def identify_own(self, target, dtype):
        """Identify a table of posenc's in any dtype; what is said to be exact has the same
        bits. None: there is no such table."""
        reply = self.get(f"{target}&dtype={dtype}&format=raw")
        if reply.status != 200:
            return None
        shape, element = (
            reply.header(name).strip("[]").replace(" ", "")
            for name in ("Tensor-Shape", "Tensor-Dtype")
        )
        found = self.identify(reply.body, f"?shape={shape}&dtype={element}", RAW)
        if found["status"] == "exact":
            url = found["request"]["url"]
            more = "" if "dtype=" in url or element == "i32" else f"&dtype={dtype}"
            again = self.assert_ok(self.get(f"{url}{more}&format=raw"))
            if again.header("Tensor-Dtype") == element and not found["forms"]:
                self.assertEqual(again.body, reply.body, (target, found))
            else:  # or whole numbers, by a scheme that has them as reals
                numpy.testing.assert_array_equal(
                    table_of(target, again).values().squeeze(),
                    table_of(target, reply).as_said(found).values(),
                )
        return found

    def assert_own(self, targets, most_unknown=0, statuses=("exact",)):
        """All of these, each in one of four dtypes, are exact; a few may be unknown."""
        generator, unknown, seen = random.Random(11), [], 0
        for target in targets:
            dtype = generator.choice(["f32", "f64", "f16", "bf16"])
            found = self.identify_own(target, dtype)
            # of one number no request tells more than that number
            if found is None or found.get("reason", {}).get("kind") == "constant":
                continue
            seen += 1
            if found["status"] not in statuses:
                self.assertIn(found["status"], ("unknown", "near"), (target, dtype))
                unknown.append((target, dtype, found["status"], found["summary"]))
        self.assertLessEqual(len(unknown), most_unknown, unknown)
        self.assertGreater(seen, 10)

    def assert_library(self, table, scheme, said, name=""):
        """A table by a library's formula is that of a request with these parameters."""
        found = self.identify(npy(table))
        self.assertEqual(found["status"], "exact", (name, found["summary"]))
        self.assertEqual(found["request"]["scheme"], scheme, name)
        for text in said:
            self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"), name)
        numpy.testing.assert_array_equal(
            self.fetch(found["request"]["url"]).squeeze(), numpy.squeeze(table)
        )

    def assert_damaged(self, table, changes=(), clipped=False):
        """A table that was changed is no match: the entry in the middle, one beside it, two
        heads exchanged, a row given twice, unless that may be a clipped distance."""
        whole = table.dtype.kind in "iu"
        middle = tuple(extent // 2 for extent in table.shape)
        entry = table.copy()
        entry[middle] = (
            entry[middle] + 1 if whole else numpy.nextafter(entry[middle], table.dtype.type(9))
        )
        first, last = table.copy(), table.copy()
        first.flat[0] += table.dtype.type(1)
        last.flat[-1] += table.dtype.type(1)
        others = {"an entry": entry, "the first": first, "the last": last, **dict(changes)}
        if table.ndim == 3 and table.shape[0] > 1:
            heads = table.copy()
            heads[[0, -1]] = heads[[-1, 0]]
            others["heads"] = heads
        if table.ndim > 1 and not clipped:
            rows = table.copy()
            rows[..., 1:, :] = table[..., :-1, :]  # the first row is there twice
            others["rows"] = rows
        for name, other in others.items():
            if other.tobytes() != table.tobytes():
                found = self.identify(npy(other))
                if found["status"] == "exact":  # a request of other positions makes it
                    url = found["request"]["url"]
                    self.assertIn("positions=", url)
                    numpy.testing.assert_array_equal(
                        self.fetch(url).squeeze(), undone(other, found)[0], url
                    )
                    continue
                self.assertIn(
                    found["status"],
                    ("near", "unknown"),
                    (name, found.get("request"), found["summary"]),
                )


def windows(generator, most=90):
    """Random windows of queries and keys."""
    keys = generator.randint(2, most)
    return f"length={keys}" + generator.choice(
        [
            "",
            "",
            f"&query_length={generator.randint(1, most)}",
            "&form=compact",
            f"&query_length={generator.randint(1, 20)}"
            f"&query_offset={generator.randint(-40, 140)}",
            f"&query_length={generator.randint(1, 20)}"
            f"&query_offset={generator.randint(-40, 140)}&form=compact",
        ]
    )


def window_of(keys, generator, most=40):
    """Queries of these keys, at any place."""
    queries = generator.randint(1, min(keys, most))
    first = generator.randint(0, keys - queries)
    more = ["", f"&query_length={queries}", f"&query_length={queries}&query_offset={first}"]
    return f"length={keys}{generator.choice(more)}"


def cells(generator):
    """Queries of a grid, by its sides or their product."""
    height, width = generator.randint(1, 9), generator.randint(2, 9)
    shape = window_of(height * width, generator, height * width)
    sides = shape.replace(f"length={height * width}", f"height={height}&width={width}", 1)
    return generator.choice([sides, shape + generator.choice(["", "&form=compact"])])


def between(name, least, most, times=1):
    return lambda generator: f"{name}={times * generator.randint(least, most)}"


def both(*parts):
    return lambda generator: "&".join(drawn(part, generator) for part in parts)


def drawn(part, generator):
    """The text of a part of a query: one of a list, or what a function draws."""
    if isinstance(part, list):
        part = generator.choice(part)
    return part(generator) if callable(part) else part


def distances(queries, keys, offset=None):
    """Key minus query."""
    first = keys - queries if offset is None else offset
    return numpy.arange(keys)[None] - (first + numpy.arange(queries))[:, None]


def t5_bucket(relative, bidirectional=True, buckets=32, most=128):
    """_relative_position_bucket of transformers' T5, of key minus query."""
    out = numpy.zeros_like(relative)
    if bidirectional:
        buckets //= 2
        out += (relative > 0) * buckets
        relative = abs(relative)
    else:
        relative = -numpy.minimum(relative, 0)
    exact = buckets // 2
    large = exact + (
        numpy.log(numpy.maximum(relative, 1).astype("f4") / exact)
        / F(math.log(most / exact))
        * (buckets - exact)
    ).astype("i8")
    return out + numpy.where(relative < exact, relative, numpy.minimum(large, buckets - 1))


def levit_index(height, width):
    """attention_bias_idxs of the authors' code: offsets are numbered as they are met."""
    points = [(y, x) for y in range(height) for x in range(width)]
    offsets, index = {}, []
    for one in points:
        for other in points:
            index.append(
                offsets.setdefault(
                    (abs(one[0] - other[0]), abs(one[1] - other[1])), len(offsets)
                )
            )
    return numpy.array(index).reshape(len(points), len(points))


def swin_index(height, width):
    """relative_position_index of the authors' code."""
    coords = numpy.stack(
        numpy.meshgrid(numpy.arange(height), numpy.arange(width), indexing="ij")
    ).reshape(2, -1)
    relative = (coords[:, :, None] - coords[:, None, :]).transpose(1, 2, 0)
    return (relative[..., 0] + height - 1) * (2 * width - 1) + relative[..., 1] + width - 1


def beit_index(height, width):
    """The same with a class token, as in BEiT."""
    rows, index = (2 * height - 1) * (2 * width - 1), numpy.zeros(
        (height * width + 1,) * 2, "i8"
    )
    index[1:, 1:] = swin_index(height, width)
    index[0, :], index[:, 0], index[0, 0] = rows, rows + 1, rows + 2
    return index


def swin_v2_coordinates(height, width, trained):
    """relative_coords_table of the authors' code, in float64."""
    table = numpy.stack(
        numpy.meshgrid(
            numpy.arange(1.0 - height, height), numpy.arange(1.0 - width, width), indexing="ij"
        ),
        -1,
    )
    table *= 8 / (trained - 1)
    return (numpy.sign(table) * numpy.log2(abs(table) + 1.0) / numpy.log2(8)).reshape(-1, 2)


def transformer_xl(keys, dim):
    """Transformer-XL's PositionalEmbedding of distances keys-1 … 0, in float64."""
    angles = numpy.outer(
        numpy.arange(keys - 1, -1, -1.0), 1 / 10000 ** (numpy.arange(0, dim, 2) / dim)
    )
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)


def xlnet(queries, keys, dim):
    """XLNet's relative_positional_encoding, attn_type bi: keys … 1-queries."""
    angles = numpy.outer(
        numpy.arange(keys, -queries, -1.0), 1 / 10000 ** (numpy.arange(0, dim, 2) / dim)
    )
    return numpy.concatenate([numpy.sin(angles), numpy.cos(angles)], 1)


def shaw(queries, keys, most):
    """_generate_relative_positions_matrix of tensor2tensor."""
    return numpy.clip(distances(queries, keys), -most, most) + most


def deberta(length, buckets=256, most=512):
    """build_relative_position of transformers' DeBERTa v2 with make_log_bucket_position."""
    relative = -distances(length, length)
    middle = buckets // 2
    size = numpy.where((relative < middle) & (relative > -middle), middle - 1, abs(relative))
    log = (
        numpy.ceil(numpy.log(size / middle) / math.log((most - 1) / middle) * (middle - 1))
        + middle
    )
    return numpy.where(size <= middle, relative, log * numpy.sign(relative)).astype("i8")


def grid(most):
    return both(between("height", 1, most), between("width", 2, most))


def few(most):
    return lambda generator: windows(generator, most)


def keys_alone(generator):
    return windows(generator, 40).replace("&form=compact", "")


# of posenc's own tables: the scheme, how many, how many may be unknown, parts of the query
OWN = (
    (
        "t5",
        90,
        5,
        "tensor=bucket",
        windows,
        ["heads=1", "heads=2", "heads=6", "heads=12"],
        [
            "",
            "",
            "bidirectional=false",
            "num_buckets=64&max_distance=256",
            "num_buckets=320&max_distance=800",
            both(between("num_buckets", 2, 60, 2), between("max_distance", 61, 400)),
            both(
                between("num_buckets", 2, 40),
                between("max_distance", 21, 90),
                "bidirectional=false",
            ),
        ],
    ),
    ("levit", 60, 6, "heads=1&tensor=index", cells),
    ("swin", 50, 0, "heads=1&tensor=index", grid(9), ["", "class_token=true"]),
    (
        "swin_v2",
        24,
        3,
        "heads=1&hidden=4",
        grid(5),
        ["tensor=index", "tensor=coordinates"],
        ["", "pretrained_height=12&pretrained_width=12", "pretrained_width=8"],
    ),
    (
        "relative_sinusoidal",
        50,
        9,  # far windows have equal rows
        "tensor=encoding",
        few(60),
        between("dim", 2, 20, 2),
        [
            "",
            "base=500",
            "layout=concat",
            "layout=concat_cos_first",
            "max_distance=20",
            "max_distance=9&layout=concat",
        ],
    ),
    (
        "transformer_xl",
        50,
        6,
        between("length", 10, 80),
        ["", between("query_length", 1, 10)],
        between("dim", 2, 20, 2),
        ["tensor=encoding", "tensor=encoding", "tensor=relative"],
        [
            "",
            "attention=uni",
            "attention=txl",
            "attention=two_sided",
            "attention=two_sided&layout=concat",
            "base=900",
            "clamp_length=12",
        ],
    ),
    (
        "shaw",
        70,
        20,  # windows beyond the limits have one number
        keys_alone,
        between("dim", 1, 9, 2),
        [
            "tensor=index&form=compact",
            "tensor=index&form=compact&max_distance=5",
            "tensor=index&form=compact&max_distance=8&min_distance=-3",
            "tensor=index&form=compact&max_distance=8&min_distance=-20"
            "&difference=query_minus_key",
            "tensor=keys&source=sinusoidal&max_distance=7",
            "tensor=keys&source=sinusoidal&max_distance=7&min_distance=-11",
        ],
    ),
    (
        "deberta",
        80,
        12,
        "dim=1",
        few(150),
        ["tensor=c2p_index", "tensor=p2c_index", "tensor=relative_position"],
        [
            "",
            between("max_relative_positions", 5, 90),
            "position_buckets=256",
            both(
                between("position_buckets", 4, 50), between("max_relative_positions", 30, 300)
            ),
            "position_buckets=32&max_relative_positions=64&beyond=continue",
            "p2c=paper",
            "p2c=paper&position_buckets=16&max_relative_positions=32",
        ],
    ),
    (
        "retnet",
        60,
        6,
        ["heads=2", "heads=3", "heads=8"],
        between("dim", 3, 20, 2),
        [
            *[both("tensor=mask", windows)] * 3,
            *[
                both(f"tensor={name}", between("length", 30, 90))
                for name in ("decay", "cos", "sin")
            ],
        ],
    ),
    (
        "sandwich",
        50,
        10,
        "tensor=bias",
        ["heads=2", "heads=3", "heads=8", "heads=12"],
        [keys_alone, keys_alone, both(between("length", 5, 60), "form=compact")],
        ["", "mask=causal", "dim=64", "base=500", "dim=20&base=100&mask=causal"],
    ),
    (
        "decomposed",
        40,
        0,
        "dim=1",
        both(between("height", 2, 9), between("width", 2, 9)),
        ["", both(between("query_height", 2, 9), "query_width=5")],
        ["tensor=index_h", "tensor=index_w"],
    ),
)


def library_tables():
    """(table, scheme, parts of the query) of whole numbers by libraries' code."""
    for queries, keys, more in (
        (50, 50, {}),
        (300, 300, {}),
        (40, 200, {}),
        (200, 200, {"bidirectional": False}),
        (300, 300, {"buckets": 64, "most": 256}),
        (900, 900, {"buckets": 320, "most": 800}),
    ):
        said = [f"length={keys}", "tensor=bucket"]
        said += ["bidirectional=false"] * ("bidirectional" in more)
        if "buckets" in more:
            said += [f"num_buckets={more['buckets']}", f"max_distance={more['most']}"]
        yield t5_bucket(distances(queries, keys), **more), "t5", said
    for sides in ((14, 14), (7, 7), (5, 8), (8, 5)):
        said = [f"height={sides[0]}", f"width={sides[1]}", "tensor=index"]
        yield levit_index(*sides), "levit", said
    for sides in ((7, 7), (8, 8), (12, 12), (4, 6), (6, 4)):
        said = [f"height={sides[0]}", f"width={sides[1]}", "tensor=index"]
        yield swin_index(*sides), "swin", said
    yield beit_index(14, 14), "swin", ["height=14", "width=14", "class_token=true"]
    for queries, keys, most in ((40, 40, 16), (100, 100, 64), (30, 90, 10)):
        said = [f"length={keys}", f"max_distance={most}", "tensor=index"]
        yield shaw(queries, keys, most), "shaw", said
    for length in (100, 300, 512, 700):
        relative, said = deberta(length), [f"length={length}"]
        said += ["beyond=continue"] * (length > 512) + ["position_buckets=256"] * (length > 200)
        yield relative, "deberta", said + ["tensor=relative_position"]
        yield numpy.clip(relative + 256, 0, 511), "deberta", said
    index = numpy.clip(-distances(80, 80) + 512, 0, 1023)
    yield index, "deberta", ["length=80", "tensor=c2p_index"]
    index = numpy.floor(numpy.arange(14)[:, None] - numpy.arange(7)[None] * 2.0 + 12)
    yield index.astype("i8"), "decomposed", ["height=7", "query_height=14"]


class Relative(RelativeCase):
    def test_own_tables(self):
        for scheme, count, unknown, *parts in OWN:
            generator, targets = random.Random(scheme), []
            for _ in range(count):
                texts = [drawn(part, generator) for part in parts]
                targets.append(f"/v1/encodings/{scheme}?{'&'.join(filter(None, texts))}")
            with self.subTest(scheme):
                self.assert_own(targets, unknown)

    def test_tables_of_libraries(self):
        for table, scheme, said in library_tables():
            self.assert_library(table, scheme, said, (scheme, said))

    def test_a_table_that_was_changed_is_no_match(self):
        for query in (
            "t5?length=60&heads=4&tensor=bucket",
            "levit?height=5&width=6&heads=4&tensor=index",
            "swin?height=5&width=6&heads=4&tensor=index",
            "relative_sinusoidal?length=20&query_length=15&dim=16&tensor=encoding",
            "transformer_xl?length=40&dim=16&attention=txl&tensor=encoding",
            "shaw?length=40&dim=6&max_distance=9&form=compact&tensor=index",
            "deberta?length=60&dim=1&position_buckets=16&max_relative_positions=40"
            "&tensor=c2p_index",
            "deberta?length=60&dim=1&tensor=relative_position",
            "retnet?length=30&heads=4&dim=8&tensor=mask",
            "sandwich?length=30&heads=4&tensor=bias",
            "decomposed?height=9&query_height=5&dim=1&tensor=index_h",
        ):
            table = self.fetch(f"/v1/encodings/{query}")
            self.assert_damaged(table, clipped=query.startswith("transformer_xl"))
        self.assert_damaged(
            numpy.random.default_rng(5).normal(0, 0.02, (4, 30, 30)).astype("f4")
        )

    def assert_told(self, table, scheme, said, statuses):
        found = self.identify(npy(table))
        self.assertIn(found["status"], statuses, found["summary"])
        self.assertEqual(found["request"]["scheme"], scheme)
        for text in said:
            self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"))
        return found

    def test_waves_of_libraries(self):
        for table, said in (
            (transformer_xl(90, 32), ["length=90", "attention=txl"]),
            (xlnet(60, 60, 32), ["length=60"]),
            (xlnet(20, 60, 32), ["length=60", "query_length=20"]),
        ):
            for dtype in ("f8", "f4"):
                found = self.assert_told(
                    table.astype(dtype), "transformer_xl", said, ("match", "exact")
                )
                exact = self.fetch(found["request"]["url"])
                self.assertLess(abs(exact - table).max(), 1e-6)

    def test_coordinates_of_swin_v2(self):
        for height, trained in ((8, 8), (16, 8)):
            found = self.identify(npy(swin_v2_coordinates(height, height, trained)))
            self.assertIn(found["status"], ("match", "exact"))
            self.assertIn(f"height={height}&width={height}", found["request"]["url"])
            self.assertEqual("pretrained_height=8" in found["request"]["url"], height == 16)

    def test_decays_of_libraries(self):
        # torchscale's RetNetRelPos: decay and its mask, of 8 heads
        decay = numpy.log(1 - 2.0 ** (-5 - numpy.arange(8)))
        mask = numpy.where(
            distances(40, 40) > 0, 0, numpy.exp(-distances(40, 40) * decay[:, None, None])
        )
        # Sandwich's program: the sum over cosines, heads 1 … H
        cosines = numpy.cos(
            distances(30, 30)[..., None] / 10000 ** (numpy.arange(0, 128, 2) / 128)
        ).sum(-1)
        sandwich = cosines[None] / (8 * numpy.arange(1, 9) / 8)[:, None, None]
        for table, scheme, said in (
            (mask, "retnet", ["length=40", "heads=8"]),
            (decay, "retnet", ["heads=8", "tensor=decay"]),
            (sandwich, "sandwich", ["heads=8", "dim=128"]),
        ):
            self.assert_told(table, scheme, said, ("exact", "match", "near"))

    def test_index_of_sam(self):
        for size in (14, 7):  # get_rel_pos, of as many queries as keys
            index = numpy.arange(size)[:, None] - numpy.arange(size)[None] + size - 1
            self.assertEqual(self.identify(npy(index))["status"], "exact")

    def test_matrices_that_training_begins_with(self):
        for heads in (1, 4):
            table = self.fetch(f"/v1/encodings/urpe?length=30&heads={heads}&tensor=toeplitz")
            self.assert_library(table, "urpe", ["length=30", f"heads={heads}"])
            table[..., 3, 5] = 0
            self.assertNotEqual(self.identify(npy(table))["status"], "exact")


def bloom_slopes(heads):
    """The slopes of transformers' build_alibi_tensor: powers of float32 bases, each correctly
    rounded."""

    def powers(count, exponents):
        base = F(2 ** (-(2 ** -(math.log2(count) - 3))))
        return [F(numpy.float64(base) ** int(n)) for n in exponents]

    below = 2 ** math.floor(math.log2(heads))
    rest = min(below, heads - below)
    return numpy.array(
        powers(below, range(1, below + 1))
        + (powers(2 * below, range(1, 2 * rest, 2)) if rest else []),
        F,
    )


def bloom(heads, keys):
    """[heads, 1, keys]"""
    return bloom_slopes(heads)[:, None, None] * numpy.arange(keys, dtype=F)


class Bloom(RelativeCase):
    def test_powers_of_a_float32_base(self):
        for heads in (12, 16, 20, 32, 40, 64, 71, 112, 128):
            for dtype in ("f4", "f2"):
                found = self.identify(npy(bloom(heads, 130).astype(dtype)))
                self.assertIn(
                    (found["status"], found["arithmetic"]),
                    (("near", "like_float32"), ("match", "float64"), ("exact", "exact")),
                    (heads, dtype, found["summary"]),
                )
                for text in ("length=130", f"heads={heads}", "mask=key_only"):
                    self.assertIn(text, found["request"]["url"].replace("?", "&").split("&"))
                self.assertEqual(found["misfits"], 0)
            found = self.identify(npy(bloom_slopes(heads)))
            self.assertIn(found["status"], ("match", "exact"), heads)
            self.assertIn("tensor=slopes", found["request"]["url"])

    def test_biases_of_kernels_that_take_powers_of_two(self):
        for heads, length in ((8, 128), (12, 64), (16, 256), (32, 32)):
            exact = self.fetch(f"/v1/encodings/alibi?length={length}&heads={heads}")
            found = self.identify(npy(exact * F(numpy.log2(numpy.e))))
            asked = f"alibi?length={length}&heads={heads}&"
            self.assertIn(asked, found["request"]["url"] + "&")
            self.assertIn("times 1.44269504;", found["summary"])

    def test_float32_slopes_times_distances(self):
        for heads in (12, 20, 32):
            exact = self.fetch(f"/v1/encodings/alibi?length=1&heads={heads}&tensor=slopes")
            table = exact[:, None, None] * distances(50, 50).astype(F)
            table = numpy.where(distances(50, 50)[None] > 0, -numpy.inf, table).astype(F)
            found = self.identify(npy(table))
            self.assertIn(
                (found["status"], found["arithmetic"]),
                (("near", "like_float32"), ("exact", "exact")),
                heads,
            )
            self.assertIn("mask=causal", found["request"]["url"])
