"""Requests that are wrong, each in one or several respects, drawn from legal queries of
schemes."""

import json
from urllib.parse import quote

from comparison import Asked
from draws import Query
from registry import misspelt
from test_negotiation import REFUSED as UNACCEPTABLE

JSON = {"Content-Type": "application/json"}
WORDS = [
    "", "0", "1", "-1", "4", "7", "8", "16", "1e1", "4.0", "4.5", "-0", "0.1", "1e-3", "1e15",
    "1e999",
    "0x4", "nan", "inf", "true", "false", "f32", "f64", "f16", "bf16", "json", "npy", "raw",
    "safetensors", "encoding", "concat", "interleaved", "nc", "hwc", "lsb", "dyadic", "whisper",
    "0,1,2", "0,,1", "3,-1.5,1e3", ",", "%", "%01", "%ff", "%zz", "%0d%0a", "+", "1e+4", "é",
    "<", "\\", "{}", "a" * 300, "9" * 400, "--", "..", "\u20ac" * 40,
]  # fmt: skip
VALUES = [
    None, True, False, 0, 1, -1, 4, 8, 4.0, 4.5, 1e15, 1e300, "", "4", "f64", "npy", "raw",
    "concat",
    [], [0, 1, 2], [0.5, -3], ["a"], [None], [[1]], {}, {"a": 1}, "\u0000", "x" * 500, 2**70,
]  # fmt: skip
BODY_LIMIT, LIST_LIMIT, TARGET_LIMIT = 64 << 10, 2000, 8 << 10  # of the servers compared
NO_PATHS = (
    "/nothing",
    "/v1",
    "/v1/",
    "/v1/encodings",
    "/v1/encodings/",
    "/v2/schemes",
    "//",
    "/%2e%2e",
    "/v1/schemes/",
    "/v1/similarity/",
    "/assets/",
    "/assets/none.js",
    "/metrics/",
    "/V1/info",
)
TYPES = (
    "text/plain",
    "application/jsonx",
    "application/x-www-form-urlencoded",
    "json",
    "",
    "application/json; charset=utf-8",
    "application/json;charset=latin1",
    "APPLICATION/JSON",
)
METHODS = ("DELETE", "PUT", "PATCH", "TRACE", "BREW", "POST", "get", "CONNECT")
TEXTS = (
    b"",
    b"{",
    b"[]",
    b"null",
    b"1",
    b'"a"',
    b"{}",
    b"{}{}",
    b"\xff{}",
    b'{"length": 1e999}',
    b'{"length": NaN}',
    b'{"length": "4"}',
    b"{'length': 4}",
    b'{"a": {"b": [1]}}',
    b'{"": 1}',
    b'{"length": 4, "length": 4}',
    b'{"length": 4,}',
    b'\xef\xbb\xbf{"length": 4}',
    b'{"length": 18446744073709551616}',
    b'{"dtype": "\\u0000"}',
    b"[" * 3000,
)


