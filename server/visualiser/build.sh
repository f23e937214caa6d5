#!/bin/sh
# build.sh FILE: write the files of the pages as C source, if one of them is newer than FILE.
# The bundle holds what needs node to be made. Where its sources have changed since, it is made
# anew, or the build fails.
set -eu
export LC_ALL=C
file=$1
here=$(dirname "$0")
bundle=$here/bundle
pages="$here/index.html $here/docs.html"
texts="$here/../../LICENSE"
documents=$(sh "$here/documents.sh" --list | sed "s|^|$here/../../|")

if ! (cd "$here" && sha256sum -c bundle/sources) >/dev/null 2>&1; then
    echo "  PAGE  $bundle, of which a source has changed"
    sh "$here/bundle.sh" "$bundle"
fi
# shellcheck disable=SC2086 # a list of files
[ ! -e "$file" ] ||
    [ -n "$(find "$bundle" $pages $texts $documents "$here/documents.awk" "$here/documents.sh" \
        "$here/icon.svg" "$0" -newer "$file")" ] || exit 0
echo "  PAGE  $file"

# bytes from which a file comes as gzip alone: the program would be half as large again
large=200000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$here/documents.sh" >"$work/documents.html"
: >"$work/names" # how pages' {{names}} become addresses, as a script for sed
: >"$work/data"
: >"$work/rows"
count=0

digest() {
    sha256sum "$1" | cut -c"1-$2"
}

form() { # MEMBER FILE ETAG: a row's plain or packed form
    printf 'static ' >>"$work/data"
    sh "$here/../../api/literal.sh" "$1_$count" "$2" >>"$work/data"
    printf ', .%s = {%s, sizeof %s - 1, "\\"%s\\""}' "$1" "$1_$count" "$1_$count" "$3" \
        >>"$work/rows"
}

add() { # PATH FILE
    case $2 in
    *.html) type='text/html; charset=utf-8' ;;
    *.js) type='text/javascript; charset=utf-8' ;;
    *.css) type='text/css; charset=utf-8' ;;
    *.svg) type='image/svg+xml' ;;
    *.woff2) type='font/woff2' ;;
    *.txt | *.md | */LICENSE) type='text/plain; charset=utf-8' ;;
    *)
        echo "posenc: nothing says what kind of file $2 is" >&2
        exit 1
        ;;
    esac
    tag=$(digest "$2" 30)
    gzip -9n <"$2" >"$work/packed"
    printf '    {"%s", "%s"' "$1" "$type" >>"$work/rows"
    [ "$(wc -c <"$2")" -ge "$large" ] || form plain "$2" "$tag"
    form gzip "$work/packed" "$tag-z"
    printf '},\n' >>"$work/rows"
    count=$((count + 1))
}

# shellcheck disable=SC2086 # a list of files
for each in "$bundle"/*.* "$here/icon.svg" "$work/documents.html" $texts; do
    name=$(basename "$each")
    case $name in
    LICENSE) name=licence.txt ;;
    esac
    case $name in
    *.*.*) address=/assets/$name ;; # a picture, which style sheets name
    *) address=/assets/${name%.*}.$(digest "$each" 8).${name##*.} ;;
    esac
    echo "s|{{$name}}|$address|g" >>"$work/names"
    add "$address" "$each"
done
for each in $pages; do
    name=$(basename "$each" .html)
    sed -f "$work/names" "$each" >"$work/$name.html"
    case $name in
    index) add / "$work/$name.html" ;;
    *) add "/$name" "$work/$name.html" ;;
    esac
done

mkdir -p "$(dirname "$file")"
{
    printf '/* Written by server/visualiser/build.sh. */\n#include "assets.h"\n\n'
    printf '#pragma GCC diagnostic ignored "-Woverlength-strings"\n\n'
    cat "$work/data"
    printf '\nconst api_asset visualiser_assets[] = {\n'
    cat "$work/rows"
    printf '};\nconst size_t visualiser_asset_count = %s;\n' "$count"
} >"$file.new"
mv "$file.new" "$file"
