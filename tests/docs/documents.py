"""The README files: their blocks of code, and the parts of them that the server writes."""

import re
from collections import namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
SECURITY = ROOT / "SECURITY.md"
DOCUMENTS = [
    README,
    *(ROOT / folder / "README.md" for folder in ("api", "lib", "server", "docker", "tests")),
]

TABLE = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table -->\n\n).*?(?=\n<!-- end -->)", re.DOTALL
)
TABLE_COMMAND = re.compile(r"^\| .* \| `(curl .*)` \|$", re.MULTILINE)
RIGHTS = re.compile(
    r"(?<=<!-- begin: `make readme` writes this table from the routes -->\n\n).*?"
    r"(?=\n<!-- end -->)",
    re.DOTALL,
)
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


def scheme_table(schemes):
    """The table of all schemes, from the documents that /v1/schemes lists."""
    lines = ["| scheme | what it is | try it |", "|---|---|---|"]
    for scheme in schemes:
        name, summary = scheme["name"], scheme["summary"].replace("|", "\\|")
        url = f"http://127.0.0.1:8080/v1/encodings/{name}?{scheme['example']}"
        lines.append(f"| [`{name}`](lib/schemes/{name}.c) | {summary} | `curl -s '{url}'` |")
    return "\n".join(lines) + "\n"


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


def with_rights_table(text, openapi):
    """SECURITY.md with its table of rights written anew."""
    return RIGHTS.sub(lambda _: rights_table(openapi), text)


def with_scheme_table(text, schemes):
    """The document with its table of schemes written anew; a document without one as it is."""
    return TABLE.sub(lambda _: scheme_table(schemes), text)


def table_block(text):
    """The commands of the table of schemes as one block of code."""
    table = TABLE.search(text)
    return Block("sh", "\n".join(TABLE_COMMAND.findall(table[0])) + "\n" if table else "")
