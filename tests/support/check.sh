#!/bin/sh
# The rules that a program can check: who may use whom, that the library does not speak of JSON
# or HTTP, that every scheme and format is registered, that every source has a unit suite or
# names the tests that cover it, and that every header compiles alone.
set -eu
cd "$(dirname "$0")/../.."
failed=0

fail() {
    echo "check: $1" >&2
    failed=1
}

# Layers and rooms: who may use whom.
rooms="${PYTHON:-/usr/bin/python3} -B tests/support/rooms.py"
$rooms "${BUILD:-build}" || failed=1
$rooms --plant "${BUILD:-build}" || failed=1
"${PYTHON:-/usr/bin/python3}" -B tests/support/names.py || failed=1
"${PYTHON:-/usr/bin/python3}" -B tests/support/drawing.py --check || failed=1

found=$(grep -rnE '[^_a-z](printf|puts|exit|getenv|abort)\(' lib api --include='*.c' || true)
[ -z "$found" ] || fail "lib and api never print, exit or read the environment: $found"

# How a request is written is the api's business.
found=$(grep -rnE '"[^"]*(JSON|HTTP|URL|[qQ]uery string|/v1/)[^"]*"' \
    lib --include='*.[ch]' --include='*.def' | grep -vE ':[0-9]+: *(/?\*|#)' || true)
[ -z "$found" ] || fail "lib words messages without JSON, HTTP, query strings and paths: $found"

# The library gives its user names of its own alone.
symbols=$(nm -g --defined-only "${BUILD:-build}/libposenc.a" |
    awk 'NF == 3 {print $3}' | sort -u)
printf '%s\n' "$symbols" | grep -q '^pe_request_new$' ||
    fail "nm finds no pe_request_new in libposenc.a"
found=$(printf '%s\n' "$symbols" | grep -v '^pe_' || true)
[ -z "$found" ] || fail "libposenc.a defines names outside pe_: $found"

# The number of the release stands in lib/posenc.h; documents name it, whose tests know.
version=$(make -s --no-print-directory version)
printf '%s\n' "$version" | grep -qE '^[0-9]+\.[0-9]+\.[0-9]+$' ||
    fail "make version prints \"$version\""
found=$(grep -rnwF --exclude-dir=node_modules --exclude='package-lock.json' "$version" \
    Makefile .ci lib api server docker tests |
    grep -vE '^(lib/posenc\.h|server/visualiser/bundle/):' || true)
[ -z "$found" ] || fail "the release's number stands in another place: $found"

# Registration: one file, one line.
registered() {
    sed -n "s/^$1(\([a-z0-9_]*\)).*/\1/p" "$2" | sort
}
defining() { # the files of a folder that define a descriptor of this type and prefix
    grep -l "^const $2 $2_" "$1"/*.c | xargs -n 1 basename -s .c | sort
}
schemes=$(defining lib/schemes pe_scheme)
[ "$(registered SCHEME lib/schemes/schemes.def)" = "$schemes" ] ||
    fail "lib/schemes/schemes.def and the schemes beside it differ"
[ "$(registered FORMAT api/formats/formats.def)" = "$(defining api/formats api_format)" ] ||
    fail "api/formats/formats.def and the formats beside it differ"
for scheme in $schemes; do
    [ -s tests/golden/"$scheme".jsonl ] || fail "no golden values for $scheme"
done

# Every source has a unit suite, or a line that names the tests which cover it.
"${PYTHON:-/usr/bin/python3}" -B tests/support/suites.py || failed=1

# Every header compiles alone. Some hold macros only, and C wants a declaration.
scratch=$(mktemp -d)
echo 'typedef int alone;' >"$scratch/declaration.h"
# shellcheck disable=SC2086 # CC may have arguments
find lib api server -name node_modules -prune -o -name '*.h' -print0 |
    xargs -0 -n 32 -P "$(nproc)" \
        ${CC:-cc} -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror \
        -I. -Iserver -Iapi -Ilib -fsyntax-only -include "$scratch/declaration.h" -x c ||
    fail "a header does not compile alone"

# Headers of packages come from where pkg-config says: so another libmicrohttpd can be used.
printf 'Name: x\nDescription: x\nVersion: 9\nCflags: -I/elsewhere\n' \
    >"$scratch/libmicrohttpd.pc"
PKG_CONFIG_PATH=$scratch make -n V=1 BUILD="$scratch" "$scratch/server/http/http.o" 2>&1 |
    grep -q -e '-I/elsewhere .*server/http/http\.c' ||
    fail "make ignores the Cflags of libmicrohttpd.pc"
rm -rf "$scratch"

[ "$failed" -eq 0 ] &&
    echo "check: arrows, registration, suites and headers are as they should be"
exit "$failed"
