#!/bin/sh
# tsan.sh BUILD SUITE...: run suites, and a server under mixed load, built with
# -fsanitize=thread. Any report fails, also that of a process that was killed.
#
# No report is suppressed. libmicrohttpd and SQLite are not instrumented, but ThreadSanitizer
# sees the locks that they take from the C library. If a suppression is ever needed, state its
# reason here.
set -eu
build=$1
shift
reports=$(mktemp -d)
trap 'rm -rf "$reports"' EXIT
export TSAN_OPTIONS="exitcode=66 second_deadlock_stack=1 log_path=$reports/report"
export MIXED_REQUESTS="${MIXED_REQUESTS:-100}" PYTHONDONTWRITEBYTECODE=1

# gcc 12's runtime does not start if the kernel randomises addresses with more bits than it
# expects
plain=
if ! "$build/posenc-server" --version >/dev/null 2>&1; then
    plain="setarch -R"
    $plain "$build/posenc-server" --version >/dev/null || {
        echo "tsan: programs with -fsanitize=thread do not start here" \
            "(sysctl vm.mmap_rnd_bits)" >&2
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
