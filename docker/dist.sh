#!/bin/sh
# dist.sh ARCHIVE: pack the files that git tracks, as they are now. The same files give the same
# bytes: names are sorted, and owner, modes and times are fixed, the times by SOURCE_DATE_EPOCH.
set -eu
archive=$1
name=$(basename "$archive" .tar.gz)

# another user's clone is as good: git only lists it
files=$(git -c safe.directory="$PWD" ls-files) || files=
[ -n "$files" ] || {
    echo "posenc: the archive is made of what git tracks, and git lists nothing here" >&2
    exit 1
}
mkdir -p "$(dirname "$archive")"
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir "$stage/$name"
printf '%s\n' "$files" | tr '\n' '\0' | xargs -0 cp --parents -t "$stage/$name"
LC_ALL=C tar -C "$stage" --sort=name --format=gnu --owner=0 --group=0 --numeric-owner \
    --mode=u+rw,go+r,go-w,a+X --mtime="@$SOURCE_DATE_EPOCH" -cf "$stage/archive" "$name"
gzip -9n <"$stage/archive" >"$archive"
echo "posenc: $archive"
