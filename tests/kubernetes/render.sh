#!/bin/sh
# render.sh FOLDER: whether kubectl builds the overlays, where there is a kubectl that can.
set -eu
if ! kubectl kustomize --help >/dev/null 2>&1; then
    echo "kubernetes: the overlays are not rendered, since kubectl is not installed"
    exit 0
fi
for overlay in fleet sidecar; do
    objects=$(kubectl kustomize "$1/$overlay" | grep -c '^kind:')
    echo "kubernetes: kubectl renders $objects objects of $overlay"
done
