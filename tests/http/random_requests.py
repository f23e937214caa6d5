"""Random requests of every kind for servers that are compared, and which kinds there are."""

import json
import re
from collections import deque

import stored
from comparison import Asked
from draws import SHARE, file_of
from mistakes import JSON, Mistakes
from random_posts import Posts
from test_framing import FINE, REFUSED, SECOND
from test_negotiation import CHOICES

CODINGS = (
    "gzip",
    "gzip",
    "gzip",
    "gzip;q=0.5, identity;q=0.1",
    "identity",
    "gzip;q=0",
    "br, gzip;q=0.2",
    "*",
    "",
)
OTHERS = (
    {"X-Request-Id": "request-1"},
    {"X-Request-Id": "not legal"},
    {"Origin": "https://example.org"},
    {"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
    {"traceparent": "00-0-0-0"},
    {"Connection": "close"},
    {"User-Agent": "x"},
)
CONDITIONS = (
    "{tag}",
    "{tag}",
    "{tag}",
    "W/{tag}",
    '"a", {tag}',
    "*",
    '"a"',
    '"',
    "",
    'W/"a", "b"',
)
RANGES = (
    "bytes={first}-{last}",
    "bytes={first}-{last}",
    "bytes={first}-",
    "bytes=-{last}",
    "bytes=-0",
    "bytes=0-0",
    "bytes={length}-",
    "bytes={last}-{first}",
    "bytes=0-1,4-5",
    "bytes=x",
    "rows=1-2",
    "bytes=0-{length}",
    "bytes=-{length}",
    "BYTES={first}-{last}",
    "bytes={first} - {last}",
)
KEPT = 64  # answers that later requests may refer to
SPARE = tuple(f"spare-{number}" for number in range(6))  # sets that come, change and go
KEYS = (
    "Bearer wrong",
    "Bearer",
    "Basic eDp5",
    "bearer {key}",
    "Bearer  {key}",
    "Bearer {key}x",
)


def kind_of(path):
    return "the pages" if path in ("/", "/docs") or path.startswith("/assets/") else "documents"


class Exchange:
    """What was asked, and what both answers said of themselves."""

    def __init__(self, asked, old, new):
        self.asked, self.old = asked, old
        self.tags = tuple(answer.header("ETag") or '""' for answer in (old, new))


class Requests:
    """Draws requests. With a `key` the store needs authorization."""

    ALL = {
        "encodings": 52,
        "again": 7,
        "conditions": 6,
        "ranges": 6,
        "documents": 5,
        "sets": 6,
        "mistakes": 14,
        "options": 2,
        "framing": 3,
        "posts": 25,
    }
    STORE = {"sets": 12, "trained": 4, "documents": 2, "conditions": 1, "mistakes": 1}

    def __init__(self, random, draw, weights, key=None):
        self.random, self.draw, self.weights, self.key = random, draw, weights, key
        self.goals = draw.goals()
        self.waiting = []  # goals in random order
        self.kept = {
            name: deque(maxlen=KEPT) for name in ("tensors", "parts", "streams", "any")
        }
        self.mistakes, self.posts = Mistakes(random, draw), Posts(random, draw)
        openapi = draw.scout.openapi
        self.paths = [path.replace("{", "x").replace("}", "") for path in openapi["paths"]]
        self.documents = [
            path
            for path in openapi["paths"]
            if not path.startswith("/v1/encodings/")
            and not path.startswith("/v1/similarity/")
            and "{" not in path
        ]
        self.documents += [
            f"/v1/schemes/{document['name']}" for document in draw.scout.documents
        ]
        page = draw.scout.ask("GET", "/").body.decode()
        self.documents += sorted(set(re.findall(r"/assets/[\w.-]+", page)))

    def uploads(self):
        """The sets that queries name."""
        for name, body in self.draw.sets.items():
            path = f"{stored.PATH}/{name}"
            yield Asked("sets", "PUT", path, self.authorization(), body)

    def first(self):
        """Besides the uploads every document once, plain: these a HEAD or a 304 stands for."""
        yield from self.uploads()
        for path in self.documents:
            yield Asked(kind_of(path), "GET", path, self.authorization())

    def last(self):
        """What counts all that was asked."""
        for path in ("/metrics", "/v1/info", stored.PATH):
            yield Asked("documents", "GET", path, self.authorization())

    def next(self):
        kind = self.random.choices(list(self.weights), self.weights.values())[0]
        return getattr(self, f"next_{kind}")()

    def remember(self, asked, old, new):
        """Keep an exchange that later requests may refer to."""
        if asked.raw or asked.method not in ("GET", "HEAD") or old.status != 200:
            return
        exchange = Exchange(asked, old, new)
        if old.header("ETag"):
            self.kept["any"].append(exchange)
        if old.header("Tensor-Name") and asked.method == "GET":
            self.kept["tensors"].append(exchange)
        if old.header("Accept-Ranges"):
            is_stream = "streamed" in (old.header("Cache-Status") or "")
            self.kept["streams" if is_stream else "parts"].append(exchange)

    # ---- headers ----

    def accept(self):
        """Some media types with q-values."""
        forms = self.draw.scout.info["formats"]
        types = [
            form["media_type"]
            for form in self.random.sample(forms, self.random.randrange(1, 4))
        ]
        qualities = ("", "", ";q=0.5", ";q=0.2", ";q=0", ";q=1.0")
        drawn = ", ".join(name + self.random.choice(qualities) for name in [*types, "*/*"])
        return self.random.choice((drawn, types[0], self.random.choice(list(CHOICES))))

    def headers(self, accept=0.0):
        headers = {}
        if self.random.random() < 0.25:
            headers["Accept-Encoding"] = self.random.choice(CODINGS)
        if self.random.random() < accept:
            headers["Accept"] = self.accept()
        if self.random.random() < 0.05:
            headers |= self.random.choice(OTHERS)
        return headers

    def version(self):
        return "1.0" if self.random.random() < 0.02 else "1.1"

    def authorization(self, form="Bearer {key}"):
        return {"Authorization": form.replace("{key}", self.key)} if self.key else {}

    def authorized(self, path):
        """What a request for a path needs, now and then wrong."""
        if not path.startswith(stored.PATH) or self.random.random() < 0.05:
            return {}
        wrong = self.random.random() < 0.05
        return self.authorization(self.random.choice(KEYS)) if wrong else self.authorization()

    # ---- tensors ----

    def goal(self):
        if not self.waiting:
            self.waiting = self.random.sample(self.goals, len(self.goals))
        return self.waiting.pop()

    def size(self):
        """Bytes that the tensors are to exceed, about; 0: whatever is drawn."""
        kind = self.random.random()
        if kind < 0.15:
            return SHARE
        return int(2 ** self.random.uniform(10, 17)) if kind < 0.4 else 0

    def next_encodings(self):
        while not (query := self.draw.query(self.goal(), self.size())):
            pass
        return self.ask_for(query)

    def next_trained(self):
        """Tensors of a set."""
        goals = [goal for goal in self.goals if goal.name == goal.scheme.stored()]
        while not (query := self.draw.query(self.random.choice(goals))):
            pass
        return self.ask_for(query)

    def ask_for(self, query):
        kind = "similarity" if "/similarity/" in query.scheme.path else "encodings"
        features = frozenset(query.features())
        chosen = "format" in query.given
        if self.random.random() < 0.15:
            body = json.dumps(query.document()).encode()
            headers = {**self.headers(0 if chosen else 0.5), **JSON}
            return Asked(kind, "POST", query.scheme.path, headers, body, features=features)
        method = "HEAD" if self.random.random() < 0.08 else "GET"
        headers = self.headers(0.02 if chosen else 0.5)
        return Asked(
            kind,
            method,
            self.draw.spelt(query.target()),
            headers,
            version=self.version(),
            features=features,
        )

    def next_again(self):
        """The same target as before, which the cache may hold, perhaps in another form."""
        if not self.kept["tensors"]:
            return self.next_encodings()
        asked = self.random.choice(self.kept["tensors"]).asked
        headers = self.random.choice((asked.headers, self.headers(0.5)))
        return Asked("encodings again", "GET", asked.target, headers, features=asked.features)

    # ---- conditions and parts ----

    def next_conditions(self):
        if not self.kept["any"]:
            return self.next_documents()
        exchange = self.random.choice(self.kept["any"])
        name = self.random.choice(("If-None-Match", "If-None-Match", "If-Match"))
        headers = {**exchange.asked.headers, name: self.random.choice(CONDITIONS)}
        if self.random.random() < 0.1:
            headers |= {"If-None-Match": "{tag}", "If-Match": "{tag}"}
        method = self.random.choice(("GET", "GET", "HEAD"))
        return Asked("conditions", method, exchange.asked.target, headers, tags=exchange.tags)

    def next_ranges(self):
        kept = self.random.choice(
            (self.kept["parts"], self.kept["parts"], self.kept["streams"])
        )
        if not kept:
            return self.next_encodings()
        exchange = self.random.choice(kept)
        length = int(exchange.old.header("Content-Length"))
        first, last = sorted(self.random.randrange(length) for _ in range(2))
        text = self.random.choice(RANGES).format(first=first, last=last, length=length)
        headers = {**exchange.asked.headers, "Range": text}
        if self.random.random() < 0.3:
            headers["If-Range"] = self.random.choice(("{tag}", "{tag}", "W/{tag}", '"a"', ""))
        method = self.random.choice(("GET", "GET", "GET", "HEAD"))
        return Asked("ranges", method, exchange.asked.target, headers, tags=exchange.tags)

    # ---- documents, sets, and what is left ----

    def next_documents(self):
        path = self.random.choice(self.documents)
        headers = {**self.headers(0.1), **self.authorized(path)}
        method = self.random.choice(("GET", "GET", "HEAD"))
        return Asked(kind_of(path), method, path, headers, version=self.version())

    def for_set(self, method, name, headers, body=b""):
        path = f"{stored.PATH}/{name}"
        return Asked("sets", method, path, {**headers, **self.authorized(path)}, body)

    def file(self):
        """A file to store, now and then a damaged one."""
        name = self.random.choice(list(self.draw.sets) or [""])
        shapes = {
            "table": [self.random.randrange(1, 9), self.random.choice((4, 8))],
            "more": [3],
        }
        kind = self.random.random()
        body = self.draw.sets[name] if name and kind < 0.2 else file_of(self.random, shapes)
        return stored.corrupt(body, self.random) if kind > 0.6 else body

    def next_sets(self):
        name = self.random.choice(SPARE)
        kind = self.random.randrange(10)
        condition = self.random.choice(
            (
                {},
                {},
                {"If-Match": "*"},
                {"If-None-Match": "*"},
                {"If-Match": '"a"'},
                {"Origin": "https://example.org"},
                {"Host": "example.org"},
            )
        )
        if kind < 4:
            body = self.file()
            tag = stored.tag(body)
            conditions = ({}, {}, {}, condition, {"If-Match": tag}, {"If-None-Match": tag})
            return self.for_set("PUT", name, self.random.choice(conditions), body)
        if kind == 4:
            return self.for_set("DELETE", name, condition)
        if kind == 5:
            wrong = self.random.choice(("A", ".a", "a%2fb", "x" * 65, "a?b=c", "a~"))
            method = self.random.choice(("PUT", "GET", "DELETE"))
            return self.for_set(method, wrong, {}, stored.simple() if method == "PUT" else b"")
        if kind == 6:
            return Asked(
                "sets",
                self.random.choice(("GET", "HEAD")),
                stored.PATH,
                {**self.headers(), **condition, **self.authorized(stored.PATH)},
            )
        if kind == 7:
            parts = self.random.choice((
                {"Content-Range": "bytes 0-1/9"}, {"Content-Length": str(1 << 40)},
                {"Content-Type": "text/plain"}, {"Content-Encoding": "gzip"},
            ))  # fmt: skip
            body = (
                b"" if "Content-Length" in parts else stored.simple()
            )  # what is announced suffices
            return self.for_set("PUT", name, parts, body)
        name = self.random.choice([*SPARE, *self.draw.sets])
        method = self.random.choice(("GET", "GET", "HEAD"))
        return self.for_set(method, name, {**self.headers(), **condition})

    def next_mistakes(self):
        return self.mistakes.next()

    def next_posts(self):
        return self.posts.next()

    def next_options(self):
        path = self.random.choice((*self.paths, "/nothing", "*"))
        headers = {"Origin": "https://example.org", "Access-Control-Request-Method": "GET"}
        return Asked("options", "OPTIONS", path, self.random.choice((headers, {})))

    def next_framing(self):
        """Heads and bodies that may be read in two ways, and legal ones, with a request
        behind."""
        probes = {**REFUSED, **FINE}
        name = self.random.choice(list(probes))
        return Asked("framing", "", name, {}, raw=probes[name][-1] + SECOND)
