#!/bin/sh
# arm64.sh BUILD: check the arm64 programs in BUILD/arm64 under qemu-user: the unit suites with
# all golden values and sums, and whether the server answers 2,000 random requests as that of
# this machine does.
set -eu
build=$1
python=${PYTHON:-/usr/bin/python3}
root=$(realpath build/root-aarch64-linux-gnu)

# Arithmetic on two doubles or four words at a time, in the object of the inner loops.
vectors=$(aarch64-linux-gnu-objdump -d "$build/arm64/lib/kernels/kernel.o" |
    grep -cE '[[:space:]]f(mul|add|sub)[[:space:]]+v[0-9]+\.(2d|4s)' || true)
echo "arm64: kernel.o has $vectors products and sums of whole vectors"
[ "$vectors" -gt 100 ] || {
    echo "arm64: the compiler has not vectorised the kernels" >&2
    exit 1
}

echo "arm64: without the suite deadlines, since qemu-user has no TCP_INFO: it runs in make unit"
# shellcheck disable=SC2013 # each line is one word
for suite in $(sed -n 's/^SUITE(\(.*\))$/\1/p' tests/unit/suites.def | grep -vx deadlines); do
    CK_TIMEOUT_MULTIPLIER=20 qemu-aarch64 -L "$root" "$build/arm64/unit-tests" "$suite"
done

program="$build/arm64/posenc-server-by-qemu"
printf '#!/bin/sh\nexec qemu-aarch64 -L "%s" "%s" "$@"\n' "$root" \
    "$(realpath "$build")/arm64/posenc-server" > "$program"
chmod +x "$program"
"$python" -B tests/http/same_answers.py "$build/posenc-server" "$program"
