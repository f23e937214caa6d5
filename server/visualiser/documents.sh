#!/bin/sh
# documents.sh: write the documents for users as one page of HTML, whose links lead to what is
# in it: it is served, installed and part of the static site. With --list, list the files.
set -eu
export LC_ALL=C
cd "$(dirname "$0")/../.."
set -- "${1:-}" README.md api/*.md api/guides/*.md api/reference/*.md lib/*.md server/*.md \
    docker/*.md docker/fleet/*.md api/python/*.md server/module/package/README.md SECURITY.md
mode=$1
shift
if [ "$mode" = --list ]; then
    printf '%s\n' "$@"
else
    awk -f server/visualiser/documents.awk "$@"
fi
