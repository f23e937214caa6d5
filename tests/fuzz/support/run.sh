#!/bin/sh
# Run one harness under libFuzzer: HARNESS BUILD SECONDS. What it learns stays in BUILD/found,
# an input that fails in BUILD/crashes; the log's figures are shown at the end.
set -eu
harness=$1 build=$2 seconds=$3
mkdir -p "$build/found/$harness" "$build/crashes" "$build/logs"
log=$build/logs/$harness
status=0
"$build/fuzz-with-$harness" -max_total_time="$seconds" \
    -timeout=20 -rss_limit_mb=2048 -max_len=2048 \
    -dict="$build/fuzz.dict" -artifact_prefix="$build/crashes/$harness-" -print_final_stats=1 \
    "$build/found/$harness" "tests/fuzz/corpus/$harness" >"$log" 2>&1 || status=$?
executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
echo "fuzz: $harness: ${executions:-0} executions, ${rate:-0} a second"
[ "$status" -eq 0 ] && exit 0
echo "fuzz: $harness failed; the end of $log:" >&2
tail -n 40 "$log" >&2
exit "$status"
