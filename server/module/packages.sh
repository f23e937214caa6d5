#!/bin/sh
# Unpack the source packages of libraries that the module is built with: packages.sh FOLDER
# PACKAGE…
#
# Debian has no WebAssembly packages of them. The mirror that this machine already uses has
# their sources, so the versions are those of the distribution; nothing of the system changes.
set -eu

folder=$1
shift
stamp="$folder/packages.txt"
[ "$(cat "$stamp" 2>/dev/null)" = "$*" ] && {
    echo "posenc: $folder has every source needed"
    exit 0
}
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial"
folder=$(cd "$folder" && pwd)
apt-get indextargets --format "deb-src \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' 'Origin: Debian' 'Label: Debian' |
    sort -u > "$folder/apt/sources.list"
apt() {
    apt-get -qq -o Dir::State::Lists="$folder/apt/lists" -o Dir::Cache="$folder/apt" \
        -o Dir::Etc::sourcelist="$folder/apt/sources.list" -o Dir::Etc::sourceparts=- \
        -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=1 "$@"
}
apt update
(cd "$folder" && apt source "$@")
rm -rf "$folder/apt"
for package in "$@"; do
    unpacked=$(cd "$folder" && find . -maxdepth 1 -type d -name "$package-*")
    ln -sfn "$unpacked" "$folder/$package"
done
echo "$*" > "$folder/packages.txt"
echo "posenc: unpacked the sources of $* into $folder"
