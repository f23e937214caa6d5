"""Exact positional encodings as arrays of numpy or torch.

    import posenc

    tables = posenc.get("rope", length=8, dim=4)  # by name: tables["cos"], or tables.cos
    biases = posenc.get("alibi", length=8, heads=4, dtype=torch.bfloat16)  # tensors of torch
    tables = posenc.model("llama-3.1-8b", length=4096)  # or a config.json, or its dict
    posenc.identify(array)["summary"]
    posenc.compare(array, "rope", length=8, dim=4, tensor="cos", ulps=1)["within_tolerance"]
    rotated = posenc.apply(queries, "rope", length=8, dim=64)  # or model="llama-3.1-8b"
    both = {"query": queries, "mine": kernel(queries)}
    print(posenc.apply(both, "rope", length=8, dim=64, against="mine").text)
    weights = posenc.convert(weights, "half", model="llama-3.1-8b")  # the rows of a checkpoint
    tables = posenc.batch({"a": {"scheme": "rope", "length": 8, "dim": 4}})  # ["a.cos"]
    posenc.compare_models("llama-3.1-8b", "config.json")["differences"]
    posenc.put("mine", {"table": array})  # for set="mine"

Parameters are those of /v1/schemes. Lists may be lists, tuples or arrays; None leaves a
parameter out. A dtype is "float32" or "f32", numpy's or torch's: with torch's the tables are
tensors of torch. numpy has no bfloat16: without torch such tables come as float32, with the
same values. What is refused raises Problem, which carries the problem document. A table that is
further off than a tolerance is an answer and no error. Errors begin with what was asked of
whom.

Who answers is found when it is first needed: what Service(where) or use(where) names, else the
environment variable POSENC_SERVICE_URL, else a server on http://127.0.0.1:8080, and where none
runs the command posenc. `where` is http://HOST:PORT, https://HOST, unix:/PATH or command:/PATH;
command: alone is the one of this checkout, or on PATH."""

from __future__ import annotations

import base64
import contextlib
import http.client
import io
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import (
    Any,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
)
from typing import Union, cast
from urllib.parse import quote, urlencode, urlsplit

import numpy

__version__ = "0"  # in a checkout

__all__ = [
    *("Problem", "Refused", "NotFound", "Comparison", "Service", "Tensors", "use"),
    *("get", "similarity", "batch", "model", "plan", "compare_models"),
    *("identify", "compare", "apply", "convert"),
    *("put", "delete", "sets", "stored", "document"),
]

Document = Dict[str, Any]
Buffers = Sequence[Any]  # bytes, or memoryviews of bytes

VARIABLE = "POSENC_SERVICE_URL"
USUAL = "http://127.0.0.1:8080"
QUERY_MAX = 4096  # bytes; longer requests are sent as JSON
HEAD_MAX = 8 << 20  # bytes of a GGUF file, of which the service reads the head
NPY, SAFETENSORS = "application/x-npy", "application/vnd.safetensors"
JSON, RAW = "application/json", "application/octet-stream"
DTYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}
# dtypes of safetensors files as numpy has them; the bits of a bfloat16 are an integer there
STORED = {
    **{"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<i2", "BOOL": "|b1"},
    **{"I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"},
    **{"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1"},
}
NAMES = {text: name for name, text in STORED.items() if name != "BF16"}


class Problem(Exception):
    """An answer that is none: `document` is the problem document, `status` the one of HTTP,
    `asked` the method, the path and the address."""

    def __init__(self, status: int, document: Document, asked: str = ""):
        self.asked = asked
        self.status, self.document = status, document
        self.title: str = document.get("title", f"status {status}")
        self.detail: str = document.get("detail", "")
        self.code: str = document.get("code", "")
        self.errors: List[Document] = document.get("errors", [])
        lines = [error["message"] for error in self.errors] if len(self.errors) > 1 else []
        lines += [document["explanation"]["sentence"]] if document.get("explanation") else []
        first = f"{asked}: {self.title}" if asked else self.title
        super().__init__("\n  ".join([f"{first}: {self.detail}", *lines]))


class Refused(Problem, ValueError):
    """The request is wrong: a parameter, a value, a table."""


class NotFound(Problem, LookupError):
    """There is no such scheme, model or set."""


