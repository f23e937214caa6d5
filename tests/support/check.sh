#!/bin/sh
# The rules of the house that a program can check: who may include what, that every scheme and
# format is registered, and that every header compiles alone.
set -eu
cd "$(dirname "$0")/../.."
failed=0

fail() {
    echo "check: $1" >&2
    failed=1
}

# Arrows: server -> api -> lib -> C library. $1 is a pattern of includes, the rest where to look.
forbid() {
    pattern=$1 reason=$2
    shift 2
    found=$(grep -nE "#include +[<\"]($pattern)" "$@" || true)
    [ -z "$found" ] || fail "$reason: $found"
}
forbid 'microhttpd|jansson|nettle|zlib|png|sys/socket|time\.h|(\.\./)*(api|server)/' \
    "lib knows neither HTTP nor JSON nor the clock" lib/*.[ch] lib/schemes/*.[ch]
forbid 'microhttpd|sys/socket|netinet|pthread|time\.h|(\.\./)*server/' \
    "api knows neither sockets nor threads nor the clock" api/*.[ch] api/*/*.[ch]
others=$(find server -name '*.[ch]' ! -name http.c ! -name 'http_*.[ch]')
# shellcheck disable=SC2086 # a list of files
forbid 'microhttpd' "only server/http.c and http_* include microhttpd.h" $others
others=$(find server -name '*.[ch]' ! -name 'database.c')
# shellcheck disable=SC2086 # a list of files
forbid 'sqlite3' "only server/database.c includes sqlite3.h" $others api/*.[ch] api/*/*.c lib/*.[ch]
others=$(find api server lib -name '*.[ch]' ! -path api/formats/png.c)
# shellcheck disable=SC2086 # a list of files
forbid 'png' "only api/formats/png.c includes png.h" $others
inner=$(cd lib && ls ./*.h | sed -n 's/^\.\/\(.*\)\.h$/\1/p' | grep -v '^posenc$' | paste -sd '|')
forbid "(\.\./)*(lib/)?($inner)\.h" "api and server use lib by posenc.h alone" api/*.[ch] api/*/*.c server/*.[ch]
found=$(grep -nE '[^_a-z](printf|puts|exit|getenv|abort)\(' lib/*.c lib/schemes/*.c api/*.c api/*/*.c || true)
[ -z "$found" ] || fail "lib and api never print, exit or read the environment: $found"

# Registration: one file, one line.
registered() {
    sed -n "s/^$1(\([a-z0-9_]*\)).*/\1/p" "$2" | sort
}
files() {
    for file in "$1"/*.c; do basename "$file" .c; done | sort
}
[ "$(registered SCHEME lib/schemes/schemes.def)" = "$(files lib/schemes)" ] ||
    fail "lib/schemes/schemes.def and the files beside it differ"
[ "$(registered FORMAT api/formats/formats.def)" = "$(files api/formats)" ] ||
    fail "api/formats/formats.def and the files beside it differ"
for scheme in $(files lib/schemes); do
    ls tests/golden/"$scheme"/*.json >/dev/null 2>&1 || fail "no golden files for $scheme"
done

# Every header compiles alone.
for header in lib/*.h api/*.h server/*.h; do
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -Ilib -Iapi \
        -fsyntax-only -x c "$header" || fail "$header does not compile alone"
done

[ "$failed" -eq 0 ] && echo "check: arrows, registration and headers are as they should be"
exit "$failed"
