#!/bin/sh
# Unpack Debian packages of another architecture or, with RELEASE=trixie, of another release,
# with all that they depend on, into a folder to build and run against:
# foreign_root.sh ARCHITECTURE FOLDER PACKAGE…
#
# The packages of this system stay as they are: it needs neither root nor a second architecture,
# whose packages would have to have the versions of those that are installed.
set -eu

architecture=$1 root=$2
shift 2
stamp="$root/packages.txt"
[ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && {
    echo "posenc: $root has every package needed"
    exit 0
}
rm -rf "$root"
mkdir -p "$root" "$root.apt/lists/partial" "$root.apt/archives/partial"
: > "$root.apt/status"
if [ -n "${RELEASE:-}" ]; then
    # the mirror of this machine has the other release as well
    list=$root.apt/sources.list
    apt-get indextargets --format "deb \$(REPO_URI) $RELEASE \$(COMPONENT)" \
        'Created-By: Packages' 'Origin: Debian' 'Label: Debian' | sort -u > "$list"
fi
apt() {
    apt-get -qq -o APT::Architecture="$architecture" -o APT::Architectures="$architecture" \
        -o Dir::State::Lists="$root.apt/lists" -o Dir::State::status="$root.apt/status" \
        -o Dir::Cache="$root.apt" -o Dir::Cache::Archives="$root.apt/archives" \
        ${RELEASE:+-o Dir::Etc::sourcelist="$list" -o Dir::Etc::sourceparts=-} \
        -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}
apt update
apt install -y --no-install-recommends --download-only "$@"
for package in "$root.apt"/archives/*.deb; do
    dpkg-deb -x "$package" "$root"
done
# links from the root of the file system would lead out of this one
find "$root" -type l -lname '/*' | while read -r link; do
    ln -sfrn "$root$(readlink "$link")" "$link"
done
rm -rf "$root.apt"
echo "$*" > "$stamp"
echo "posenc: unpacked $architecture packages into $root"