class Tensors(Dict[str, Any]):
    """Arrays by name, also as attributes, but for names such as `keys` that a dict has itself;
    `metadata` is that of the safetensors file."""

    def __init__(self, tensors: Mapping[str, Any], metadata: Mapping[str, str]):
        super().__init__(tensors)
        self.metadata = dict(metadata)

    def __getattr__(self, name: str) -> Any:
        if name in self:
            return self[name]
        raise AttributeError(f"there is no tensor {name!r}, but {', '.join(self)}")


class Comparison(Document):
    """The document of a comparison, or of several as its `results`."""

    @property
    def text(self) -> str:
        """What is wrong, a sentence for each comparison: the explanation, if one was found."""
        if "results" in self:
            parts = map(Comparison, self["results"])
            return "\n".join(f"{part['file'].get('tensor')}: {part.text}" for part in parts)
        if self.get("explanation"):
            return str(self["explanation"]["sentence"])
        if self["equal"]:
            return "Every entry is the exact one."
        most = self.get("max_abs") or {}
        bound = f", by at most {most['error']} at {most['at']}" if "at" in most else ""
        return f"{self['differing']} of {self['entries']} entries differ{bound}."


class Answer(NamedTuple):
    status: int
    fields: Dict[str, str]  # names are in lower case
    body: bytearray

    def json(self) -> Any:
        return json.loads(self.body)


# ---- values ----


def _is_torch(value: object) -> bool:
    return type(value).__module__.split(".")[0] == "torch"


def _dtype_name(dtype: Any) -> str:
    """f32 for "float32", numpy.float32 and torch.float32; the service judges other texts."""
    if isinstance(dtype, str):
        name = dtype
    elif _is_torch(dtype):
        name = str(dtype).split(".")[-1]
    else:
        name = numpy.dtype(dtype).name
    return DTYPES.get(name, name)


