"""Random queries, drawn from what a server says of its schemes: their tables in /v1/schemes,
the rest of a query in /openapi.json. A scheme or parameter that is added is drawn as well."""

import math
import re
import struct
from typing import NamedTuple

import stored
from openapi import written_out
from registry import example, query_of, text_of, value_of

SHARE = 256 << 10  # bytes; a larger table is streamed
MOST = 4 * SHARE  # of a query's tensors
ATTEMPTS = 60  # to draw a legal query
WIDE = 128  # columns, heads … in large tables
TYPES = {"F32": "f", "F64": "d", "F16": "e"}


class Scheme:
    """What a path of tensors takes: `rows` of the scheme's own, `more` besides, both by
    name."""

    def __init__(self, document, path, more, takers):
        self.document, self.path, self.more = document, path, more
        self.takers = takers  # {option: the formats that take it}
        self.rows = {row["name"]: row for row in document["parameters"]}
        self.example = example(document)

    def row(self, name):
        return self.rows.get(name) or self.more.get(name)

    def stored(self):
        """The name of the parameter that names a set, if there is one."""
        strings = [name for name, row in self.rows.items() if row["type"] == "string"]
        named = [name for name in strings if "choices" not in self.rows[name]]
        return named[0] if named else None


class Goal(NamedTuple):
    """What a query has to give; `text` is None where any value does."""

    scheme: Scheme
    name: str
    text: str


class Query:
    def __init__(self, scheme, given):
        self.scheme, self.given = scheme, given

    def target(self):
        return f"{self.scheme.path}?{query_of(self.given)}"

    def document(self):
        """The same as a JSON object."""
        return {
            name: value_of(self.scheme.row(name), text) for name, text in self.given.items()
        }

    def features(self):
        """What an answer to it covers: of goals, (path, name, text)."""
        features = {(self.scheme.path, name, None) for name in self.given}
        return features | {(self.scheme.path, *pair) for pair in self.given.items()}


def row_of(parameter):
    """A parameter of /openapi.json as a row like those of /v1/schemes."""
    schema = parameter["schema"]
    schema = schema.get("oneOf", [schema])[0]  # the first of several kinds of values
    row = {
        "name": parameter["name"],
        "type": schema["type"],
        "default": schema.get("default"),
        "required": parameter.get("required", False),
        **schema.get("items", {}),
    }
    row |= {name: schema[name] for name in ("minimum", "maximum") if name in schema}
    return {**row, "type": schema["type"]} | (
        {"choices": schema["enum"]} if "enum" in schema else {}
    )


# For a server that is asked now and then, on connections that are kept meanwhile.
PATIENT = ("--idle-seconds", "3600", "--header-seconds", "3600")
ANSWER_SECONDS = 600  # that an answer may take on a machine that does other work


def patient_wire(server):
    wire = server.wire()
    wire.socket.settimeout(ANSWER_SECONDS)
    return wire


