#!/bin/sh
# Suites, and a server under mixed load to its end, under valgrind: an error, or a block that is
# definitely or possibly lost, is a failure. valgrind.sh BUILD SUITE…
#
# Nothing is suppressed. valgrind 3.19 knows no AVX-512 and says so by CPUID, so the kernels that
# run here are those of x86-64-v3 and below.
set -eu
build=$(realpath "$1")
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export MIXED_REQUESTS="${MIXED_REQUESTS:-12}" PYTHONDONTWRITEBYTECODE=1
memcheck="valgrind --quiet --error-exitcode=99 --leak-check=full --show-leak-kinds=definite,possible
    --errors-for-leak-kinds=definite,possible --log-file=$work/report.%p"

failed=0
for suite in "$@"; do # in one process: what a suite leaves behind shows at the end
    # shellcheck disable=SC2086 # a command and its options
    CK_FORK=no $memcheck "$build/unit-tests" "$suite" || failed=1
done

cat >"$work/posenc-server" <<WRAPPER
#!/bin/sh
exec $(echo $memcheck) "$build/posenc-server" "\$@"
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