def _plain(value: Any) -> Any:
    """A parameter's value as JSON has it: arrays and their scalars as lists and numbers."""
    if isinstance(value, (list, tuple, range)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {name: _plain(item) for name, item in value.items()}
    return value.tolist() if hasattr(value, "tolist") else value


def _arguments(parameters: Mapping[str, Any]) -> Dict[str, Any]:
    given = {name: value for name, value in parameters.items() if value is not None}
    if "format" in given:
        raise TypeError("format: arrays come in a format of their own")
    if "dtype" in given:
        given["dtype"] = _dtype_name(given["dtype"])
    return {name: _plain(value) for name, value in given.items()}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _is_nested(value: Any) -> bool:
    """Whether a query has no text for the value, and only JSON has."""
    if isinstance(value, list):
        return any(isinstance(item, (list, dict)) for item in value)
    return isinstance(value, dict)


def _target(path: str, arguments: Mapping[str, Any]) -> str:
    query = urlencode({name: _text(value) for name, value in arguments.items()}, safe=",")
    return f"{path}?{query}" if query else path


def _wants_torch(parameters: Mapping[str, Any]) -> bool:
    return _is_torch(parameters.get("dtype"))


# ---- files ----


def _array(value: Any) -> Tuple[Any, bool]:
    """A contiguous little-endian array, and whether its elements are bits of bfloat16."""
    if _is_torch(value):
        torch: Any = sys.modules["torch"]
        value = value.detach().cpu().contiguous()
        if value.dtype == torch.bfloat16:
            return value.view(torch.int16).numpy(), True
        value = value.numpy()
    array = numpy.ascontiguousarray(value).reshape(numpy.shape(value))
    return array.astype(array.dtype.newbyteorder("<"), copy=False), False


def _bytes(array: Any) -> Any:
    return memoryview(array.reshape(-1).view(numpy.uint8)) if array.size else b""


def _write_safetensors(tensors: Mapping[str, Any], config: Optional[str] = None) -> Buffers:
    """The tensors, and the text of a config.json among the metadata."""
    header: Document = {"__metadata__": {"config": config}} if config else {}
    data: List[Any] = []
    offset = 0
    for name, value in tensors.items():
        array, is_bfloat16 = _array(value)
        dtype = "BF16" if is_bfloat16 else NAMES.get(array.dtype.str)
        if dtype is None:
            raise TypeError(f"{name}: a safetensors file has no elements of {array.dtype}")
        offsets = [offset, offset + array.nbytes]
        header[name] = {"dtype": dtype, "shape": array.shape, "data_offsets": offsets}
        data.append(_bytes(array))
        offset += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return [struct.pack("<Q", len(text)) + text, *data]


def _write_npy(array: Any) -> Tuple[Buffers, str]:
    head, form = io.BytesIO(), cast(Any, numpy.lib.format)
    form.write_array_header_1_0(head, form.header_data_from_array_1_0(array))
    return [head.getvalue(), _bytes(array)], NPY


def _write_file(value: Any, config: Optional[str] = None) -> Tuple[Buffers, str]:
    """A table or tensors by name as a file, and its media type."""
    if isinstance(value, Mapping):
        return _write_safetensors(value, config), SAFETENSORS
    array, is_bfloat16 = _array(value)
    if is_bfloat16 or config:
        return _write_safetensors({"table": value}, config), SAFETENSORS
    return _write_npy(array)


def _element_type(array: Any, is_bfloat16: bool, as_torch: bool) -> Any:
    """The array as numpy's, or torch's, of bits of bfloat16 or any others."""
    if as_torch:
        torch: Any = sys.modules["torch"]
        tensor = torch.from_numpy(array)
        return tensor.view(torch.bfloat16) if is_bfloat16 else tensor
    if is_bfloat16:
        return (array.view("<u2").astype("<u4") << 16).view("<f4")
    return array


def _read_safetensors(body: bytearray, as_torch: bool) -> Tensors:
    size = struct.unpack_from("<Q", body)[0]
    header = json.loads(body[8 : 8 + size])
    metadata = header.pop("__metadata__", {})
    found = {}
    for name, row in header.items():
        begin, end = row["data_offsets"]
        dtype = numpy.dtype(STORED[row["dtype"]])
        count = (end - begin) // dtype.itemsize
        array = numpy.frombuffer(body, dtype, count, 8 + size + begin).reshape(row["shape"])
        found[name] = _element_type(array, row["dtype"] == "BF16", as_torch)
    return Tensors(found, metadata)


def _is_path(config: Any) -> bool:
    """Whether a file is meant, which may be missing, and not the name of a model."""
    if isinstance(config, str):
        ends, begins = (".json", ".gguf", ".safetensors"), ("/", "./", "../", "~")
        return config.endswith(ends) or config.startswith(begins) or os.path.isfile(config)
    return isinstance(config, os.PathLike)


def _read_config(config: Any) -> bytes:
    """The bytes of a config.json: a file, a dict or an object of transformers; of a GGUF file
    the head."""
    if _is_path(config):
        with open(os.path.expanduser(config), "rb") as file:
            return file.read(HEAD_MAX)
    known = config.to_dict() if hasattr(config, "to_dict") else config
    if not isinstance(known, Mapping):
        raise TypeError(f"a config is a dict, a file or a name, not {type(config).__name__}")
    return json.dumps(known, default=str).encode()


def _is_name(config: Any) -> bool:
    return isinstance(config, str) and not _is_path(config)


# ---- ways to ask ----


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float):
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _read_body(source: Any, length: Optional[int]) -> bytearray:
    if length is None:
        return bytearray(source.read())
    body = bytearray(length)
    at = 0
    with memoryview(body) as view:
        while at < length and (got := source.readinto(view[at:])):
            at += got
    if at < length:
        raise ConnectionError(f"the answer broke off after {at} of {length} bytes")
    return body


class _Http:
    """A server, by a connection for each request."""

    def __init__(self, where: str, key: Optional[str], timeout: float):
        self.name = where.rstrip("/")
        self._where, self._timeout, self._prefix = where, timeout, ""
        self._own = {"Authorization": f"Bearer {key}"} if key else {}
        if not where.startswith("unix:"):
            self._prefix = urlsplit(where).path.rstrip("/")

    def _connect(self) -> http.client.HTTPConnection:
        if self._where.startswith("unix:"):
            return _UnixConnection(self._where[len("unix:") :], self._timeout)
        parts = urlsplit(self._where)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def ask(self, method: str, target: str, body: Buffers, fields: Mapping[str, str]) -> Answer:
        fields = {**self._own, **fields}
        has_body = "Content-Type" in fields
        if has_body:
            fields["Content-Length"] = str(sum(len(part) for part in body))
        with contextlib.closing(self._connect()) as connection:
            # a server that refuses a body answers before it has read that
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                sent: Optional[Iterable[Any]] = iter(body) if has_body else None
                connection.request(method, self._prefix + target, sent, fields)
            response = connection.getresponse()
            read = _read_body(response, response.length)
            named = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, named, read)


