#!/bin/sh
# deb.sh ARCHIVE FOLDER: build the Debian packages from the source archive alone, below FOLDER,
# and without the network. debian/changelog follows from the archive's version and
# SOURCE_DATE_EPOCH. Revisions of the project's own are below those that Debian would give.
set -eu
archive=$1 folder=$2
name=$(basename "$archive" .tar.gz)
version=${name#posenc-}

rm -rf "$folder"
mkdir -p "$folder"
cp "$archive" "$folder/posenc_$version.orig.tar.gz"
tar -C "$folder" -xf "$archive"
cd "$folder/$name"
cp -r docker/debian debian
cat >debian/changelog <<CHANGELOG
posenc ($version-0posenc1) unstable; urgency=medium

  * Release $version, see CHANGELOG.md.

 -- The posenc authors <authors@posenc.example>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
CHANGELOG
# what the outer make and the caller's shell have set is not meant for the package
unset MAKEFLAGS MAKELEVEL MFLAGS BUILD PREFIX DESTDIR
unset CC CFLAGS CXXFLAGS CPPFLAGS LDFLAGS KERNEL_CFLAGS
# shellcheck disable=SC2086 # DEB_FLAGS are several
dpkg-buildpackage -us -uc ${DEB_FLAGS:-} -j"$(nproc)"
cd ..
rm -rf "$name"
ls -l ./*.deb
