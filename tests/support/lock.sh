#!/bin/sh
# Write a folder's package-lock.json anew after its package.json has changed. Of the packages' own
# descriptions it keeps no `funding`: no host stands in a lock file (.npmrc keeps the registry's out).
set -eu

cd "$1"
rm -rf package-lock.json node_modules
npm install --package-lock-only --ignore-scripts --no-audit --no-fund --loglevel=error
node -e '
const fs = require("fs"), lock = JSON.parse(fs.readFileSync("package-lock.json"));
for (const entry of Object.values(lock.packages)) delete entry.funding;
fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");'
! grep -n '://' package-lock.json
