#!/bin/sh
# linked.sh MAP: the source packages, with their versions, of all that the linker's map says is
# in the program.
set -eu
{
    sed -n 's/^LOAD \(\/.*\)$/\1/p' "$1" | xargs -n 1 realpath | sort -u |
        grep -v '^/usr/local/' | xargs dpkg -S | cut -d ' ' -f 1 | sed 's/:$//' | sort -u |
        xargs dpkg-query -W -f='${source:Package} ${source:Version}\n'
    echo "libmicrohttpd $(cat /usr/local/lib/libmicrohttpd.version)"
} | sort -u
