#!/bin/sh
# Concurrent suites, and a server under mixed load, as built with -fsanitize=thread: any report is
# a failure, also one of a process that was killed. tsan.sh BUILD SUITE…
#
# Nothing is suppressed: the C library's locks are seen although libmicrohttpd and SQLite, which
# use them, are not instrumented. Should one of these ever have to be, the reason belongs here.
set -eu
build=$1
shift
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1 log_path=$reports/report"
export MIXED_REQUESTS="${MIXED_REQUESTS:-100}" PYTHONDONTWRITEBYTECODE=1

# gcc 12's runtime does not start where the kernel spreads mappings wider than it knows
plain=
if ! "$build/posenc-server" --version >/dev/null 2>&1; then
    plain="setarch -R"
    $plain "$build/posenc-server" --version >/dev/null || {
        echo "tsan: programs with -fsanitize=thread do not start here (sysctl vm.mmap_rnd_bits)" >&2
        exit 1
    }
fi

failed=0
for suite in "$@"; do
    $plain "$build/unit-tests" "$suite" || failed=1
done
(
    TEST_SERVER=$(realpath "$build")/posenc-server
    export TEST_SERVER
    cd tests/http
    $plain "${PYTHON:-python3}" -m unittest test_mixed_load test_load.SingleFlight
) || failed=1
for report in "$reports"/*; do
    [ -e "$report" ] || continue
    cat "$report" >&2
    failed=1
done
[ "$failed" -eq 0 ] && echo "tsan: no report"
exit "$failed"
