"""`make readme`: writes what the documents take from the server: the tables of schemes, of
rights, of settings and of metrics, and what commands print."""

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "interop"))

from documents import (  # noqa: E402
    DOCUMENTS,
    METRICS_REFERENCE,
    ROOT,
    SECURITY,
    SETTINGS_REFERENCE,
    blocks,
    closed,
    with_metrics_table,
    with_rights_table,
    with_scheme_table,
    with_settings_table,
)
from reader import Reader  # noqa: E402
from service import SERVER, Server  # noqa: E402


def with_outputs(text, reader):
    """The document with what its blocks of code print now."""
    parts, end = [], 0
    for block in blocks(text):
        printed = reader.run(block)
        if block.output is not None and printed is not None:
            start, next_end = block.output_span
            parts += [text[end:start], closed(printed)]
            end = next_end
    return "".join(parts) + text[end:]


def keep(path, written):
    """Write a document if it has changed."""
    if written != path.read_text(encoding="utf-8"):
        path.write_text(written, encoding="utf-8")
        print(f"{path.relative_to(ROOT)} is written anew")


def main():
    told = subprocess.run([SERVER, "--help"], capture_output=True, text=True, check=True).stdout
    keep(
        SETTINGS_REFERENCE,
        with_settings_table(SETTINGS_REFERENCE.read_text(encoding="utf-8"), told),
    )
    server = Server()
    try:
        with urllib.request.urlopen(f"{server.url}/openapi.json") as reply:
            keep(
                SECURITY,
                with_rights_table(SECURITY.read_text(encoding="utf-8"), json.load(reply)),
            )
        with urllib.request.urlopen(f"{server.url}/metrics") as reply:
            told = reply.read().decode()
            keep(
                METRICS_REFERENCE,
                with_metrics_table(METRICS_REFERENCE.read_text(encoding="utf-8"), told),
            )
        with urllib.request.urlopen(f"{server.url}/v1/schemes") as reply:
            schemes = json.load(reply)["schemes"]
        with tempfile.TemporaryDirectory() as folder, Reader(
            server.url, SERVER, folder
        ) as reader:
            for path in DOCUMENTS:
                reader.new_document(path)
                text = path.read_text(encoding="utf-8")
                keep(path, with_outputs(with_scheme_table(text, schemes), reader))
            for reason in reader.skipped:
                print(f"some blocks were not run: {reason}")
    finally:
        server.stop()


if __name__ == "__main__":
    main()
