"""Prism as a validating proxy between tests and servers.

An exchange goes from the test to Prism and from there to an upstream in this process, which has
the exchange done on the test's own connection. So one Prism, started once, stands before every
server that a test starts, and a test gets the very bytes of the server: Prism reads every body
as text and writes JSON anew. What it finds comes in the header sl-violations of its own answer.
"""

import gzip
import http.client
import http.server
import itertools
import json
import os
import random
import re
import subprocess
import threading
import time
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urlsplit

HERE = Path(__file__).parent
PATIENCE = 60
STARTING = 300  # seconds: it compiles a megabyte of schemas, on a busy machine too
NUMBER = "X-Exchange"
# of one hop, or written anew for Prism
DROPPED = {"host", "connection", "content-length", "transfer-encoding", "expect", "keep-alive"}
BINARY_KEPT = 1024  # bytes of a body without a schema
JSON_WHOLE = 1 << 18  # longer JSON passes with its lists cut to
ITEMS_KEPT = 64
JSON_MOST = 1 << 23  # and beyond this without its body
REQUEST_MOST = 1 << 16  # bytes of an upload
# Where a share is drawn, so many exchanges of each operation, status and media type go first.
FIRST = 8
UNKNOWN_ROUTE = "Selected route not found"
NO_MEDIA_TYPE = 'The received media type ""'


METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"}


class Exchange:
    """One request of a test, done when the upstream is asked for it."""

    def __init__(self, method, perform):
        self.method, self.perform = method, perform
        self.reply = self.error = None
        self.is_forwarded = False
        self.bodiless = method == "HEAD"

    def run(self):
        if self.reply is None and self.error is None:
            try:
                self.reply = self.perform()
            except Exception as error:  # what the test waits for, such as a closed connection
                self.error = error


def cut(value):
    """JSON with no list longer than ITEMS_KEPT."""
    if isinstance(value, list):
        return [cut(item) for item in value[:ITEMS_KEPT]]
    if isinstance(value, dict):
        return {name: cut(item) for name, item in value.items()}
    return value


def is_for_prism(method, target):
    """Whether Prism survives it: it ends where a path's escapes are no UTF-8, and refuses
    methods that it does not know and what no target may hold."""
    path = target.split("?")[0]
    if not re.fullmatch(r"[!-~]+", target):
        return False
    try:
        unquote(path, errors="strict")
    except UnicodeDecodeError:
        return False
    return method in METHODS and not re.search(r"%(?![0-9A-Fa-f]{2})", path)


def plain(body):
    """JSON for Prism, which ends where a member's name in sl-violations would be beyond
    Latin-1."""
    if not isinstance(body, bytes):
        return body
    body = re.sub(rb"\\u(?!00[2-6])[0-9a-fA-F]{4}", b"?", body)
    return re.sub(rb"[\x7f-\xff]", b"?", body)


def is_json(media_type):
    return (
        re.fullmatch(r"application/(.*\+)?json", (media_type or "").split(";")[0]) is not None
    )


def body_for_prism(exchange):
    """The body that is validated; sets `bodiless` where there is none."""
    reply = exchange.reply
    if exchange.bodiless or reply.status in (204, 304):
        return b""
    if not is_json(reply.header("Content-Type")):
        return reply.body[:BINARY_KEPT]
    coded = reply.header("Content-Encoding") == "gzip"
    text = gzip.decompress(reply.body) if coded else reply.body
    if len(text) <= JSON_WHOLE:
        return reply.body
    if len(text) > JSON_MOST:
        exchange.bodiless = True
        return b""
    text = json.dumps(cut(json.loads(text))).encode()
    return gzip.compress(text) if coded else text


class Upstream(http.server.ThreadingHTTPServer):
    """What Prism forwards to: has the exchange done that a request names, and answers alike."""

    request_queue_size = 128
    daemon_threads = True

    def __init__(self):
        self.exchanges = {}
        super().__init__(("127.0.0.1", 0), UpstreamHandler)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class UpstreamHandler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # one write for an answer

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        exchange = self.server.exchanges[self.headers[NUMBER]]
        exchange.is_forwarded = True
        exchange.run()
        if exchange.error:
            self.send_error(500)
            return
        body = body_for_prism(exchange)
        self.send_response_only(exchange.reply.status)
        for name, value in exchange.reply.fields:
            skipped = exchange.bodiless and name.lower() in ("content-type", "content-encoding")
            if name.lower() not in DROPPED and not skipped:
                self.send_header(name, value)
        if exchange.reply.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = answer

    def log_message(self, *_):
        pass


def operations_of(document):
    for item in document["paths"].values():
        yield from item.values()


def with_ranges(document):
    """The document with what only requests with Range are answered among the responses."""
    document = json.loads(json.dumps(document).replace("/x-responses/", "/responses/"))
    for part in (document["components"], *operations_of(document)):
        part["responses"].update(part.pop("x-responses", {}))
    return document


