#!/bin/bash
# test-rpm.sh OUTPUT: builds the RPM packages and tries them in a scratch root: rpmlint, contents,
# permissions, rpm -V, an edited policy kept by an upgrade and left beside by a removal. Runs no
# scriptlets; there are none.
set -eu

mkdir -p "$1"
output=$(cd "$1" && pwd)
here=$(dirname "$(realpath "$0")")
failures=0
fail() { echo "FAILED: $*"; failures=$((failures + 1)); }

echo "building in $output"
"$here/build-rpm.sh" "$output" --define "_smp_build_ncpus ${JOBS:-$(nproc)}" \
  >"$output/build.log" 2>&1 ||
  { tail -n 30 "$output/build.log"; exit 1; }
package=$(echo "$output"/RPMS/x86_64/project-actions-[0-9]*.rpm)
rpmlint --strict --config "$here/rpm/rpmlint.toml" "$output"/SRPMS/*.rpm "$package" ||
  fail "rpmlint"
[ -z "$(rpm -qp --scripts "$package")" ] || fail "there are scriptlets"

rpm -qp --queryformat '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILENAMES}\n]' \
  "$package" | sed 's/\.gz$//; s/\.build-id.*/.build-id/' | sort -u >"$output/contents"
while read -r line; do
  grep -qxF -e "$line" "$output/contents" || fail "not in the package, or with other rights: $line"
done <<'END'
-rwxr-xr-x root root /usr/bin/project-actions
-rwxr-xr-x root root /usr/libexec/project-actions/project-actions-worker
drwxr-xr-x root root /etc/project-actions
-rw-r--r-- root root /etc/project-actions/policy.yaml
drwxr-xr-x root root /etc/project-actions/jwks
drwxr-xr-x root root /var/lib/project-actions/jwks
-rw-r--r-- root root /usr/lib/systemd/system/project-actions-jwks@.service
-rw-r--r-- root root /usr/lib/systemd/system/project-actions-jwks@.timer
-rw-r--r-- root root /usr/share/project-actions/policy.schema.json
-rw-r--r-- root root /usr/share/man/man1/project-actions.1
END
! grep -vE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root root ' "$output/contents" ||
  fail "strange rights"
[ "$(rpm -qp --configfiles "$package")" = /etc/project-actions/policy.yaml ] ||
  fail "policy.yaml is not configuration"

root="$output/root"
rm -rf "$root"
mkdir "$root"
in_root() { rpm --root "$root" --nodeps --noscripts "$@"; }
in_root --install "$package"
in_root --verify project-actions || fail "rpm -V after the installation"
policy="$root/etc/project-actions/policy.yaml"
echo 'network: none' >>"$policy"
[ "$(in_root --verify project-actions | cut -c 10-)" = '  c /etc/project-actions/policy.yaml' ] ||
  fail "rpm -V does not see the edit"
# The same package once more, as a newer one would come.
in_root --upgrade --force "$package"
grep -qx 'network: none' "$policy" || fail "an upgrade lost the edit"
in_root --erase project-actions
grep -qx 'network: none' "$policy.rpmsave" || fail "a removal lost the edit"
[ -z "$(find "$root" -name '*project-actions*' ! -path '*/var/lib/rpm*' \
  ! -path '*/etc/project-actions')" ] || fail "files stay behind"

echo "test-rpm: $failures failures"
[ $failures = 0 ]
