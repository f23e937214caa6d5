#!/bin/sh
# literal.sh NAME FILE: print the bytes of a file as a C string, which compilers read many times
# faster than a list of numbers.
set -eu
printf 'const char %s[] = "' "$1"
od -An -v -to1 "$2" | tr -d '\n' | tr ' ' '\134'
printf '";\n'
