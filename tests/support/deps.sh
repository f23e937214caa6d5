#!/bin/sh
# Install those of the named Debian packages that are missing. Without apt, print what the
# packages are called on other systems and stop.
#
# The names have been tried on Debian 12 only. Those of the build's packages have no version in
# them and are expected to be the same on Debian 13 and Ubuntu 24.04 and 26.04, which could not
# be tried. For the tests Ubuntu lacks a package chromium: it is a snap there, which this script
# cannot install.
set -eu

if ! command -v apt-get >/dev/null 2>&1; then
    cat >&2 <<'NAMES'
posenc: this system has no apt-get, so nothing was installed. Install these yourself:
  Fedora, RHEL   dnf install gcc make pkgconf libmicrohttpd-devel jansson-devel libpng-devel \
                     nettle-devel sqlite-devel zlib-devel
                 test: check-devel gcc-c++ curl python3 python3-mpmath \
                     python3-numpy python3-pytest python3-pytest-xdist
                 ci: chromium nodejs-npm clang clang-tools-extra cppcheck compiler-rt git \
                     haproxy libpq-devel libtsan nginx postgresql-server valgrind wrk zsh \
                     golang-github-prometheus ShellCheck black pyflakes python3-mypy \
                     python3-torch
  Arch           pacman -S gcc make pkgconf libmicrohttpd jansson libpng nettle sqlite zlib
                 test: check curl python python-mpmath python-numpy python-pytest \
                     python-pytest-xdist
                 ci: chromium npm clang cppcheck compiler-rt git haproxy nginx postgresql \
                     valgrind wrk zsh prometheus shellcheck python-black python-pyflakes mypy \
                     python-pytorch
  Alpine         apk add gcc musl-dev make pkgconf libmicrohttpd-dev jansson-dev libpng-dev \
                     nettle-dev sqlite-dev zlib-dev
                 test: check-dev g++ curl python3 py3-mpmath py3-numpy py3-pytest \
                     py3-pytest-xdist
                 ci: chromium npm clang clang-extra-tools cppcheck compiler-rt git haproxy \
                     libpq-dev nginx postgresql valgrind wrk zsh prometheus shellcheck black \
                     mypy py3-flakes
NAMES
    exit 1
fi

# One at a time, also of several source trees: a second one would fail at apt's lock and lose
# the file below to the first. The lock ends with this process.
exec 9</var/lib/dpkg
flock --nonblock 9 || {
    echo "posenc: waiting until another make deps has installed its packages"
    flock 9
}
missing=
for package in "$@"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
    echo "posenc: every package needed is installed"
    exit 0
fi

echo "posenc: about to install:$missing"
as_root=
if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "posenc: installing needs root; run as root or install sudo" >&2
        exit 1
    }
    as_root=sudo
fi
# Some packages (prometheus, nginx) start a server when they are installed; only the programs
# are needed.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap '$as_root rm -f "$policy"' EXIT
    trap 'exit 130' INT TERM HUP
    printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
    $as_root chmod 755 "$policy"
fi
$as_root apt-get update -qq
# shellcheck disable=SC2086 # a list of package names
$as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing 9<&-