class Scout:
    """A server beside those that are compared. It is asked whether a query is legal and how
    large its tensors are, so that only what is compared touches the caches of the others."""

    def __init__(self, server):
        self.server, self.wire = server, patient_wire(server)
        self.openapi, self.info = written_out(self.read("/openapi.json")), self.read("/v1/info")
        self.documents = self.read("/v1/schemes")["schemes"]
        takers = {}
        for form in self.info["formats"]:
            for option in form["options"]:
                takers.setdefault(option["name"], []).append(form["name"])
        self.schemes = [
            Scheme(document, path, self.rest_of(path, document), takers)
            for document in self.documents
            for path in self.paths_of(document)
        ]

    def ask(self, method, target, body=b""):
        try:
            self.wire.ask(method, target, None, body)
            reply = self.wire.receive(method)
        except (EOFError, ConnectionError):
            log = self.server.log()
            raise AssertionError(f"{method} {target} is not answered: {log}") from None
        if (reply.header("Connection") or "").lower() == "close":
            self.wire.close()
            self.wire = patient_wire(self.server)
        return reply

    def read(self, target):
        return self.ask("GET", target).json()

    def paths_of(self, document):
        """The paths that give tensors of a scheme, in some form."""
        yield f"/v1/encodings/{document['name']}"
        path = f"/v1/similarity/{document['name']}"
        forms = [
            f"&{row['name']}={choice}"
            for row in document["parameters"]
            for choice in row.get("choices", ())
        ]
        target = f"{path}?{document['example']}&metric=l2"
        if any(self.ask("HEAD", target + form).status == 200 for form in ("", *forms)):
            yield path

    def rest_of(self, path, document):
        """What a request may give besides the scheme's own parameters. Those of similarities
        are the same for all schemes, and take one tensor and the presets of the scheme."""
        own = {row["name"] for row in document["parameters"]}
        paths, similar = self.openapi["paths"], "/v1/similarity/" in path
        encoding = paths[f"/v1/encodings/{document['name']}"]["get"]["parameters"]
        parameters = [each for each in encoding if not similar or each["name"] != "tensor"]
        if similar:
            parameters = paths["/v1/similarity/{scheme}"]["get"]["parameters"] + parameters
        found = {
            parameter["name"]: row_of(parameter)
            for parameter in parameters
            if parameter["in"] == "query" and not parameter.get("deprecated")
            if parameter["schema"].get("type") != "object"
        }
        if similar:
            found["tensor"]["choices"] = ["similarity"]
        rows = found.values()
        return {row["name"]: row for row in rows if row["name"] not in own}

    def accepts(self, query):
        return self.ask("HEAD", query.target()).status == 200

    def size(self, query):
        """About the bytes of all tensors together; None where they are refused."""
        extra = {"format", "tensor", *query.scheme.takers}
        given = {name: text for name, text in query.given.items() if name not in extra}
        reply = self.ask(
            "HEAD", Query(query.scheme, {**given, "format": "safetensors"}).target()
        )
        return int(reply.header("Content-Length")) if reply.status == 200 else None


class Symbols(dict):
    """Values of the names in shapes such as [2*span, dim], drawn when they are first met."""

    def __init__(self, random, scheme):
        super().__init__()
        self.random, self.scheme = random, scheme
        self.pool = [int(text) for text in scheme.example.values() if text.isdigit()]

    def __missing__(self, name):
        row = self.scheme.rows.get(name)
        value = self.random.choice([*self.pool, *range(1, 17)])
        self[name] = -value if row and row.get("maximum", 1) <= 0 else value
        return self[name]


def shapes_of(text):
    """{tensor: extents} of a help such as "…: keys and values [n, dim]". Every word before the
    brackets may name a tensor; a tensor too many in a set does no harm."""
    shapes = {}
    for words, extents in re.findall(r"([^\[\]]*)\[([^\]]*)\]", text.split(":", 1)[-1]):
        for word in re.findall(r"[a-z]\w*", words):
            shapes.setdefault(word, extents.split(", "))
    return shapes


def extent_of(text, symbols):
    """The value of "dim+1" or "dim/heads"; 0 where that is no extent."""
    if not re.fullmatch(r"\w+([+*/-]\w+)*", text):
        return 0
    try:
        value = eval(text, {"__builtins__": {}}, symbols)  # names and numbers alone
    except (SyntaxError, ZeroDivisionError):
        return 0
    return int(value) if value == int(value) and value > 0 else 0


def file_of(random, shapes):
    """A safetensors file of random numbers."""
    tensors = {}
    for name, shape in shapes.items():
        dtype, count = random.choice(list(TYPES)), math.prod(shape)
        numbers = [random.uniform(-0.1, 0.1) for _ in range(count)]
        tensors[name] = (dtype, shape, struct.pack(f"<{count}{TYPES[dtype]}", *numbers))
    return stored.write(tensors)


