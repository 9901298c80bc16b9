#!/bin/bash
# image.sh BUILD OUTPUT: packs what a guest needs into an initrd, OUTPUT: the server, its workers
# and the test programs of BUILD beneath /build, and beneath /usr the programs of this machine that
# attempts, Makefiles and init.sh start.
set -eu

build=$(realpath "$1")
output=$2
here=$(dirname "$(realpath "$0")")
packages="bash coreutils dash debianutils diffutils findutils git grep hostname iproute2 make mawk
  mount procps ripgrep sed tar util-linux"

root=$(mktemp -d "${TMPDIR:-/tmp}/pa-image-XXXXXX")
trap 'rm -rf "$root"' EXIT
trap 'exit 130' INT TERM

chmod 755 "$root"
mkdir -p "$root"/{build,dev,etc,home/daemon,newroot,proc,root,run,srv,sys,tmp,var/tmp} \
  "$root"/usr/{bin,sbin,lib,lib64}
chmod 1777 "$root/tmp" "$root/var/tmp"
chmod 700 "$root/root"
for name in bin sbin lib lib64; do
  # As here, or the loader and what #! names would be looked for in vain.
  if [ -L "/$name" ]; then ln -s "usr/$name" "$root/$name"; else mkdir "$root/$name"; fi
done

# FILE, under the name by which it is known; where that is a link, its target takes its place.
copy() { [ -e "$root$1" ] || install -D "$(realpath "$1")" "$root$1"; }

copy_libraries() {
  for library in $(ldd "$1" 2>/dev/null |
    sed -n 's/^\(.* => \)\?[[:space:]]*\(\/[^ ]*\) (.*/\2/p'); do
    copy "$library"
  done
}

# Word splitting is meant: names of packages, and of files that have no blanks.
for program in $(dpkg-query -L $packages | grep -E '^(/usr)?/s?bin/.'); do
  copy "$program"
  copy_libraries "$program"
done
# Whichever the alternatives have chosen.
copy "$(type -P awk)"
copy_libraries "$(type -P awk)"
# All of git's own commands that anybody needs here are that one program under other names.
mkdir -p "$root$(git --exec-path)"
ln -s "$(type -P git)" "$root$(git --exec-path)/git"
# With the hooks' directory, into which attempts write.
mkdir -p "$root/usr/share/git-core"
cp -r /usr/share/git-core/templates "$root/usr/share/git-core/"

# Without their debugging information, which is nine tenths of them.
while read -r program; do
  mkdir -p "$root/build/$(dirname "$program")"
  strip --strip-debug -o "$root/build/$program" "$build/$program"
  copy_libraries "$build/$program"
done <<END
$(python3 "$here/guest_tests.py" programs "$build")
END
python3 "$here/guest_tests.py" functions "$build" /build >"$root/tests.sh"
while read -r data; do
  mkdir -p "$root/tree/$(dirname "$data")"
  cp -r "$here/../../$data" "$root/tree/$data"
done <<END
$(python3 "$here/guest_tests.py" data "$build")
END

# Those as whom tests run, and nobody, who is somebody else to them.
for name in root daemon nobody; do getent passwd $name; done >"$root/etc/passwd"
for name in root daemon nogroup; do getent group $name; done >"$root/etc/group"
echo 'root:*:19000:0:99999:7:::' >"$root/etc/shadow"
chmod 600 "$root/etc/shadow"
echo '127.0.0.1 localhost' >"$root/etc/hosts"
install "$here/init.sh" "$root/init"

(cd "$root" &&
  find . -print0 | cpio --quiet --null --create --format newc --owner 0:0) >"$output.new"
mv "$output.new" "$output"