class Document:
    """The OpenAPI document, to find an operation and count what was seen of it."""

    def __init__(self, document):
        self.document, self.seen = document, Counter()
        self.paths = {
            path: re.compile(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)))
            for path in sorted(document["paths"], key=lambda path: "{" in path)
        }

    def operation(self, method, target):
        """(path, operation) of a request, or None. Paths without a template come first."""
        asked = target.split("?")[0]
        member = "get" if method == "HEAD" else method.lower()
        for path, pattern in self.paths.items():
            item = self.document["paths"][path]
            if member in item and pattern.fullmatch(asked):
                return path, item[member]
        return None

    def resolve(self, node):
        if "$ref" not in node:
            return node
        return self.document["components"]["responses"][node["$ref"].rsplit("/", 1)[1]]

    def responses(self):
        """Every response that is described: a component's name, or "get /path 200"."""
        for path, item in self.document["paths"].items():
            for method, operation in item.items():
                for status, response in operation["responses"].items():
                    yield self.name(path, method, status, response)

    def name(self, path, method, status, response):
        return response.get("$ref", f"{method} {path} {status}").rsplit("/responses/", 1)[-1]

    def note(self, method, target, reply):
        """Count a reply; fail where its media type is not one of the described."""
        found = self.operation(method, target)
        if not found:
            return
        path, operation = found
        response = operation["responses"].get(str(reply.status))
        if response is None:
            raise AssertionError(f"{method} {target}: {reply.status} is not described")
        content = self.resolve(response).get("content", {})
        served = (reply.header("Content-Type") or "").split(";")[0]
        if content and served not in content:
            raise AssertionError(f"{method} {target}: {reply.status} of undescribed {served!r}")
        member = "get" if method == "HEAD" else method.lower()
        self.seen[self.name(path, member, str(reply.status), response)] += 1


def closed(document):
    """The document with no member beside those described in its answers, unless it admits
    others: more may come with the next version, but none that this one does not describe."""
    document = json.loads(json.dumps(document))
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.setdefault("additionalProperties", False)
    return document


