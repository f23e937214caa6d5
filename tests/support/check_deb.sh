#!/bin/sh
# check_deb.sh ARCHIVE BUILD: build the Debian packages, build them again from the same archive
# in another folder and compare, ask lintian, and install, try, upgrade, remove and purge them
# in a copy of this system that vanishes with its mounts.
set -eu
archive=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)

for tool in dpkg-buildpackage dh lintian; do
    command -v "$tool" >/dev/null 2>&1 || {
        echo "check-deb: not done, since $tool is missing: make deps-deb"
        exit 0
    }
done

sums() {
    (cd "$1" && sha256sum -- *.deb *.dsc *.tar.*)
}
logged() { # LOG COMMAND...: show the log's end if the command fails
    log=$1
    shift
    "$@" >"$log" 2>&1 || {
        tail -n 40 "$log" >&2
        exit 1
    }
}
logged "$build/deb.log" make deb
logged "$build/deb-again.log" sh docker/deb.sh "$archive" "$build/deb-again"
sums "$build/deb" >"$build/deb.sums"
sums "$build/deb-again" | diff "$build/deb.sums" - || {
    echo "check-deb: the second build gave other bytes" >&2
    exit 1
}
echo "check-deb: a second build gave the same bytes:"
cat "$build/deb.sums"

as_root=
[ "$(id -u)" -ne 0 ] || as_root=--allow-root
lintian $as_root --fail-on error,warning "$build"/deb/*.changes
echo "check-deb: lintian finds no error and no warning"

if ! unshare --mount true 2>/dev/null; then
    echo "check-deb: the packages are not installed: only root may mount a copy of this system"
    exit 0
fi
# the next version, for an upgrade
next=$build/deb-next
rm -rf "$next"
mkdir -p "$next"
dpkg-deb -R "$build"/deb/posenc_*.deb "$next/tree"
sed -i 's/^Version: .*/&+1/' "$next/tree/DEBIAN/control"
dpkg-deb --root-owner-group -b "$next/tree" "$next/posenc.deb" >/dev/null
exec unshare --mount --pid --fork \
    sh "$here/try_deb.sh" "$build/deb" "$next/posenc.deb" "$build/copy"
