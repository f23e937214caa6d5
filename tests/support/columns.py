"""No line of a source is longer than 96 columns: columns.py [FILE...], else all sources.

Formatters leave texts, comments and macros as long as they are."""

import os
import re
import sys
from pathlib import Path

COLUMNS = 96
ENDINGS = {".c", ".cc", ".css", ".def", ".h", ".js", ".mjs", ".py", ".sh"}
# what is no source of ours, and why
WITHOUT = {
    ".git": "git's own",
    "build": "built",
    "node_modules": "packages of others",
    "server/visualiser/bundle": "written by esbuild",
}
# the one kind of line that cannot be broken: a regular expression of JavaScript
UNBREAKABLE = re.compile(r"\s*/[^/*].*/[a-z]*(\.\w+\(|[,;])?")


def sources(root):
    for folder, folders, files in os.walk(root):
        folders[:] = [
            each
            for each in folders
            if each not in WITHOUT and os.path.relpath(f"{folder}/{each}", root) not in WITHOUT
        ]
        yield from (Path(folder, each) for each in files if Path(each).suffix in ENDINGS)


def main(named):
    found = 0
    for path in map(Path, named) if named else sorted(sources(".")):
        for number, line in enumerate(path.read_text("utf-8").split("\n"), 1):
            if len(line) <= COLUMNS:
                continue
            if path.suffix in {".js", ".mjs"} and UNBREAKABLE.fullmatch(line):
                continue
            print(f"{path}:{number}: {len(line)} columns, at most {COLUMNS}", file=sys.stderr)
            found += 1
    sys.exit(found > 0)


if __name__ == "__main__":
    main(sys.argv[1:])
