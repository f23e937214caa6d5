#!/bin/sh
# try_deb.sh FOLDER NEXT: in a mount namespace of its own, copy this system by an overlay, and in the copy install
# the packages of FOLDER, run their tests, upgrade to the package NEXT, remove and purge.
set -eu
folder=$(cd "$1" && pwd)
next=$(readlink -f "$2")
copy=/tmp/posenc-copy
sets=/var/lib/private/posenc/sets

if [ -z "${INSIDE:-}" ]; then
    mkdir -p "$copy"
    mount -t tmpfs tmpfs "$copy"
    mkdir "$copy/changes" "$copy/work" "$copy/root"
    # the packages and the tests may lie on another file system than /
    mkdir "$copy/given"
    cp "$folder"/*.deb "$copy/given/"
    cp "$next" "$copy/given/next"
    cp -r docker/debian/tests "$copy/given/tests"
    cp --parents lib/README.md "$0" "$copy/given/"
    mount -t overlay overlay -o "lowerdir=/,upperdir=$copy/changes,workdir=$copy/work" "$copy/root" || {
        echo "check-deb: the packages are not installed: this system mounts no overlay"
        exit 0
    }
    mkdir "$copy/root/given"
    mount --bind "$copy/given" "$copy/root/given"
    mount -t proc proc "$copy/root/proc"
    mount --rbind /dev "$copy/root/dev"
    INSIDE=1 exec chroot "$copy/root" sh -c "cd /given && sh $0 . next"
fi

fail() {
    echo "check-deb: $1" >&2
    exit 1
}
# what a started service would leave; there is no systemd here
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
export DEBIAN_FRONTEND=noninteractive
! dpkg -s posenc >/dev/null 2>&1 || dpkg --purge posenc

dpkg -i posenc_*.deb libposenc-dev_*.deb
getent passwd posenc >/dev/null || fail "there is no user posenc"
test -L /etc/systemd/system/multi-user.target.wants/posenc.service || fail "the service is not enabled"
test -L /etc/systemd/system/sockets.target.wants/posenc.socket || fail "the socket is not enabled"
sh tests/serve
sh tests/library

mkdir -p "$sets" /etc/systemd/system/posenc.service.d
ln -s private/posenc /var/lib/posenc
echo kept >"$sets/file"
echo '[Service]' >/etc/systemd/system/posenc.service.d/own.conf
dpkg -i next
grep -q kept "$sets/file" || fail "an upgrade lost the stored sets"
sh tests/serve
dpkg --remove posenc libposenc-dev
grep -q kept "$sets/file" || fail "removing the package lost the stored sets"
test ! -e /usr/bin/posenc-server || fail "the program is still there"
dpkg --purge posenc libposenc-dev
test ! -e /var/lib/posenc && test ! -L /var/lib/posenc && test ! -e /var/lib/private/posenc ||
    fail "purging kept the stored sets"
test -e /etc/systemd/system/posenc.service.d/own.conf || fail "purging removed the administrator's own settings"
left=$(find / -xdev \( -path /proc -o -path /given -o -path /dev \) -prune -o -newer /given/next -name '*posenc*' -print |
    grep -vE '^/(etc/systemd/system/posenc\.service\.d|given|tmp|var/log)' || true)
[ -z "$left" ] || fail "purging left $left"
echo "check-deb: installed, tried, upgraded, removed and purged"
