#!/bin/sh
# deb_cross.sh ARCHITECTURE ARCHIVE FOLDER: build the Debian packages of another architecture
# into FOLDER, by Debian's cross compiler, in a root with the libraries of both that mmdebstrap
# makes and drops again.
set -eu
architecture=$1 archive=$2 folder=$3

skip() {
    echo "not built: packages for $architecture, since $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip "only root can make a root of two architectures"
command -v mmdebstrap >/dev/null 2>&1 || skip "mmdebstrap is missing: make deps-bare"

packages=build-essential,crossbuild-essential-$architecture,debhelper,qemu-user
for package in libjansson-dev libmicrohttpd-dev libpng-dev libsqlite3-dev nettle-dev \
    pkgconf zlib1g-dev; do
    packages=$packages,$package:$architecture
done
# shellcheck disable=SC2016 # the shells of apt-get and of mmdebstrap have these variables
build='chroot "$1" env DEB_FLAGS="-b -a'$architecture' -Pcross" \
    SOURCE_DATE_EPOCH='$SOURCE_DATE_EPOCH' \
    sh /root/deb.sh /root/'$(basename "$archive")' /root/deb'
# shellcheck disable=SC2016
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u |
    mmdebstrap --quiet --variant=minbase --format=null \
        --architectures="$(dpkg --print-architecture),$architecture" \
        --include="$packages" \
        --customize-hook="copy-in $archive docker/deb.sh /root" --customize-hook="$build" \
        --customize-hook="sync-out /root/deb $folder" \
        "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" /dev/null
rm -f "$folder"/*.buildinfo "$folder"/*.changes "$folder"/*.orig.tar.gz
