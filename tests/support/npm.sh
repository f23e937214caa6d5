#!/bin/sh
# npm.sh FOLDER...: install the packages that each folder's lock file pins. npm itself is
# installed from Debian only if there is none, since Debian's package conflicts with other
# installations.
set -eu

if ! command -v npm >/dev/null 2>&1; then
    sh "$(dirname "$0")/deps.sh" npm
fi
for folder in "$@"; do
    installed=$folder/node_modules/.package-lock.json
    if [ -e "$installed" ] && [ ! "$folder/package-lock.json" -nt "$installed" ]; then
        echo "posenc: the packages of $folder are installed"
        continue
    fi
    echo "posenc: installing the packages of $folder"
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
done
