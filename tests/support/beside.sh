#!/bin/sh
# beside.sh FIRST SECOND LOG: run two commands at the same time. SECOND runs at the lowest
# priority, so that it uses the processors while FIRST waits. Its output goes to LOG and is
# shown after FIRST's.
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
