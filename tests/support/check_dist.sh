#!/bin/sh
# check_dist.sh ARCHIVE BUILD: see that packing again gives the same bytes. That the archive
# builds where there is no node, with the page, bare.py sees.
set -eu
archive=$1 work=$2/dist
rm -rf "$work"
mkdir -p "$work"
again=$work/$(basename "$archive")
(umask 077 && sh docker/dist.sh "$again" >/dev/null)
cmp "$archive" "$again" || {
    echo "check-dist: packing again gave other bytes" >&2
    exit 1
}
echo "check-dist: $(sha256sum "$archive") packs the same twice"