class Prism:
    """A running Prism for a document; `carry` takes an exchange through it. `share`: of the
    exchanges after the first ones of their kind, drawn by TEST_SEED and what is asked."""

    def __init__(self, document, folder, share=1):
        self.share, self.kinds = share, Counter()
        self.counts, self.lock, self.local = Counter(), threading.Lock(), threading.local()
        self.numbers = itertools.count()
        document = with_ranges(document)
        self.document = Document(document)
        self.upstream = Upstream()
        path = Path(folder) / "openapi.json"
        path.write_text(json.dumps(closed(document)))
        self.log = Path(folder) / "prism.log"
        command = [str(HERE / "node_modules/.bin/prism"), "proxy", str(path)]
        command += [f"http://127.0.0.1:{self.upstream.server_address[1]}"]
        command += ["--host", "127.0.0.1", "--port", "0", "--cors", "false"]
        environment = {**os.environ, "NODE_OPTIONS": "--max-http-header-size=262144"}
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        try:
            self.address = self._read_address()
        except BaseException:
            self.stop()
            raise

    def _read_address(self):
        deadline = time.monotonic() + STARTING
        while True:
            text = self.log.read_text(errors="replace")
            found = re.search(r"listening on http://([\d.]+):(\d+)", text)
            if found:
                return found[1], int(found[2])
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"Prism has not started: {text[-500:]}")
            time.sleep(0.02)

    def stop(self):
        self.process.terminate()
        self.process.wait(PATIENCE)
        self.upstream.shutdown()
        self.upstream.server_close()

    # ---- one exchange ----

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def _connection(self):
        """This thread's connection."""
        if not hasattr(self.local, "connection"):
            self.local.connection = http.client.HTTPConnection(*self.address, timeout=PATIENCE)
        return self.local.connection

    def _ask(self, method, target, fields, body):
        """Prism's answer: (status, violations, body)."""
        connection = self._connection()
        try:
            connection.request(method, target, body=body, headers=fields)
            response = connection.getresponse()
            text = response.read()
        except (http.client.RemoteDisconnected, ConnectionError):
            connection.close()  # it had been idle for too long
            connection.request(method, target, body=body, headers=fields)
            response = connection.getresponse()
            text = response.read()
        except BaseException:
            connection.close()
            raise
        violations = response.getheader("sl-violations")
        return response.status, violations, text

    def carry(self, method, target, headers, body, perform):
        """Take an exchange through Prism; the server's own reply, once nothing is violated."""
        if isinstance(target, bytes):
            target = target.decode("latin-1")
        if {"expect", "transfer-encoding"} & {name.lower() for name in headers}:
            self.count("beside them direct: with an interim answer, or a body in chunks")
            return perform()
        if not is_for_prism(method, target):
            return self._refused(method, target, perform())
        exchange, number = Exchange(method, perform), str(next(self.numbers))
        if self.share < 1:
            exchange.run()
            if exchange.error or not self._is_drawn(method, target, exchange.reply):
                return self._undrawn(method, target, exchange)
        self.upstream.exchanges[number] = exchange
        fields = {**fields_for_prism(headers), NUMBER: number}
        asked = "GET" if method == "HEAD" else method
        if is_json(content_type(headers)):
            body = plain(body)
        elif isinstance(body, bytes):
            body = body[:REQUEST_MOST]
        try:
            try:
                answer = self._ask(asked, target, fields, body)
            except (ValueError, http.client.HTTPException, OSError) as error:
                answer = (None, None, repr(error))
            if self.process.poll() is not None:
                raise AssertionError(f"Prism has ended: {self.log.read_text()[-2000:]}")
            if not exchange.is_forwarded:
                answer = self._ask_without(asked, target, number, exchange, answer)
        finally:
            del self.upstream.exchanges[number]
        if exchange.error:
            self.count("ended without an answer, as the test wants")
            raise exchange.error
        self._judge(exchange, target, answer)
        return exchange.reply

    def _is_drawn(self, method, target, reply):
        path, _ = self.document.operation(method, target) or (None, None)
        kind = method, path, reply.status, reply.header("Content-Type")
        with self.lock:
            self.kinds[kind] += 1
            if self.kinds[kind] <= FIRST:
                return True
        draw = random.Random(f"{os.environ.get('TEST_SEED')} {method} {target}")
        return draw.random() < self.share

    def _undrawn(self, method, target, exchange):
        """Status and media type alone are compared with the document."""
        if exchange.error:
            self.count("ended without an answer, as the test wants")
            raise exchange.error
        self.count("beside them not drawn: their statuses and media types alone were looked at")
        self.document.note(method, target, exchange.reply)
        return exchange.reply

    def _refused(self, method, target, reply):
        if reply.status < 400:
            raise AssertionError(
                f"{method} {target} -> {reply.status}, but Prism cannot read it"
            )
        self.count(
            "beside them refused by the server, that Prism cannot read (methods, characters)"
        )
        return reply

    def _ask_without(self, method, target, number, exchange, refusal):
        """Where Prism does not forward what a test sends: have the answer alone validated."""
        self._connection().close()
        exchange.run()
        if exchange.error:
            return None
        if exchange.reply.status < 400:
            raise AssertionError(f"the server takes {method} {target}, but Prism: {refusal}")
        self.count("answers to what Prism itself refuses (no JSON, too long, odd characters)")
        path = urlsplit(target).path
        body = b"{}" if method in ("POST", "PUT", "PATCH") else None
        try:
            return self._ask(
                method, path, {NUMBER: number, "Content-Type": "application/json"}, body
            )
        except (ValueError, http.client.HTTPException):
            raise AssertionError(f"Prism cannot be asked for {method} {target!r}") from None

    def _judge(self, exchange, target, answer):
        status, text, body = answer
        reply = exchange.reply
        asked = f"{exchange.method} {target[:200]} -> {reply.status}"
        if status != reply.status:
            raise AssertionError(f"{asked}, but Prism answers {status}: {body[:500]}")
        self.count("exchanges")
        if exchange.bodiless:
            self.count("of them with the head alone (HEAD, or JSON beyond 8 MiB)")
        violations = read_violations(text)
        if any(found["message"] == UNKNOWN_ROUTE for found in violations):
            self.count("of them refused by 404 or 405: not described, as they should be")
            if reply.status < 400 and exchange.method != "OPTIONS":
                raise AssertionError(f"{asked}: this route is not described")
            return
        for found in violations:
            if exchange.bodiless and is_about_body(found):
                continue
            if found.get("code") == "deprecated":
                self.count("old names, which are described as deprecated")
                continue
            if found["location"][0] == "response" or reply.status < 400:
                raise AssertionError(f"{asked}: {text}")
            self.count("violations in requests that the server refused, too")
        self.document.note(exchange.method, target, reply)


def fields_for_prism(headers):
    """Several lines of one name as one list; and Prism knows a scheme in one spelling alone."""
    fields = {}
    for name, value in headers.items():
        value = value.decode("latin-1") if isinstance(value, bytes) else value
        value = re.sub(r"\r\n[^:]*:[ \t]*", ", ", value)
        if name.lower() == "authorization":
            value = re.sub(r"(?i)^bearer +", "Bearer ", value)
        if name.lower() not in DROPPED:
            fields[name] = value
    return fields


def content_type(headers):
    for name, value in headers.items():
        if name.lower() == "content-type":
            return value if isinstance(value, str) else value.decode("latin-1")
    return None


def is_about_body(violation):
    return violation["location"][:2] == ["response", "body"] or violation["message"].startswith(
        NO_MEDIA_TYPE
    )


def read_violations(text):
    """What sl-violations tells; a list too long for the header is cut by Prism, and is one."""
    if text is None:
        return []
    try:
        return json.loads(text)
    except ValueError:
        location = re.search(r'"location":\["(\w+)"', text)
        return [{"location": [location[1] if location else "response"], "message": text}]
