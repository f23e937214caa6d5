#!/bin/sh
# build.sh FILE: write the C source of the visualiser's assets if a source of the page is newer.
# Without node or the packages, keep an existing FILE (which may have been built elsewhere), or
# take assets.c beside this script, which a source archive has, or write a page that says how to
# get the real one.
set -eu
file=$1
here=$(dirname "$0")
installed=$here/node_modules/.package-lock.json

if ! command -v node >/dev/null 2>&1 || [ ! -e "$installed" ]; then
    [ -e "$file" ] && exit 0
    mkdir -p "$(dirname "$file")"
    if [ -e "$here/assets.c" ]; then
        cp "$here/assets.c" "$file"
    else
        cp "$here/absent.c" "$file"
    fi
    exit 0
fi
if [ -e "$file" ] && ! cmp -s "$here/absent.c" "$file"; then
    newer=$(find "$here" -path "$here/node_modules" -prune -o -type f -newer "$file" -print)
    [ -n "$newer" ] || [ "$installed" -nt "$file" ] || exit 0
fi
mkdir -p "$(dirname "$file")"
echo "  PAGE  $file"
node "$here/build.mjs" "$file" && exit 0
echo "posenc: the visualiser cannot be bundled; the server is built without it" >&2
cp "$here/absent.c" "$file"
