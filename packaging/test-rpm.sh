#!/bin/bash
# test-rpm.sh OUTPUT: builds the RPM packages and tries them in a scratch root: rpmlint, contents,
# permissions, rpm -V, edited configuration kept by an upgrade and left beside by a removal. Runs no
# scriptlets: project-actions has none, and those of project-actionsd are Fedora's macros.
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
daemon=$(echo "$output"/RPMS/x86_64/project-actionsd-[0-9]*.rpm)
rpmlint --strict --config "$here/rpm/rpmlint.toml" "$output"/SRPMS/*.rpm "$package" "$daemon" ||
  fail "rpmlint"
[ -z "$(rpm -qp --scripts "$package")" ] || fail "there are scriptlets"
for scriptlet in prein postin preun postun; do
  said=$(rpm -qp --queryformat "%{$scriptlet}" "$daemon")
  [ "$said" != '(none)' ] || fail "project-actionsd has no %$scriptlet"
  ! grep '^ *%' <<<"$said" || fail "project-actionsd: a macro is left in %$scriptlet"
  sh -n <<<"$said" || fail "project-actionsd: %$scriptlet is no script"
done

contents() { # PACKAGE
  rpm -qp --queryformat \
    '[%{FILEMODES:perms} %{FILEUSERNAME} %{FILEGROUPNAME} %{FILENAMES}\n]' "$1" |
    sed 's/\.gz$//; s/\.build-id.*/.build-id/' | sort -u
}
contents "$package" >"$output/contents"
contents "$daemon" >"$output/contents-daemon"
has() { # CONTENTS; each line of standard input is a file with its rights
  local line
  while read -r line; do
    grep -qxF -e "$line" "$1" || fail "not in the package, or with other rights: $line"
  done
}
has "$output/contents" <<'END'
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
# The directories that systemd-tmpfiles makes are in no payload.
has "$output/contents-daemon" <<'END'
-rwxr-xr-x root root /usr/sbin/project-actionsd
-rw-r--r-- root root /usr/share/man/man8/project-actionsd.8
-rw-r--r-- root root /usr/share/man/man5/project-actions-tenant.5
-rw-r--r-- root root /usr/share/doc/project-actionsd/daemon.md
-rw-r--r-- root root /usr/share/doc/project-actionsd/examples/front-door-tls.conf
-rw-r--r-- root root /usr/share/doc/project-actionsd/examples/nginx-tls.conf
-rw-r--r-- root root /usr/share/doc/project-actionsd/examples/haproxy-tls.cfg
-rw-r--r-- root root /etc/project-actions/nginx.conf
drwxr-xr-x root root /etc/project-actions/nginx.d
drwxr-x--x root project-actionsd /etc/project-actions/tenants
drwxr-x--- root project-actions /run/project-actions
-rw-r--r-- root root /usr/lib/systemd/system/project-actions-.slice.d/10-tenants.conf
-rw-r--r-- root root /usr/lib/systemd/system/project-actions-nginx.service
-rw-r--r-- root root /usr/lib/systemd/system/project-actions@.service
-rw-r--r-- root root /usr/lib/systemd/system/project-actions@.socket
-rw-r--r-- root root /usr/lib/systemd/system/project-actionsd.service
-rw-r--r-- root root /usr/lib/systemd/system/project-actionsd.socket
-rw-r--r-- root root /usr/lib/sysusers.d/project-actionsd.conf
-rw-r--r-- root root /usr/lib/tmpfiles.d/project-actionsd.conf
END
! grep -hvE '^(drwxr-xr-x|-rw-r--r--|-rwxr-xr-x|lrwxrwxrwx) root root ' "$output"/contents* |
  grep -vE '^drwxr-x--[x-] root project-actionsd? /(etc/project-actions/tenants|run/[a-z-]+)$' ||
  fail "strange rights"
[ "$(rpm -qp --configfiles "$package")" = /etc/project-actions/policy.yaml ] ||
  fail "policy.yaml is not configuration"
[ "$(rpm -qp --configfiles "$daemon")" = /etc/project-actions/nginx.conf ] ||
  fail "nginx.conf is not configuration"

root="$output/root"
rm -rf "$root"
mkdir "$root"
in_root() { rpm --root "$root" --nodeps --noscripts "$@"; }
in_root --install "$package" "$daemon"
in_root --verify project-actions project-actionsd || fail "rpm -V after the installation"
etc="$root/etc/project-actions"
echo 'network: none' >>"$etc/policy.yaml"
echo '# edited' >>"$etc/nginx.conf"
[ "$(in_root --verify project-actions project-actionsd | cut -c 10- | sort)" = \
  "  c /etc/project-actions/nginx.conf
  c /etc/project-actions/policy.yaml" ] || fail "rpm -V does not see the edits"
# The same packages once more, as newer ones would come.
in_root --upgrade --force "$package" "$daemon"
grep -qx 'network: none' "$etc/policy.yaml" || fail "an upgrade lost the policy's edit"
grep -qx '# edited' "$etc/nginx.conf" || fail "an upgrade lost nginx.conf's edit"
in_root --erase project-actions project-actionsd
grep -qx 'network: none' "$etc/policy.yaml.rpmsave" || fail "a removal lost the policy's edit"
grep -qx '# edited' "$etc/nginx.conf.rpmsave" || fail "a removal lost nginx.conf's edit"
[ -z "$(find "$root" -name '*project-actions*' ! -path '*/var/lib/rpm*' \
  ! -path '*/etc/project-actions')" ] || fail "files stay behind"

echo "test-rpm: $failures failures"
[ $failures = 0 ]