class _Command:
    """The command posenc: a process for each request."""

    def __init__(self, program: str, data_dir: Optional[str]):
        self.name = f"command:{program}"
        self._command = [program, "--include"]
        if data_dir:
            self._command += ["--data-dir", data_dir]

    def ask(self, method: str, target: str, body: Buffers, fields: Mapping[str, str]) -> Answer:
        command = [*self._command, "--request", method]
        for name, value in fields.items():
            command += ["--header", f"{name}: {value}"]
        has_body = "Content-Type" in fields
        command += [target, "-"] if has_body else [target]
        source = subprocess.PIPE if has_body else subprocess.DEVNULL
        with subprocess.Popen(
            command, stdin=source, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout and process.stderr
            with contextlib.suppress(BrokenPipeError):
                for part in body:
                    process.stdin.write(part)  # type: ignore[union-attr]
                if process.stdin:
                    process.stdin.close()
            answer = self._read(process)
            process.wait()
        return answer

    @staticmethod
    def _read(process: subprocess.Popen[bytes]) -> Answer:
        """The head that the command writes before the body, and the body."""
        assert process.stdout and process.stderr
        lines = []
        while line := process.stdout.readline().decode("latin-1").strip():
            lines.append(line)
        if not lines:
            said = process.stderr.read().decode("utf-8", "replace").strip()
            kind = ValueError if process.wait() == 2 else RuntimeError
            raise kind(said.replace("posenc: ", "", 1))
        pairs = [line.split(": ", 1) for line in lines[1:]]
        named = {name.lower(): value for name, value in pairs}
        length = named.get("content-length")
        body = _read_body(process.stdout, None if length is None else int(length))
        return Answer(int(lines[0].split()[1]), named, body)


def _find_program() -> Optional[str]:
    """The command of the checkout that this file is in, else that on PATH."""
    built = Path(__file__).resolve().parents[2] / "build" / "posenc"
    return str(built) if built.is_file() else shutil.which("posenc")


def _is_posenc(where: str) -> bool:
    """Whether a server answers there, and is posenc."""
    with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
        info = _Http(where, None, 2).ask("GET", "/v1/info", [], {})
        told = info.json()
        return isinstance(told, dict) and told.get("name") == "posenc"
    return False


def _find_way(
    where: Optional[str], key: Optional[str], data_dir: Optional[str], timeout: float
) -> Union[_Http, _Command]:
    where = where or os.environ.get(VARIABLE) or (USUAL if _is_posenc(USUAL) else "command:")
    if where.startswith(("http://", "https://", "unix:")):
        if data_dir:
            raise ValueError(f"data_dir is for the command, and {where} answers")
        return _Http(where, key, timeout)
    if not where.startswith("command:"):
        raise ValueError(f"{where}: not http://…, https://…, unix:/PATH or command:/PATH")
    program = where[len("command:") :] or _find_program()
    if not program:
        raise FileNotFoundError(f"no server on {USUAL}, and no command posenc: set {VARIABLE}")
    return _Command(program, data_dir)


@contextlib.contextmanager
def _naming(asked: str) -> Iterator[None]:
    """Errors of the connection, or of the command, say what was asked of whom."""
    try:
        yield
    except (OSError, ValueError, RuntimeError, http.client.HTTPException) as error:
        if isinstance(error, OSError) and error.errno is not None:
            error.strerror = f"{asked}: {error.strerror}"
        else:
            error.args = (f"{asked}: {error}",)
        raise


# ---- the service ----


class Service:
    """Somebody who answers. `key` is the bearer token of a server, `data_dir` the directory of
    the command's sets, `timeout` how many seconds a server may be silent."""

    def __init__(
        self,
        where: Optional[str] = None,
        *,
        key: Optional[str] = None,
        data_dir: Optional[str] = None,
        timeout: float = 300,
    ):
        self._settings = (where, key, data_dir, timeout)
        self._way: Union[_Http, _Command, None] = None

    def request(
        self,
        method: str,
        target: str,
        body: Buffers = (),
        media_type: Optional[str] = None,
        fields: Mapping[str, str] = {},
    ) -> Answer:
        """Any request of the HTTP interface; with a media type it has a body. `fields` are
        those of its head, such as {"Range": "bytes=0-99"}."""
        if self._way is None:
            self._way = _find_way(*self._settings)
        all_fields = {**fields, **({"Content-Type": media_type} if media_type else {})}
        asked = f"{method} {target.split('?')[0]} at {self._way.name}"
        with _naming(asked):
            answer = self._way.ask(method, target, body, all_fields)
        kind = answer.fields.get("content-type", "")
        if answer.status < 400 or (answer.status == 409 and kind == JSON):
            return answer
        is_problem = kind == "application/problem+json"
        document = (
            answer.json() if is_problem else {"detail": answer.body[:200].decode("latin-1")}
        )
        kinds = {401: Problem, 403: Problem, 404: NotFound}
        usual = Refused if answer.status < 500 else Problem
        raise kinds.get(answer.status, usual)(answer.status, document, asked)

    def document(self, path: str, **parameters: Any) -> Any:
        """What a GET answers with JSON, such as "/v1/schemes/rope"."""
        return self.request("GET", _target(path, _arguments(parameters))).json()

    def _tensors(self, path: str, parameters: Mapping[str, Any]) -> Tensors:
        arguments = {**_arguments(parameters), "format": "safetensors"}
        target = _target(path, arguments)
        if any(map(_is_nested, arguments.values())) or len(target) > QUERY_MAX:
            answer = self.request("POST", path, [json.dumps(arguments).encode()], JSON)
        else:
            answer = self.request("GET", target)
        return _read_safetensors(answer.body, _wants_torch(parameters))

    def get(self, scheme: str, **parameters: Any) -> Tensors:
        """The tensors of a scheme."""
        return self._tensors(f"/v1/encodings/{quote(scheme, safe='')}", parameters)

    def similarity(self, scheme: str, **parameters: Any) -> Tensors:
        """Distances or correlations between the positions of a scheme."""
        return self._tensors(f"/v1/similarity/{quote(scheme, safe='')}", parameters)

    def batch(self, requests: Mapping[str, Mapping[str, Any]]) -> Tensors:
        """The tensors of many requests, by name: each has its scheme and parameters. A tensor
        is called as its request, or name.tensor where a request gives several."""
        if any("name" in each for each in requests.values()):
            raise TypeError("name: each request has the name under which it is given")
        given = [{**_arguments(each), "name": name} for name, each in requests.items()]
        body = json.dumps({"requests": given, "format": "safetensors"}).encode()
        answer = self.request("POST", "/v1/batch", [body], JSON)
        return _read_safetensors(answer.body, any(map(_wants_torch, requests.values())))

    def _ask_model(self, config: Any, arguments: Mapping[str, Any]) -> Answer:
        if _is_name(config):
            return self.request("GET", _target(f"/v1/models/{quote(config)}", arguments))
        body = _read_config(config)
        media_type = RAW if body.startswith(b"GGUF") else JSON
        return self.request("POST", _target("/v1/models", arguments), [body], media_type)

    def model(self, config: Any, **options: Any) -> Tensors:
        """All position tensors of a model: of its config.json as a dict, a file or an object of
        transformers, of a GGUF file, or of a well-known model by its name."""
        arguments = {**_arguments(options), "format": "safetensors"}
        return _read_safetensors(self._ask_model(config, arguments).body, _wants_torch(options))

    def plan(self, config: Any, **options: Any) -> Document:
        """What positions a model has, and why."""
        found: Document = self._ask_model(config, {**_arguments(options), "plan": True}).json()
        return found

    def compare_models(self, first: Any, second: Any, **options: Any) -> Document:
        """In what the positions of two models differ, each described as for model()."""
        sides: Document = {}
        for side, config in (("first", first), ("second", second)):
            body = b"" if _is_name(config) else _read_config(config)
            if body.startswith(b"GGUF"):
                sides[side] = {"gguf": base64.b64encode(body).decode()}
            else:
                sides[side] = json.loads(body) if body else config
        target = _target("/v1/models/compare", _arguments(options))
        found: Document = self.request(
            "POST", target, [json.dumps(sides).encode()], JSON
        ).json()
        return found

    def _send(
        self, path: str, table: Any, parameters: Mapping[str, Any], config: Optional[str] = None
    ) -> Answer:
        target = _target(path, _arguments(parameters))
        return self.request("POST", target, *_write_file(table, config))

    def identify(self, array: Any, **options: Any) -> Document:
        """Which request makes a table."""
        found: Document = self._send("/v1/identify", array, options).json()
        return found

    def compare(self, array: Any, scheme: str, **parameters: Any) -> Comparison:
        """A table, compared entry by entry with the exact one. With `tolerance` or `ulps`
        "within_tolerance" says whether it is near enough; `text` is what is wrong."""
        path = f"/v1/compare/{quote(scheme, safe='')}"
        return Comparison(self._send(path, array, parameters).json())

    def apply(self, tensors: Any, scheme: Optional[str] = None, **parameters: Any) -> Any:
        """The encoding applied to an array, or to arrays by name; with `against` the comparison
        of the array of that name with the exact result, whose `text` is what is wrong. In place
        of a scheme `model` is one by name, or its config.json as for model()."""
        given = list(tensors.values()) if isinstance(tensors, Mapping) else [tensors]
        as_torch = any(map(_is_torch, given)) or _wants_torch(parameters)
        model = parameters.get("model")
        if (scheme is None) == (model is None):
            raise TypeError("apply takes a scheme or a model")
        path = "/v1/apply" if scheme is None else f"/v1/apply/{quote(scheme, safe='')}"
        config = None
        if model is not None and not _is_name(model):
            config, parameters["model"] = _read_config(model).decode(), None
        answer = self._send(path, tensors, parameters, config)
        if answer.fields["content-type"] == JSON:
            return Comparison(answer.json())
        if answer.fields["content-type"] == NPY:
            array = numpy.load(io.BytesIO(answer.body))
            return _element_type(array, False, as_torch)
        found = _read_safetensors(answer.body, as_torch)
        return found if isinstance(tensors, Mapping) else next(iter(found.values()))

    def convert(
        self, tensors: Any, /, to: str, from_: Optional[str] = None, **options: Any
    ) -> Any:
        """Weights by name, or an array, with the rotary columns of the pairing `to`, "half" or
        "interleaved"; `from_` is that of the tensors, unless `model` or `config` says it: a
        model by its name, or its config.json as for model()."""
        config = options.pop("config", None)
        if config is not None and options.get("model") is not None:
            raise TypeError("convert takes a model or a config")
        options = {**options, "to": to, "from": from_}
        text = None
        if config is not None and _is_name(config):
            options["model"] = config
        elif config is not None:
            text = _read_config(config).decode()
        if isinstance(tensors, Mapping):
            answer = self._send("/v1/convert/rope", tensors, options, text)
            return _read_safetensors(answer.body, any(map(_is_torch, tensors.values())))
        array, is_bfloat16 = _array(tensors)  # only bytes move: those of any dtype
        options["config"] = text
        target = _target("/v1/convert/rope", _arguments(options))
        found = numpy.load(io.BytesIO(self.request("POST", target, *_write_npy(array)).body))
        return _element_type(found, is_bfloat16, _is_torch(tensors))

    def put(self, name: str, tensors: Mapping[str, Any]) -> None:
        """Store tensors under a name, or replace those that it has."""
        if not isinstance(tensors, Mapping):
            raise TypeError('put takes tensors by name, such as {"table": array}')
        path = f"/v1/sets/{quote(name, safe='')}"
        self.request("PUT", path, _write_safetensors(tensors), SAFETENSORS)

    def delete(self, name: str) -> None:
        """Remove a set."""
        self.request("DELETE", f"/v1/sets/{quote(name, safe='')}")

    def sets(self) -> List[Document]:
        """The sets: names, digests and tensors."""
        found: List[Document] = self.document("/v1/sets")["sets"]
        return found

    stored = sets  # its name before


_default = Service()


def use(
    where: Optional[str] = None,
    *,
    key: Optional[str] = None,
    data_dir: Optional[str] = None,
    timeout: float = 300,
) -> None:
    """Choose who answers the functions of this module: the arguments are those of Service."""
    _default._settings, _default._way = (where, key, data_dir, timeout), None


get, similarity, batch = _default.get, _default.similarity, _default.batch
model, plan, compare_models = _default.model, _default.plan, _default.compare_models
identify, compare = _default.identify, _default.compare
apply, convert = _default.apply, _default.convert
put, delete, sets, stored, document = (
    _default.put,
    _default.delete,
    _default.sets,
    _default.stored,
    _default.document,
)
