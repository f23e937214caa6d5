#!/bin/sh
# release.sh FOLDER: build everything of a release into FOLDER, from clean checkouts of the
# commit that is checked out, twice, and see that the bytes are the same. SHA256SUMS lists them.
# PARTS="source python" builds these alone. What this machine cannot build is told, with why.
set -eu
here=$PWD folder=$(realpath -m "$1")
parts=${PARTS:-source python npm site deb arm64 image}
python=${PYTHON:-/usr/bin/python3}
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD PREFIX DESTDIR

fail() {
    echo "release: $1" >&2
    exit 1
}
[ -z "$(git status --porcelain)" ] || fail "there are changes that are not committed"
version=$(make -s version)
grep -q "^## $version (" CHANGELOG.md || fail "CHANGELOG.md has no $version"
commit=$(git rev-parse HEAD)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct "$commit")
export SOURCE_DATE_EPOCH

build_source() {
    make -s dist && cp "build/posenc-$version.tar.gz" "$1"
}
build_python() {
    make -s python && cp -r build/python/dist "$1/python"
}
build_npm() {
    make -s -j"$(nproc)" npm && cp "build/posenc-$version.tgz" "$1"
}
build_site() {
    make -s -j"$(nproc)" site
    mv build/site "build/posenc-site-$version"
    LC_ALL=C tar -C build --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
        --mtime="@$SOURCE_DATE_EPOCH" -cf - "posenc-site-$version" |
        gzip -9n >"$1/posenc-site-$version.tar.gz"
}
build_deb() {
    make -s deb && cp build/deb/*.deb "$1"
}
build_arm64() {
    make -s dist && sh docker/deb_cross.sh arm64 "build/posenc-$version.tar.gz" "$1"
}
build_image() {
    "$python" -B tests/support/image.py "$here/build" --release "$1"
}

build() { # FOLDER
    rm -rf "$1"
    mkdir -p "$1"
    work=$(mktemp -d)
    git clone --quiet "$here" "$work/posenc"
    git -C "$work/posenc" checkout --quiet --detach "$commit"
    mkdir -p "$work/posenc/build"
    ln -s "$here/build/wasm-packages" "$work/posenc/build/wasm-packages"
    for part in $parts; do
        echo "release: builds $part"
        (cd "$work/posenc" && "build_$part" "$1") >"$folder.log" 2>&1 || {
            tail -n 20 "$folder.log" >&2
            fail "$part does not build"
        }
        grep '^not built: ' "$folder.log" || true
    done
    rm -rf "$work"
    (cd "$1" && find . -type f | LC_ALL=C sort | xargs sha256sum) >"$folder.sums"
    mv "$folder.sums" "$1/SHA256SUMS"
}

build "$folder"
build "$folder-again"
diff "$folder/SHA256SUMS" "$folder-again/SHA256SUMS" || fail "the second build gave other bytes"
(cd "$folder" && find . -type f -printf '%9s  %P\n' | LC_ALL=C sort -k 2)
echo "release: $folder, the same bytes twice. The tag to set:"
echo "    git tag -a v$version -m 'posenc $version' $commit"
