#!/bin/sh
# check_dist.sh ARCHIVE BUILD: see that packing again gives the same bytes, and that the archive
# builds where there is no node and no network, with the page. Little optimised, which takes
# less time.
set -eu
archive=$1 build=$2
work=$build/dist
rm -rf "$work"
mkdir -p "$work/again" "$work/bin"

fail() {
    echo "check-dist: $1" >&2
    exit 1
}

(umask 077 && sh docker/dist.sh "$work/again/$(basename "$archive")" >/dev/null)
cmp "$archive" "$work/again/$(basename "$archive")" || fail "packing again gave other bytes"

# every program of PATH but node's
(
    IFS=:
    for folder in $PATH; do
        [ ! -d "$folder" ] ||
            find "$folder" -maxdepth 1 ! -type d -exec ln -s -t "$work/bin" {} + 2>/dev/null ||
            true
    done
)
rm -f "$work/bin/node" "$work/bin/nodejs" "$work/bin/npm" "$work/bin/npx"
offline=
if unshare --map-root-user --net true 2>/dev/null; then
    offline="unshare --map-root-user --net"
else
    echo "check-dist: the network is there while it builds: this system lets nobody leave it"
fi
tar -C "$work" -xf "$archive"
tree=$work/$(basename "$archive" .tar.gz)
# shellcheck disable=SC2086 # a command or nothing
$offline env -u MAKEFLAGS -u MAKELEVEL PATH="$(cd "$work/bin" && pwd)" \
    make -C "$tree" -j"$(nproc)" BUILD=build CFLAGS=-O1 KERNEL_CFLAGS= all \
        >"$work/log" 2>&1 || {
    tail -n 20 "$work/log" >&2
    fail "the archive does not build"
}

socket=$(mktemp -d)/socket # whose path must be short
mkfifo "$work/out"
"$tree/build/posenc-server" --unix-socket "$socket" --drain-seconds 0 \
    >"$work/out" 2>"$work/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$(dirname "$socket")"' EXIT
exec 3<"$work/out"
read -r _ <&3 || {
    cat "$work/server.log" >&2
    fail "the server of the archive does not start"
}
curl -sSf --unix-socket "$socket" http://localhost/ >"$work/page"
script=$(sed -n 's/.*<script type="module"[^>]* src="\([^"]*\)".*/\1/p' "$work/page")
[ -n "$script" ] || fail "the page is not the bundled one"
curl -sSf --compressed --unix-socket "$socket" "http://localhost$script" >"$work/script"
grep -q /v1/schemes "$work/script" || fail "the page's script is not the bundled one"
echo "check-dist: $(sha256sum "$archive") packs the same twice, builds without node," \
    "and has the page"
