#!/bin/sh
# try_deb.sh FOLDER NEXT COPY: in a mount namespace of its own, mount a copy of this system at
# COPY, an overlay on memory, and there install the packages of FOLDER, run their tests, upgrade
# to the package NEXT, remove and purge.
set -eu

fail() {
    echo "check-deb: $1" >&2
    exit 1
}

if [ "$1" != --inside ]; then
    folder=$1 next=$2 copy=$3
    mkdir -p "$copy"
    mount -t tmpfs tmpfs "$copy"
    mkdir "$copy/changes" "$copy/work" "$copy/root"
    layers=lowerdir=/,upperdir=$copy/changes,workdir=$copy/work
    mount -t overlay overlay -o "$layers" "$copy/root" || {
        echo "check-deb: the packages are not installed: this system mounts no overlay"
        exit 0
    }
    # FOLDER may lie on another file system than /, which the overlay has not
    given=$copy/root/given
    mkdir "$given"
    cp "$folder"/posenc_*.deb "$folder"/libposenc-dev_*.deb "$0" "$given"
    cp "$next" "$given/next"
    cp -r docker/debian/tests "$given"
    cp --parents lib/README.md "$given"
    mount -t proc proc "$copy/root/proc"
    mount --rbind /dev "$copy/root/dev"
    exec chroot "$copy/root" sh -c "cd /given && sh $(basename "$0") --inside"
fi

named() {
    find /etc /lib/systemd /usr /var -path /var/lib/containers -prune \
        -o -name '*posenc*' -print | LC_ALL=C sort
}
# there is no systemd here: nothing is started by installing
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
chmod 755 /usr/sbin/policy-rc.d
export DEBIAN_FRONTEND=noninteractive
! dpkg -s posenc >/dev/null 2>&1 || dpkg --purge posenc
before=$(named)
sets=/var/lib/private/posenc/sets # where systemd keeps what a service with DynamicUser stores

dpkg -i posenc_*.deb libposenc-dev_*.deb
getent passwd posenc >/dev/null || fail "there is no user posenc"
test -L /etc/systemd/system/multi-user.target.wants/posenc.service ||
    fail "the service is not enabled"
test -L /etc/systemd/system/sockets.target.wants/posenc.socket ||
    fail "the socket is not enabled"
sh tests/serve
sh tests/command
sh tests/library

mkdir -p "$sets"
ln -s private/posenc /var/lib/posenc
echo kept >"$sets/file"
dpkg -i next
grep -q kept "$sets/file" || fail "an upgrade lost the sets"
sh tests/serve
dpkg --remove posenc libposenc-dev
grep -q kept "$sets/file" || fail "removing the package lost the sets"
test ! -e /usr/bin/posenc-server || fail "removing the package kept the program"
test ! -e /usr/bin/posenc || fail "removing the package kept the command"
dpkg --purge posenc libposenc-dev
[ "$(named)" = "$before" ] || fail "purging left $(named)"
echo "check-deb: installed, tried, upgraded, removed and purged"
