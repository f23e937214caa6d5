#!/bin/sh
# Run the Python of a root that `make deps-peers` has unpacked, with the libraries of that root:
# python.sh ROOT ARGUMENT… Neither chroot nor rights are needed.
set -eu

root=$1
shift
libraries=$(echo "$root"/usr/lib/*-linux-gnu)
[ -e "$root/usr/bin/python3" ] || {
    echo "posenc: there is no Python in $root: \`make deps-peers\` brings it" >&2
    exit 1
}
exec env PYTHONHOME="$root/usr" PYTHONPYCACHEPREFIX="$root.cache" OMP_NUM_THREADS=1 \
    "$root"/usr/lib*/ld-linux*.so.* \
    --library-path "$libraries:$libraries/blas:$libraries/lapack" "$root/usr/bin/python3" "$@"