class Mistakes:
    def __init__(self, random, draw):
        self.random, self.draw = random, draw
        self.schemes = draw.scout.schemes

    def ask(self, method, target, headers=None, body=b""):
        return Asked("mistakes", method, target, headers or {}, body)

    def next(self):
        kinds = {
            self.query: 50,
            self.post: 20,
            self.path: 8,
            self.method: 6,
            self.unacceptable: 6,
            self.too_long: 5,
            self.not_alike: 3,
            self.needless_body: 2,
        }
        return self.random.choices(list(kinds), kinds.values())[0]()

    def legal(self):
        """A query that the example gives, with the parameters that it requires."""
        scheme = self.random.choice(self.schemes)
        given = dict(self.random.choice(self.draw.bases[scheme.path]))
        return scheme, {**given, **self.draw.required(scheme, given)}

    # ---- what is wrong with a query: each changes the pairs ----

    def any_row(self, scheme):
        return self.random.choice([*scheme.rows.values(), *scheme.more.values()])

    def give(self, pairs, name, text):
        pairs[:] = [pair for pair in pairs if pair[0] != name] + [(name, text)]

    def misspell(self, scheme, pairs):
        at = self.random.randrange(len(pairs))
        pairs[at] = (misspelt(pairs[at][0] or "x", self.random), pairs[at][1])

    def misspell_another(self, scheme, pairs):
        row = self.any_row(scheme)
        pairs.append((misspelt(row["name"], self.random), self.draw.value(row, {})))

    def invent(self, scheme, pairs):
        pairs.append((self.random.choice(("colour", "x", "verbose", *WORDS)), "1"))

    def repeat(self, scheme, pairs):
        pairs.append(self.random.choice(pairs))

    def omit(self, scheme, pairs):
        pairs.pop(self.random.randrange(len(pairs)))

    def leave_the_range(self, scheme, pairs):
        rows = [
            row for row in [*scheme.rows.values(), *scheme.more.values()] if "minimum" in row
        ]
        row = self.random.choice(rows)
        most = row.get("maximum", row.get("exclusive_maximum", 1e300))
        beyond = (row["minimum"] - 1, most + 1, -1e300, 1e300, 2 * most, 0)
        text = f"{self.random.choice(beyond):.17g}"
        self.give(pairs, row["name"], text)

    def use_another_type(self, scheme, pairs):
        self.give(pairs, self.any_row(scheme)["name"], self.random.choice(WORDS))

    def misspell_a_choice(self, scheme, pairs):
        rows = [
            row for row in [*scheme.rows.values(), *scheme.more.values()] if "choices" in row
        ]
        row = self.random.choice(rows)
        self.give(pairs, row["name"], misspelt(self.random.choice(row["choices"]), self.random))

    def give_anything(self, scheme, pairs):
        """Legal by itself, but often against a rule between parameters, or too large."""
        row = self.any_row(scheme)
        self.give(pairs, row["name"], self.draw.value(row, dict(pairs)))

    def exceed(self, scheme, pairs):
        names = [name for name, text in pairs if text.isdigit()]
        if names:
            number = self.random.choice((1 << 20, 10**9, 1 << 53))
            self.give(pairs, self.random.choice(names), str(number))

    def name_no_set(self, scheme, pairs):
        self.give(
            pairs,
            scheme.stored() or "set",
            self.random.choice(("nothing", "a/b", "A", "x" * 65, "", *self.draw.sets)),
        )

    CHANGES = (
        misspell,
        misspell_another,
        invent,
        repeat,
        omit,
        leave_the_range,
        leave_the_range,
        use_another_type,
        use_another_type,
        misspell_a_choice,
        give_anything,
        give_anything,
        exceed,
        name_no_set,
    )

    # ---- requests ----

    def query(self):
        scheme, given = self.legal()
        pairs = list(given.items())
        for _ in range(self.random.choice((1, 1, 1, 2, 3, 20))):
            if pairs:
                self.random.choice(self.CHANGES)(self, scheme, pairs)
        keep = self.random.choice(("%,+", "", ","))
        query = "&".join(f"{quote(name, keep)}={quote(text, keep)}" for name, text in pairs)
        query += self.random.choice(("", "", "", "", "&", "&a", "&=", "&&", "?", "&a=b=c"))
        return self.ask(self.random.choice(("GET", "GET", "HEAD")), f"{scheme.path}?{query}")

    def post(self):
        scheme, given = self.legal()
        document = Query(scheme, given).document()
        for _ in range(self.random.choice((0, 1, 1, 2))):
            name = self.random.choice((self.any_row(scheme)["name"], *document, "colour"))
            document[name] = self.random.choice((*VALUES, *WORDS))
        body = json.dumps(document).encode()
        kind = self.random.randrange(5)
        headers, query = JSON, ""
        if kind == 0:
            body = self.random.choice(TEXTS)
        elif kind == 1:
            at = self.random.randrange(len(body))
            noise = bytes([self.random.randrange(256)])
            body = self.random.choice((body[:at], body[:at] + noise + body[at + 1 :]))
        elif kind == 2:
            headers = self.random.choice([{"Content-Type": text} for text in TYPES] + [{}])
        elif kind == 3:
            query = self.random.choice(("?", "?length=4", "?format=npy"))
        return self.ask("POST", scheme.path + query, headers, body)

    def path(self):
        scheme, given = self.legal()
        query = Query(scheme, given).target().partition("?")[2]
        name = scheme.document["name"]
        path = self.random.choice(
            (
                *NO_PATHS,
                f"/v1/schemes/{misspelt(name, self.random)}",
                f"{scheme.path}/",
                f"/v1/encodings/{misspelt(name, self.random)}?{query}",
                f"/v1/encodings/{name.upper()}",
                f"/v1/similarity/{misspelt(name, self.random)}?{query}",
                f"/v1/info?{query}",
                f"/v1/schemes?{query}",
                f"/openapi.json?{query}",
                "/?a=b",
                "/health/live?x",
            )
        )
        return self.ask(self.random.choice(("GET", "GET", "HEAD", "POST")), path)

    def method(self):
        paths = [
            path.replace("{", "x").replace("}", "") for path in self.draw.scout.openapi["paths"]
        ]
        return self.ask(self.random.choice(METHODS), self.random.choice(paths))

    def unacceptable(self):
        scheme, given = self.legal()
        target = Query(scheme, given).target()
        headers = self.random.choice(
            (
                {"Accept": self.random.choice(UNACCEPTABLE)},
                {"Accept-Encoding": "identity;q=0"},
                {"Accept-Encoding": "gzip;q=0, *;q=0"},
            )
        )
        return self.ask("GET", target, headers)

    def too_long(self):
        """Of a target, a list, a body (only announced) or what would come."""
        scheme, given = self.legal()
        target = Query(scheme, given).target()
        items = ",".join(["1"] * (LIST_LIMIT + self.random.randrange(2)))
        length = {
            **JSON,
            "Content-Length": str(BODY_LIMIT + 1 + self.random.randrange(1 << 40)),
        }
        lists = [row["name"] for row in scheme.rows.values() if row["type"] == "array"] or [
            "rows"
        ]
        return self.random.choice(
            (
                self.ask("GET", target + "&x=" + "y" * (TARGET_LIMIT - len(target) - 3)),
                self.ask("GET", target + "&x=" + "y" * (TARGET_LIMIT - len(target) - 2)),
                self.ask("GET", f"{target}&{self.random.choice(lists)}={items}"),
                self.ask("POST", scheme.path, length),
            )
        )

    def not_alike(self):
        """Similarity of a scheme whose rows cannot be compared, if there is one."""
        documents = [d for d in self.draw.scout.documents if not d["similarity"]]
        document = self.random.choice(documents or self.draw.scout.documents)
        return self.ask(
            "GET", f"/v1/similarity/{document['name']}?{document['example']}&metric=l2"
        )

    def needless_body(self):
        """Methods with a body that says nothing."""
        scheme, given = self.legal()
        target = Query(scheme, given).target()
        return self.ask(
            self.random.choice(("GET", "HEAD", "OPTIONS", "DELETE")), target, {}, b"body"
        )
