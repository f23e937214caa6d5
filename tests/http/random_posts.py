"""Random bodies for the routes that compute on what they are sent: tables to identify, compare,
apply and convert, configs of models, batches. Options are drawn from the rows of
/openapi.json; a table is most often one that the scheme itself gives."""

import json
from pathlib import Path

import numpy

from comparison import Asked
from draws import row_of
from mistakes import BODY_LIMIT, JSON
from registry import query_of, value_of

NPY = {"Content-Type": "application/x-npy"}
CONFIGS = [
    json.loads(path.read_text())
    for path in sorted((Path(__file__).parents[1] / "models").glob("*.json"))
]
VALUES = (None, True, 0, 1, 2, 8, 64, 0.5, 1e6, "", "default", "yarn", [], [1, 0], {})
LONGEST = 1 << 12  # rows and columns of a table that is sent


def npy(table):
    """A file of format 1.0."""
    order = bool(table.flags.f_contiguous and not table.flags.c_contiguous)
    head = f"{{'descr': '{table.dtype.str}', 'fortran_order': {order}, 'shape': {table.shape}}}"
    length = -(-(10 + len(head) + 1) // 64) * 64 - 10
    head = head.ljust(length - 1) + "\n"
    return b"\x93NUMPY\1\0" + length.to_bytes(2, "little") + head.encode() + table.tobytes("A")


def members_of(documents):
    """All objects of documents, with what is inside them."""
    for document in documents:
        if isinstance(document, dict):
            yield document
            yield from members_of(document.values())
        elif isinstance(document, list):
            yield from members_of(document)


class Posts:
    """Draws requests with the tables of a scout's schemes."""

    def __init__(self, random, draw):
        self.random, self.draw = random, draw
        self.paths, self.goals = draw.scout.openapi["paths"], draw.goals()
        self.configs = [item for item in members_of(CONFIGS) if "model_type" in item]
        self.keys = sorted({key for config in self.configs for key in config})
        self.noise = numpy.random.default_rng(random.randrange(2**32))

    def next(self):
        kinds = (self.identify, self.compare, self.apply, self.convert, self.models, self.batch)
        return self.random.choice(kinds)()

    # ---- options ----

    def options(self, path, names, often=0.06):
        """Some of a route's parameters, without those that are named."""
        given = {}
        for parameter in self.paths[path]["post"].get("parameters", ()):
            if parameter.get("in") != "query" or parameter["name"] in names:
                continue
            if "explode" not in parameter and self.random.random() < often:
                given[parameter["name"]] = self.draw_value(row_of(parameter), given)
        return given

    def draw_value(self, row, given):
        """A value; a text may be anything, a number may have no bounds."""
        if row["type"] in ("integer", "number") and "choices" not in row:
            row = {"minimum": -(1 << 31), "maximum": 1 << 31, **row}
        if row["type"] == "array":
            row = {"minimum": 0, "maximum": 1 << 20, **row}
        return self.draw.value(row, given)

    # ---- tables ----

    def query(self):
        """A query of a random scheme."""
        goals = [goal for goal in self.goals if "/encodings/" in goal.scheme.path]
        while not (query := self.draw.query(self.random.choice(goals))):
            pass
        return query

    def drawn(self, kind):
        """(the path of a scheme's route, a query of the scheme, its own parameters and some
        options)"""
        query = self.query()
        own = {name: query.given[name] for name in query.given if name in query.scheme.rows}
        options = self.options(f"/v1/{kind}/{{scheme}}", query.scheme.rows)
        return query.scheme.path.replace("encodings", kind), query, {**own, **options}

    def table(self, query):
        """What the scheme gives for a query as an array, or numbers that nothing made."""
        extra = {"format", *query.scheme.takers}
        given = {name: text for name, text in query.given.items() if name not in extra}
        target = f"{query.scheme.path}?{query_of({**given, 'format': 'json'})}"
        reply = self.draw.scout.ask("GET", target)
        tensors = reply.json().get("tensors", []) if reply.status == 200 else []
        named = [each for each in tensors if each["name"] == query.given.get("tensor")]
        chosen = (named or tensors)[:1]
        if not chosen or self.random.random() < 0.1:
            shape = [self.random.randrange(1, 20) for _ in range(self.random.randrange(1, 4))]
            return self.noise.standard_normal(shape).astype("f4")
        data = numpy.array(chosen[0]["data"], dtype="f8")
        return self.altered(data.reshape(chosen[0]["shape"]).astype("f4"))

    def altered(self, table):
        """The table as it is, or after something that happens to tables."""
        change = self.random.randrange(10)
        if change == 0:
            return table.astype("f2")
        if change == 1:
            return table.astype("f8")
        if change == 2:
            return numpy.asfortranarray(table)
        if change == 3 and table.ndim > 1:
            return table[self.random.randrange(len(table)) :]
        if change == 4:
            return table + self.noise.standard_normal(table.shape).astype("f4") * 1e-4
        if change == 5:
            return table * numpy.float32(self.random.choice((2, -1, 0.5, 1.1)))
        if change == 6 and table.size:
            table.flat[self.random.randrange(table.size)] = self.random.choice(
                (0, 7, numpy.nan)
            )
        return table

    def post(self, kind, path, given, table):
        body = npy(table[:LONGEST])
        if len(body) > BODY_LIMIT and self.random.random() < 0.9:
            body = npy(table.reshape(-1)[: BODY_LIMIT // 16])
        return Asked(kind, "POST", f"{path}?{query_of(given)}", NPY, body)

    # ---- requests ----

    def identify(self):
        given = self.options("/v1/identify", ())
        return self.post("identify", "/v1/identify", given, self.table(self.query()))

    def compare(self):
        path, query, given = self.drawn("compare")
        return self.post("compare", path, given, self.table(query))

    def apply(self):
        """Mostly a tensor of the table's own shape, as scores and embeddings have it."""
        path, query, given = self.drawn("apply")
        shape = list(self.table(query).shape)
        usual = [int(float(given.get(name, 0))) for name in ("length", "dim")]
        if "rope_theta" in query.scheme.rows and 0 < min(usual) and max(usual) < 512:
            shape = usual
        if self.random.random() < 0.2:
            shape = self.random.choices([*shape, 1, 2], k=self.random.randrange(2, 4))
        table = self.noise.standard_normal(shape).astype(self.random.choice(("f2", "f4", "f8")))
        return self.post("apply", path, given, table)

    def convert(self):
        heads, width = self.random.choice((1, 2, 4)), self.random.choice((2, 4, 8, 3))
        given = {"from": "half", "to": "interleaved", "heads": str(heads)}
        given |= self.options("/v1/convert/rope", ())
        table = self.noise.standard_normal((heads * width, self.random.randrange(1, 9)))
        return self.post("convert", "/v1/convert/rope", given, table.astype("f4"))

    def models(self):
        config = dict(self.random.choice(self.configs))
        for _ in range(self.random.choice((0, 0, 1, 2))):
            key = self.random.choice([*config, *self.keys])
            if self.random.random() < 0.4:
                config.pop(key, None)
            else:
                config[key] = self.random.choice(VALUES)
        given = self.options("/v1/models", ("plan",), 0.1)
        if self.random.random() < 0.7:
            given["plan"] = "true"
        target = f"/v1/models?{query_of(given)}"
        return Asked("models", "POST", target, JSON, json.dumps(config).encode())

    def batch(self):
        requests = []
        for number in range(self.random.randrange(1, 5)):
            query = self.query()
            extra = {"format", *query.scheme.takers}
            given = {
                name: value_of(query.scheme.row(name), text)
                for name, text in query.given.items()
                if name not in extra
            }
            name = query.scheme.document["name"]
            requests.append({"name": f"t{number}", "scheme": name, **given})
        body = json.dumps({"requests": requests}).encode()
        return Asked("batch", "POST", "/v1/batch", JSON, body)
