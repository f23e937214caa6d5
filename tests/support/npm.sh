#!/bin/sh
# npm.sh FOLDER...: install the packages that each folder's lock file pins. npm itself is
# installed from Debian only if there is none, since Debian's package conflicts with other
# installations. npm sometimes waits for ever on connections that nobody closes, without asking
# its own time limits: an attempt that takes longer than NPM_PATIENCE is begun again, with what
# has come so far in npm's cache.
set -eu
patience=${NPM_PATIENCE:-10m}

install() {
    for _ in 1 2 3; do
        status=0
        timeout --foreground "$patience" \
            npm ci --ignore-scripts --no-audit --no-fund --loglevel=error || status=$?
        [ "$status" -eq 124 ] || return "$status"
        echo "posenc: npm was not ready in $patience" >&2
    done
    return 1
}

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
    (cd "$folder" && install)
done
