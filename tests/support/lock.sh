#!/bin/sh
# lock.sh FOLDER: rewrite package-lock.json after package.json has changed. A lock file must
# contain no host name: .npmrc leaves out those of the registry, and this script removes
# `funding` entries.
set -eu

cd "$1"
rm -rf package-lock.json node_modules
npm install --package-lock-only --ignore-scripts --no-audit --no-fund --loglevel=error
node -e '
const fs = require("fs"), lock = JSON.parse(fs.readFileSync("package-lock.json"));
for (const entry of Object.values(lock.packages)) delete entry.funding;
fs.writeFileSync("package-lock.json", JSON.stringify(lock, null, 2) + "\n");'
! grep -n '://' package-lock.json
