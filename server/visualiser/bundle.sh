#!/bin/sh
# bundle.sh FOLDER: bundle the pages' scripts and style sheets into FOLDER. This needs node and
# the packages that package-lock.json pins; building the server needs neither.
set -eu
here=$(dirname "$0")
installed=$here/node_modules/.package-lock.json
if ! command -v node >/dev/null 2>&1 || [ ! -e "$installed" ] ||
    [ "$here/package-lock.json" -nt "$installed" ]; then
    echo "posenc: bundling the pages needs node and its packages: make deps-page" >&2
    exit 1
fi
exec node "$here/build.mjs" "$1"