class Draw:
    """Draws values by rows and whole queries; `sets` are those stored for schemes that take
    one."""

    def __init__(self, random, scout):
        self.random, self.scout = random, scout
        self.sets = {}  # {set: its file}
        self.bases = {scheme.path: [scheme.example] for scheme in scout.schemes}
        for scheme in scout.schemes:
            if scheme.stored():
                self.store_for(scheme)

    # ---- sets ----

    def store_for(self, scheme):
        """Look for sets that a scheme takes, and how they are asked for."""
        name = scheme.document["name"]
        for _ in range(ATTEMPTS):
            if len(self.bases[scheme.path]) > 2:
                return
            target = f"{name}-{len(self.sets)}"
            body, given = self.set_for(scheme)
            if not body or self.scout.ask("PUT", f"{stored.PATH}/{target}", body).status > 204:
                continue
            query = Query(scheme, {**given, scheme.stored(): target})
            if self.scout.accepts(query):
                self.sets[target] = body
                self.bases[scheme.path].append(query.given)

    def set_for(self, scheme):
        """(file, the query's other parameters)."""
        symbols = Symbols(self.random, scheme)
        help_text = scheme.rows[scheme.stored()]["help"]
        shapes = {
            tensor: [extent_of(extent, symbols) for extent in extents]
            for tensor, extents in shapes_of(help_text).items()
        }
        small = {
            tensor: shape for tensor, shape in shapes.items() if 0 < math.prod(shape) < 1 << 14
        }
        named = {name: str(value) for name, value in symbols.items() if name in scheme.rows}
        given = {**scheme.example, **named, **self.required(scheme, {})}
        given = {
            name: text
            for name, text in given.items()
            if "stored" not in scheme.rows.get(name, {})
        }
        return small and file_of(self.random, small), given

    # ---- values ----

    def number(self, row):
        low = row.get("minimum", row.get("exclusive_minimum"))
        high, near = row.get("maximum", row.get("exclusive_maximum")), row.get("default") or 1
        kind = self.random.choices(range(5), (4, 3, 3, 1, 1))[0]
        value = (
            near * 2 ** self.random.uniform(-3, 3),
            round(self.random.uniform(-20, 100), self.random.randrange(4)),
            self.random.randrange(-20, 200),
            self.random.choice((low, high)),
            self.random.choice((-1, 1)) * self.random.randrange(1 << 31, 1 << 50),
        )[kind]
        return text_of(min(max(value, low), high))

    def integer(self, row):
        low, high = int(row["minimum"]), int(row["maximum"])
        unit = row.get("multiple_of") or self.random.choice((1, 1, 2, 4, 8))
        kind = self.random.choices(range(3), (6, 2, 1))[0]
        value = (
            unit * int(2 ** self.random.uniform(0, 5)),
            unit * self.random.randrange(-8, 24),
            self.random.choice((low, high)),
        )[kind]
        text = str(min(max(value, low), high))
        return text + self.random.choice((".0", "e0")) if self.random.random() < 0.05 else text

    def array(self, row, given):
        """A list as long as some number in the query, or half of one, or as another list, or
        short."""
        lengths = [
            int(text) for text in given.values() if text.isdigit() and 0 < int(text) < 200
        ]
        halves = [length // 2 for length in lengths if length > 1]
        lists = [text.count(",") + 1 for text in given.values() if "," in text]
        kinds = (lengths, halves, lists, (1, 2, 3))
        count = self.random.choice(self.random.choice(kinds) or (1,))
        low = self.random.choice((max(math.ceil(row["minimum"]), -50), 0))
        high = low + self.random.choice((8, 60))
        parts = self.random.choice(((0,), (0, 0, 0.5, 0.123)))
        unit = row.get("multiple_of") or self.random.choice((1, 1, 2))
        items = [
            unit * (self.random.randrange(low, high) // unit) + self.random.choice(parts)
            for _ in range(count)
        ]
        return text_of([min(max(item, row["minimum"]), row["maximum"]) for item in items])

    def value(self, row, given):
        """A text that is often legal."""
        if "choices" in row:
            return self.random.choice(row["choices"])
        if row["type"] == "boolean":
            return self.random.choice(("true", "false"))
        if row["type"] == "array":
            return self.array(row, given)
        if row["type"] in ("integer", "number"):
            return self.integer(row) if row["type"] == "integer" else self.number(row)
        return self.random.choice([*self.sets, "nothing"])

    # ---- queries ----

    def required(self, scheme, given):
        """What is required besides the scheme's own."""
        return {
            name: self.value(row, given)
            for name, row in scheme.more.items()
            if row["required"] and name not in given
        }

    def give(self, scheme, given, name, text=None):
        """Give a parameter, and keep to what its row says of others."""
        row = scheme.row(name)
        if row.get("unless") in given:
            return
        if "when" in row:
            choices = [case["choice"] for case in row["when"]["cases"]]
            if given.get(row["when"]["parameter"]) not in choices:
                self.give(scheme, given, row["when"]["parameter"], self.random.choice(choices))
        given[name] = self.value(row, given) if text is None else text
        if name in scheme.takers and given.get("format") not in scheme.takers[name]:
            given["format"] = self.random.choice(scheme.takers[name])
        for other, facts in scheme.rows.items():
            if facts.get("unless") == name:
                given.pop(other, None)
            elif (
                name in (factors := facts.get("default_of", "").split(" * "))
                and len(factors) > 1
            ):
                given.pop(other, None)  # their product
                for factor in factors:
                    given.setdefault(factor, self.value(scheme.rows[factor], given))
            elif facts.get("when", {}).get("parameter") == name:
                self.follow(scheme, given, other, given[name])

    def follow(self, scheme, given, name, choice):
        """Drop a parameter that has no place with a choice, give one that it requires."""
        cases = {case["choice"]: case for case in scheme.rows[name]["when"]["cases"]}
        if choice not in cases:
            given.pop(name, None)
        elif name not in given and (cases[choice]["required"] or self.random.random() < 0.3):
            given[name] = self.value(scheme.rows[name], given)

    def attempt(self, goal):
        scheme = goal.scheme
        bases = self.bases[scheme.path]
        given = dict(
            bases[0]
            if len(bases) < 2 or self.random.random() < 0.7
            else self.random.choice(bases[1:])
        )
        if goal.name == scheme.stored() and len(bases) > 1:
            given = dict(self.random.choice(bases[1:]))
        given |= self.required(scheme, given)
        names = [*scheme.rows, *scheme.more, "format", "format", "format", "dtype"]
        names = self.random.sample(names, self.random.randrange(6))
        names += [name for name in given if self.random.random() < 0.4]
        for name in names:
            has_place = scheme.stored() not in given or "stored" not in scheme.row(name)
            if name != scheme.stored() and has_place:
                self.give(scheme, given, name)
        if goal.name != scheme.stored():
            self.give(scheme, given, goal.name, goal.text)
        if "slice" in scheme.takers and given.get("format") in scheme.takers["slice"]:
            given.setdefault("slice", self.random.choice(("0", "0,0", "1")))
            if self.random.random() < 0.5:
                del given["slice"]
        return Query(scheme, given)

    def enlarge(self, query, beyond):
        """Double what the example gives until the tensors have more bytes: the first number,
        that of rows, as often as need be, others until they are WIDE, since some cost grows by
        squares.
        """
        rows, given = query.scheme.rows, query.given
        names = [
            name
            for name in query.scheme.example
            if given.get(name, "").isdigit() and rows[name]["type"] == "integer"
        ]
        for _ in range(ATTEMPTS):
            size = self.scout.size(query)
            left = names[:1] + [name for name in names[1:] if int(given[name]) < WIDE]
            if not left or size is None or size > beyond:
                return
            name = self.random.choice(left)
            given[name] = str(2 * int(given[name]))

    def query(self, goal, beyond=0):
        """A query that has what the goal asks for and tensors of more bytes than `beyond`,
        legal if that is found; None where it is too large to send."""
        for _ in range(ATTEMPTS):
            query = self.attempt(goal)
            if beyond:
                self.enlarge(query, beyond)
            size = self.scout.size(query)
            if size and size <= MOST and self.scout.accepts(query):
                return query
        return query if not self.scout.accepts(query) else None

    def goals(self):
        """Every choice of every parameter, and every parameter, format, tensor and preset."""
        goals = []
        for scheme in self.scout.schemes:
            for row in [*scheme.rows.values(), *scheme.more.values()]:
                texts = (
                    ("true", "false")
                    if row["type"] == "boolean"
                    else row.get("choices", (None,))
                )
                goals += [Goal(scheme, row["name"], text) for text in texts]
        return goals

    def spelt(self, target):
        """The target, now and then in another order and with a letter and the commas
        escaped."""
        path, _, query = target.partition("?")
        pairs = query.split("&")
        if self.random.random() < 0.9:
            return target
        self.random.shuffle(pairs)
        pairs[0] = f"%{ord(pairs[0][0]):02x}{pairs[0][1:]}"
        return f"{path}?{'&'.join(pairs).replace(',', '%2C')}"
