#!/bin/sh
# Installs what is missing for one or more groups of work, from the distribution, by package name.
#
#   packaging/install-deps.sh [GROUP...]   # none: build
#
# The groups: build, lint, bench, clients, toolchains, tenants, machine, kernels, package.
#
# Asks nothing and says what it installs; installs nothing that is there already, and of
# PACKAGE=PROGRAM nothing if there is such a program from elsewhere (npm comes with other people's
# nodejs). Without the right to install it prints the command for someone who has it and fails.
# Debian's names are tried, Fedora's read.
set -eu

# Debian 13 and later have a library, others the sources of one.
debian_llhttp() {
  if apt-cache show libllhttp-dev >/dev/null 2>&1; then echo libllhttp-dev; else echo node-llhttp; fi
}

debian_packages() {
  case $1 in
    build) echo "g++ meson ninja-build pkg-config libuv1-dev libsimdjson-dev libyaml-cpp-dev" \
      "libseccomp-dev nettle-dev libgmp-dev libfmt-dev libspdlog-dev libcli11-dev libgtest-dev" \
      "nlohmann-json3-dev musl-tools libtomlplusplus-dev git make ripgrep btrfs-progs" \
      "scdoc mandoc zsh fish jq $(debian_llhttp)" ;;
    lint) echo "clang-19 clang-tidy-19 clang-format-19 libclang-rt-19-dev" ;;
    bench) echo "bubblewrap dpkg-dev" ;;
    clients) echo "nodejs npm=npm" ;;
    toolchains) echo "gcc make g++ cmake python3-venv python3-pytest nodejs=node npm=npm cargo" \
      "rustc golang-go default-jdk-headless maven libmaven-compiler-plugin-java" \
      "libmaven-resources-plugin-java libsurefire-java junit4 debian-archive-keyring meson" \
      "autoconf automake libtool flex bison xkb-data libxml2-dev libxml2-utils python3-markupsafe" \
      "librust-semver-dev librust-serde-dev perl tcl tcl-dev bundler rake ruby-minitest" \
      "texlive-latex-base gdb libevent-dev libncurses-dev libwww-perl libtest-needs-perl" \
      "golang-golang-x-sys-dev git-lfs pre-commit python3-setuptools-scm" ;;
    tenants) echo "nginx haproxy openssl" ;;
    machine) echo "mmdebstrap systemd-container procps" ;;
    # What boots the guests, and what tests/kernels/image.sh puts into them beside what is
    # essential.
    kernels) echo "qemu-system-x86 debian-archive-keyring cpio binutils python3 hostname iproute2" \
      "mawk mount procps" ;;
    package) echo "debhelper dh-apparmor dpkg-dev lintian blhc debootstrap autopkgtest piuparts" \
      "rpm rpmlint elfutils xz-utils systemd" ;;
    *)
      echo "install-deps.sh: no group '$1'" \
        "(build, lint, bench, clients, toolchains, tenants, machine, kernels, package)" >&2
      return 1 ;;
  esac
}

fedora_packages() {
  case $1 in
    build) echo "gcc-c++ meson ninja-build pkgconf-pkg-config libuv-devel simdjson-devel" \
      "yaml-cpp-devel libseccomp-devel nettle-devel gmp-devel fmt-devel spdlog-devel cli11-devel" \
      "gtest-devel json-devel musl-gcc musl-libc-static glibc-static libstdc++-static git make" \
      "ripgrep util-linux btrfs-progs tomlplusplus-devel scdoc mandoc zsh fish jq llhttp-devel" ;;
    lint) echo "clang clang-tools-extra compiler-rt" ;;
    bench) echo "bubblewrap rpm-build" ;;
    clients) echo "nodejs npm=npm" ;;
    toolchains) echo "gcc make gcc-c++ cmake python3 python3-pytest nodejs=node npm=npm cargo" \
      "rust golang java-devel maven maven-compiler-plugin maven-resources-plugin" \
      "maven-surefire-plugin maven-surefire-provider-junit4 junit git-lfs pre-commit" \
      "python3-setuptools_scm" ;;
    tenants) echo "nginx haproxy openssl" ;;
    machine) echo "mmdebstrap systemd-container procps-ng" ;;
    kernels)
      echo "install-deps.sh: the guests are made of Debian's packages, on Debian" >&2
      return 1 ;;
    package) echo "rpm-build rpmlint xz" ;;
    *)
      echo "install-deps.sh: no group '$1'" \
        "(build, lint, bench, clients, toolchains, package)" >&2
      return 1 ;;
  esac
}

debian_has() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }
fedora_has() { rpm -q --quiet --whatprovides "$1" 2>/dev/null; }

if command -v apt-get >/dev/null; then
  family=debian
  advice="apt-get install --no-install-recommends"
  install="env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300"
  install="$install install -y --no-install-recommends"
elif command -v dnf >/dev/null; then
  family=fedora
  advice="dnf install"
  install="dnf install -y --setopt=install_weak_deps=False"
else
  echo "install-deps.sh: neither apt-get nor dnf here;" \
    "install by hand what meson.build asks for," >&2
  echo "then run make with DEPS=: to skip this step" >&2
  exit 1
fi

[ $# -gt 0 ] || set -- build
missing=
for group in "$@"; do
  packages=$("${family}_packages" "$group")
  for package in $packages; do
    case $package in *=*) ! command -v "${package#*=}" >/dev/null || continue ;; esac
    package=${package%=*}
    "${family}_has" "$package" || missing="$missing $package"
  done
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
  if ! sudo -n true 2>/dev/null; then
    {
      echo "Some packages are missing, and only root may install them." \
        "Run this, then again what you ran:"
      echo "    sudo $advice$missing"
      echo "(With DEPS=: make does not check packages.)"
    } >&2
    exit 1
  fi
  as_root="sudo -n"
fi

echo "installing:$missing"
# Word splitting of the three variables is meant: they are lists of plain words.
[ $family != debian ] || $as_root apt-get -q -o DPkg::Lock::Timeout=300 update
$as_root $install $missing
