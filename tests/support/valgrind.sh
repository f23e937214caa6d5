#!/bin/sh
# valgrind.sh BUILD SUITE...: run suites, and a server under mixed load until it has stopped,
# under valgrind. Errors and blocks that are definitely or possibly lost fail.
#
# No report is suppressed. valgrind 3.19 does not support AVX-512 and hides it in CPUID, so only
# the kernels of x86-64-v3 and below run here.
set -eu
build=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MIXED_REQUESTS="${MIXED_REQUESTS:-12}" PYTHONDONTWRITEBYTECODE=1
memcheck="valgrind --quiet --error-exitcode=99
    --leak-check=full --show-leak-kinds=definite,possible
    --errors-for-leak-kinds=definite,possible --log-file=$work/report.%p"

failed=0
for suite in "$@"; do # in one process, so that leaks of the tests are reported at its end
    # shellcheck disable=SC2086 # a command and its options
    CK_FORK=no $memcheck "$build/unit-tests" "$suite" || failed=1
done

cat >"$work/posenc-server" <<WRAPPER
#!/bin/sh
exec $(printf '%s' "$memcheck" | tr '\n' ' ') "$build/posenc-server" "\$@"
WRAPPER
chmod +x "$work/posenc-server"
(
    cd tests/http
    TEST_SERVER=$work/posenc-server "${PYTHON:-python3}" -m unittest test_mixed_load
) || failed=1

for report in "$work"/report.*; do
    [ -s "$report" ] || continue
    cat "$report" >&2
    failed=1
done
[ "$failed" -eq 0 ] && echo "valgrind: no error and no leak"
exit "$failed"
