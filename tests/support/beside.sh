#!/bin/sh
# Run FIRST, which mostly waits, and SECOND, which computes, at once: beside.sh FIRST SECOND LOG. SECOND
# has the processors only while FIRST leaves them; its output is kept in LOG and shown after FIRST's.
set -u

mkdir -p "$(dirname "$3")"
nice -n 19 sh -c "$2" >"$3" 2>&1 &
second=$!
trap 'kill "$second" 2>/dev/null; exit 1' INT TERM
sh -c "$1"
first_status=$?
wait "$second"
second_status=$?
cat "$3"
[ "$first_status" -eq 0 ] && [ "$second_status" -eq 0 ]
