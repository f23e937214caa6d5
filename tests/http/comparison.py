"""Compares two answers to the same request: equal, equal but for texts that people read, or
not."""

import gzip
import re
from typing import NamedTuple

# What differs from one answer to the next of the same build. A value that the request gave
# itself is compared all the same, and so is whether there is one.
VARYING_HEADERS = {
    "date": "the clock",
    "server-timing": "how long computing took",
    "x-request-id": "random where the request has none, or a wrong one",
}
# (Cache-Status is compared, since both get the same requests one after the other. If entries
# take some thousand bytes more, a few tables are evicted earlier, and reported; some tens do
# not matter.)
# Of /metrics every series is compared, and all values but these.
VARYING_METRICS = {
    r"posenc_\w+_seconds\w*": "how long something took",
    r"process_\w+": "the process, by the kernel",
    r"posenc_cache_(bytes|idle_bytes|entries|evictions_total)": "what an entry takes besides "
    "tensors",
    r"posenc_(connections|streams|requests_under_way|jobs_waiting)": "what has just ended may "
    "count",
    r"posenc_response_body_bytes_total": "it counts the digits of these figures, too",
}
# Members of problem documents and of those that describe schemes, parameters, limits and
# routes.
TEXT_MEMBERS = (
    "detail",
    "title",
    "allowed",
    "did_you_mean",
    "summary",
    "description",
    "help",
    "formula",
    "convention",
    "reference",
    "stored",
    "x-stored",
)
TEXT = re.compile(rb'("(?:%s)"\s*:\s*)"((?:[^"\\]|\\.)*)"' % "|".join(TEXT_MEMBERS).encode())
RAW_HEADERS = re.compile(rb"(?mi)^(%s): [^\r]*" % "|".join(VARYING_HEADERS).encode())
HELP = re.compile(rb"(?m)^(# HELP \w+ )(.*)$")
TENSORS_AND_FILES = ("/v1/encodings/", "/v1/similarity/", "/v1/sets", "/assets/")
LENGTH_OF_TEXT = ("content-length", "etag")  # these follow from a text
ENDED = "the server has ended"


class Asked(NamedTuple):
    """One request, the same to both. `raw` are bytes to send as they are, instead of all else.
    "{tag}" in a header is the tag that the server itself gave before, of `tags`; `features` are
    what its answer covers."""

    kind: str
    method: str
    target: str
    headers: dict
    body: bytes = b""
    version: str = "1.1"
    raw: bytes = None
    tags: tuple = ("", "")
    features: frozenset = frozenset()


class Answer(NamedTuple):
    """What came back; `failure` says why nothing did, ENDED with the log for a body. Status 0:
    bytes of several replies."""

    status: int
    fields: list
    body: bytes
    failure: str = ""

    def header(self, name):
        values = [value for key, value in self.fields if key.lower() == name.lower()]
        return ", ".join(values) if values else None


class Finding(NamedTuple):
    """A difference: only of `texts`, pairs of old and new, or of something else."""

    what: str
    texts: list = None


def hide_metrics(body):
    """/metrics without the values that vary."""
    for pattern in VARYING_METRICS:
        body = re.sub(rb"(?m)^(%s(?:\{.*\})?) \S+$" % pattern.encode(), rb"\1 varies", body)
    return body


def headers_of(asked, answer):
    """{name: values} to compare."""
    headers = {}
    for name, value in answer.fields:
        varies = name.lower() in VARYING_HEADERS and value not in asked.headers.values()
        headers.setdefault(name.lower(), []).append("varies" if varies else value)
    if asked.target == "/metrics" and answer.status == 200:
        headers.pop("content-length", None)
    return headers


def plain_body(asked, answer):
    """The body without what varies; decoded where that is only to be found in the text."""
    if asked.raw is not None:
        return RAW_HEADERS.sub(rb"\1: varies", answer.body)
    if asked.target == "/metrics" and answer.status == 200:
        coded = answer.header("Content-Encoding") == "gzip"
        return hide_metrics(gzip.decompress(answer.body) if coded else answer.body)
    return answer.body


def has_texts(asked, answer):
    """Whether the answer is a document with texts that people read, or stands for one."""
    media_type = answer.header("Content-Type") or ""
    path = asked.target.partition("?")[0]
    is_document = path not in ("/", "/docs") and not path.startswith(TENSORS_AND_FILES)
    return asked.raw is not None or media_type == "application/problem+json" or is_document


def without_texts(asked, answer):
    """(headers, body, texts) of an answer, its texts taken out."""
    headers, body = headers_of(asked, answer), plain_body(asked, answer)
    if not has_texts(asked, answer):
        return headers, body, []
    if answer.header("Content-Encoding") == "gzip" and asked.target != "/metrics" and body:
        body = gzip.decompress(body)
    for name in LENGTH_OF_TEXT:
        headers.pop(name, None)
    pattern = HELP if asked.target == "/metrics" else TEXT
    texts = [match[1] for match in pattern.findall(body)]
    body = pattern.sub(rb"\1*", body)
    if asked.raw is not None:
        body = re.sub(rb"(?m)^Content-Length: \d+", b"Content-Length: *", body)
    return headers, body, texts


def excerpt(body, at):
    return repr(body[max(0, at - 16) : at + 32])


def difference_of_bodies(old, new):
    at = next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))
    where = f"body, byte {at} of {len(old)} and {len(new)}"
    return f"{where}: {excerpt(old, at)} -> {excerpt(new, at)}"


def difference(old, new):
    """The headers that differ and the first byte; both are (headers, body). Empty if nothing
    does."""
    found = []
    for name in sorted({*old[0], *new[0]}):
        values = [" | ".join(headers.get(name, ["absent"])) for headers in (old[0], new[0])]
        if values[0] != values[1]:
            found.append(f"header {name}: {values[0]} -> {values[1]}")
    if old[1] != new[1]:
        found.append(difference_of_bodies(old[1], new[1]))
    return "; ".join(found)


def compare(asked, old, new):
    """None, or the Finding."""
    if old.failure or new.failure:
        told = [
            f"{answer.failure or answer.status} {answer.body[-200:]!r}" for answer in (old, new)
        ]
        return None if old.failure == new.failure else Finding(" -> ".join(told))
    if old.status != new.status:
        return Finding(f"status {old.status} -> {new.status}")
    found = difference(
        (headers_of(asked, old), plain_body(asked, old)),
        (headers_of(asked, new), plain_body(asked, new)),
    )
    if not found:
        return None
    *old_rest, old_texts = without_texts(asked, old)
    *new_rest, new_texts = without_texts(asked, new)
    if difference(old_rest, new_rest):
        return Finding(difference(old_rest, new_rest) if has_texts(asked, old) else found)
    return Finding(found, [pair for pair in zip(old_texts, new_texts) if pair[0] != pair[1]])
