#!/bin/sh
# What plain readers of the sources find: formatting of Python, JavaScript and style sheets,
# long lines, unused and undefined names, types of the module for Python, mistakes in shell
# scripts, a page that cannot be bundled. lint.sh --format: format in place instead. C is left
# to the Makefile, which lists it.
set -eu
cd "$(dirname "$0")/../.."
failed=0

fail() {
    echo "lint: $1" >&2
    failed=1
}

sources() { # those that these find expressions choose, without what is installed or built
    find . \( -name node_modules -o -name .git -o -path ./build \) -prune -o \
        -type f \( "$@" \) -print
}

tools=tests/lint/node_modules/.bin
web="{**/*.{js,mjs,css},api/**/*.json}"
for tool in black mypy shellcheck "$tools/prettier" "$tools/eslint"; do
    command -v "$tool" >/dev/null || {
        echo "lint: $tool is not installed: make deps-lint" >&2
        exit 1
    }
done

if [ "${1:-}" = --format ]; then
    black --quiet .
    exec "$tools/prettier" --log-level=warn --write "$web"
fi

black --check --quiet . || {
    black --check . 2>&1 | grep '^would reformat' >&2 || true
    fail "Python is not formatted: make format"
}
sources -name '*.py' | xargs "${PYTHON:-/usr/bin/python3}" -B -m pyflakes || fail "pyflakes"
mypy --strict --no-error-summary --cache-dir=build/mypy api/python || fail "types of Python"
"${PYTHON:-/usr/bin/python3}" -B tests/support/columns.py || fail "long lines"

"$tools/prettier" --log-level=warn --check "$web" || fail "Prettier: make format"
"$tools/eslint" --config tests/lint/eslint.config.js . || fail "ESLint"
# esbuild finds imports of names that no module has
page=$(mktemp -d)
node server/visualiser/build.mjs "$page" || fail "the page cannot be bundled"
rm -rf "$page"

# dash, bash and busybox have -nt (SC3013); formats and programs in other languages stand in
# single quotes (SC2016)
sources -name '*.sh' -o -path './docker/debian/posenc.post*' \
    -o -path './docker/debian/tests/*' ! -name control |
    xargs shellcheck --exclude=SC3013,SC2016 || fail "ShellCheck"

[ "$failed" -eq 0 ] &&
    echo "lint: Python, JavaScript, style sheets and shell scripts are as they should be"
exit "$failed"
