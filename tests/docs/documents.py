"""The documents: their blocks of code, and the parts of them that the server writes."""

import re
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
SECURITY = ROOT / "SECURITY.md"
SETTINGS_REFERENCE = ROOT / "api" / "reference" / "settings.md"
METRICS_REFERENCE = ROOT / "api" / "reference" / "metrics.md"
ALL = [
    README,
    *(
        path
        for path in sorted(ROOT.glob("**/*.md"))
        if path != README and not {"node_modules", "build"} & set(path.relative_to(ROOT).parts)
    ),
]
# Those for who changes posenc, whose blocks are sketches.
FOR_DEVELOPERS = {
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "server/visualiser/README.md",
    "tests/golden/README.md",
    "tests/models/README.md",
    "tests/peers/runtimes.md",
}
# Those whose blocks another test runs, and which.
RUN_ELSEWHERE = {
    "docker/sidecar.md": "tests/interop/test_sidecar.py",
    "server/module/package/README.md": "tests/wasm/test_package.py",
}
FOR_USERS = [path for path in ALL if str(path.relative_to(ROOT)) not in FOR_DEVELOPERS]
DOCUMENTS = [path for path in FOR_USERS if str(path.relative_to(ROOT)) not in RUN_ELSEWHERE]

TABLE = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table -->\n\n).*?(?=\n<!-- end -->)", re.DOTALL
)
TABLE_COMMAND = re.compile(r"^\| .* \| `(curl .*)` \|$", re.MULTILINE)
RIGHTS = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table from the routes -->\n\n).*?"
    r"(?=\n<!-- end -->)",
    re.DOTALL,
)
SETTINGS = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table from --help -->\n\n).*?"
    r"(?=\n<!-- end -->)",
    re.DOTALL,
)
METRICS = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table from /metrics -->\n\n).*?"
    r"(?=\n<!-- end -->)",
    re.DOTALL,
)
METRIC = re.compile(r"^# HELP (\w+) (.*)\n# TYPE \1 (\w+)$", re.MULTILINE)
HELP_LINE = re.compile(r"^  --([a-z-]+)(?: (\S+))? +(.*)$")
SENTENCE_MAX = 110  # characters of a sentence in the table of schemes
FENCED = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = ("sh", "python", "js")
OUTPUT = ("json", "text")  # right after a block of code: what that prints

# `output` is the text of the output block that follows, None without one, and `output_span`
# its place in the document.
Block = namedtuple("Block", "language text output output_span", defaults=(None, None))


def blocks(text):
    """The blocks of code of a document, in order."""
    fences = list(FENCED.finditer(text))
    for fence, following in zip(fences, [*fences[1:], None]):
        language = fence[1]
        if language not in CODE:
            continue
        adjacent = following and text[fence.end() : following.start()] == "\n\n"
        if adjacent and following[1] in OUTPUT:
            yield Block(language, fence[2], following[2], following.span(2))
        else:
            yield Block(language, fence[2])


def closed(text):
    """What a block printed as its output block has it: with a newline at the end."""
    return text if text.endswith("\n") else text + "\n"


def section(document, title):
    """(language, text) of every block of code in a section."""
    text = document.read_text(encoding="utf-8")
    inside = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return [(block.language, block.text) for block in blocks(inside)]


def short_sentence(summary):
    """The summary's first sentence, up to a semicolon; if that is long, up to its last part."""
    sentence = re.split(r"; |\. ", summary)[0].rstrip(".")
    while len(sentence) > SENTENCE_MAX and (cut := re.search(r"[,:] [^,:]*$", sentence)):
        sentence = sentence[: cut.start()]
    return sentence + "."


def scheme_table(schemes):
    """The table of all schemes, from the documents that /v1/schemes lists. A star marks those
    that draw from a seed."""
    lines = ["| scheme | what it is | try it |", "|---|---|---|"]
    for scheme in schemes:
        name, summary = scheme["name"], short_sentence(scheme["summary"]).replace("|", "\\|")
        star = " *" if any(row["name"] == "seed" for row in scheme["parameters"]) else ""
        url = f"http://127.0.0.1:8080/v1/encodings/{name}?{scheme['example']}"
        lines.append(
            f"| [`{name}`](lib/schemes/{name}.c){star} | {summary} | `curl -s '{url}'` |"
        )
    return "\n".join(lines) + "\n"


def settings_table(told):
    """The table of all settings and actions, from what --help tells."""
    rows, entries = ["| flag | default | what it is |", "|---|---|---|"], []
    for line in told.splitlines():
        if begun := HELP_LINE.match(line):
            entries.append([*begun.groups(), ""])
        elif entries and (ended := re.match(r" +POSENC_[A-Z_]+, default (.*)$", line)):
            entries[-1][3] = ended[1]
        elif entries and line.startswith("    "):
            entries[-1][2] += " " + line.strip()
    for name, value, text, default in entries:
        flag = f"--{name} {value}" if value else f"--{name}"
        cells = (f"`{flag}`", f"`{default}`" if default else "", text)
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows) + "\n"


def rights_table(openapi):
    """The table of the requests that need a right, from /openapi.json."""
    rows = ["| request | right |", "|---|---|"]
    for path, operations in openapi["paths"].items():
        for method, operation in operations.items():
            keys = {name for option in operation.get("security", ()) for name in option}
            if keys:
                right = "tables" if "tables_key" in keys else "store"
                rows.append(f"| `{method.upper()} {path}`: {operation['summary']} | {right} |")
    return "\n".join(rows) + "\n"


def metrics_table(told):
    """The table of all metrics, from the HELP and TYPE lines of /metrics."""
    rows = ["| metric | type | what it is |", "|---|---|---|"]
    rows += [f"| `{name}` | {kind} | {text} |" for name, text, kind in METRIC.findall(told)]
    return "\n".join(rows) + "\n"


def with_metrics_table(text, told):
    """The reference of metrics with its table written anew."""
    return METRICS.sub(lambda _: metrics_table(told), text)


def with_rights_table(text, openapi):
    """SECURITY.md with its table of rights written anew."""
    return RIGHTS.sub(lambda _: rights_table(openapi), text)


def with_settings_table(text, told):
    """The reference of settings with its table written anew."""
    return SETTINGS.sub(lambda _: settings_table(told), text)


def with_scheme_table(text, schemes):
    """The document with its table of schemes written anew; a document without one as it is."""
    return TABLE.sub(lambda _: scheme_table(schemes), text)


def table_block(text):
    """The commands of the table of schemes as one block of code."""
    table = TABLE.search(text)
    return Block("sh", "\n".join(TABLE_COMMAND.findall(table[0])) + "\n" if table else "")
