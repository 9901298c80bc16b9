// To add a path: one line with its reason, as narrow as it works. A path that does not exist is
// skipped, so one table serves every distribution. `*` at the end of the last component matches any
// text.
//
// Never here, because a broad line would give it away also to commands that run as root:
//    /etc as a whole   shadow, gshadow, sudoers, ssh/ keys, ssl/private, krb5.keytab, machine-id,
//                      secrets of NetworkManager/ and wireguard/
//    /root, /home      the user's own: filesystem.read and filesystem.toolchains name parts of it
//    /tmp, /dev/shm    shared with everybody: each command has a private TMPDIR, and with
//                      namespaces a private /dev/shm; without them a program that needs /dev/shm
//                      (POSIX semaphores, locks of Python's multiprocessing) needs a policy that
//                      grants it
//    /run, /var        sockets of services, spools, databases
//    /dev/tty, pts     terminals of the user: text written there is typed or shown elsewhere; with
//                      namespaces a command has terminals of its own
#include "policy/system_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "policy/glob.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::kReadExecute;
using sandbox::PathGrant;

constexpr Access kRead = Access::kRead;
// With ioctl, which these devices answer harmlessly: isatty(3) shall say ENOTTY, not EACCES.
constexpr Access kDevice = Access::kRead | Access::kWrite | Access::kDevice;

struct SystemPath {
  const char* path;
  Access access;
  const char* reason;
};

constexpr SystemPath kSystemPaths[] = {
    // Programs and libraries, in the layouts of Debian, Ubuntu, Fedora, RHEL, SUSE, Arch and
    // Alpine.
    {"/usr", kReadExecute, "programs and libraries"},
    {"/bin", kReadExecute, "programs, where /usr is not merged"},
    {"/sbin", kReadExecute, "programs, where /usr is not merged"},
    {"/lib", kReadExecute, "libraries, where /usr is not merged"},
    {"/lib32", kReadExecute, "libraries, where /usr is not merged"},
    {"/lib64", kReadExecute, "the loader and libraries, where /usr is not merged"},
    {"/libx32", kReadExecute, "libraries, where /usr is not merged"},
    {"/opt", kReadExecute, "programs outside the distribution's packages"},
    {"/var/usrlocal", kReadExecute, "/usr/local of image-based Fedora"},
    {"/nix/store", kReadExecute, "every program of NixOS and nix"},
    {"/gnu/store", kReadExecute, "every program of Guix"},
    {"/snap", kReadExecute, "programs from snaps"},
    {"/home/linuxbrew/.linuxbrew", kReadExecute, "programs from Homebrew"},
    // Parts of /var that are libraries in all but name.
    {"/var/lib/ghc", kRead, "Haskell's package database on Debian"},
    {"/var/lib/gems", kReadExecute, "Ruby's system-wide packages"},
    {"/var/lib/texmf", kRead, "TeX's file database"},
    {"/var/cache/fontconfig", kRead, "fontconfig's cache"},
    // The loader.
    {"/etc/ld.so.cache", kRead, "where libraries are"},
    {"/etc/ld.so.conf", kRead, "where libraries are"},
    {"/etc/ld.so.conf.d", kRead, "where libraries are"},
    {"/etc/ld.so.preload", kRead, "the loader warns when it cannot read it"},
    {"/etc/ld-musl-*", kRead, "where libraries are, on Alpine"},
    // Users and names. passwd and group hold no secrets; shadow does.
    {"/etc/passwd", kRead, "names of users, homes and shells"},
    {"/etc/group", kRead, "names of groups"},
    {"/etc/nsswitch.conf", kRead, "where names are looked up"},
    {"/etc/hosts", kRead, "what localhost is"},
    {"/etc/host.conf", kRead, "how hosts are looked up"},
    {"/etc/hostname", kRead, "this machine's name"},
    {"/etc/services", kRead, "names of ports"},
    {"/etc/protocols", kRead, "names of protocols"},
    {"/etc/networks", kRead, "names of networks"},
    {"/etc/rpc", kRead, "names of services"},
    {"/etc/shells", kRead, "which shells there are"},
    // What system this is, where and when.
    {"/etc/os-release", kRead, "which distribution this is"},
    {"/etc/*-release", kRead, "which distribution this is"},
    {"/etc/*_version", kRead, "which distribution this is"},
    {"/etc/localtime", kRead, "the time zone"},
    {"/etc/timezone", kRead, "the time zone"},
    {"/etc/adjtime", kRead, "the time zone of the clock"},
    {"/etc/locale*", kRead, "the language"},
    {"/etc/default/locale", kRead, "the language"},
    {"/etc/alternatives", kRead, "which program a general name means"},
    // Trust in certificates: public parts only.
    {"/etc/ssl/certs", kRead, "certificate authorities"},
    {"/etc/ssl/cert.pem", kRead, "certificate authorities"},
    {"/etc/ssl/*.cnf", kRead, "OpenSSL's settings"},
    {"/etc/ssl/ca-bundle.pem", kRead, "certificate authorities"},
    {"/etc/ca-certificates", kRead, "certificate authorities"},
    {"/etc/ca-certificates.conf", kRead, "certificate authorities"},
    {"/etc/pki/tls/certs", kRead, "certificate authorities"},
    {"/etc/pki/tls/cert.pem", kRead, "certificate authorities"},
    {"/etc/pki/tls/*.cnf", kRead, "OpenSSL's settings"},
    {"/etc/pki/ca-trust/extracted", kRead, "certificate authorities"},
    {"/etc/pki/java", kRead, "certificate authorities"},
    {"/etc/crypto-policies", kRead, "which ciphers libraries use"},
    {"/etc/gnutls", kRead, "which ciphers libraries use"},
    // Settings of tools that builds run; each fails or warns without its own.
    {"/etc/gitconfig", kRead, "git's system-wide settings"},
    {"/etc/gitattributes", kRead, "git's system-wide settings"},
    {"/etc/profile", kRead, "login shells"},
    {"/etc/profile.d", kRead, "login shells"},
    {"/etc/bash.bashrc", kRead, "shells"},
    {"/etc/bashrc", kRead, "shells"},
    {"/etc/inputrc", kRead, "readline"},
    {"/etc/terminfo", kRead, "terminals"},
    {"/etc/magic*", kRead, "file(1)"},
    {"/etc/mime.types", kRead, "types of files"},
    {"/etc/papersize", kRead, "groff and TeX"},
    {"/etc/perl", kRead, "Perl's module path"},
    {"/etc/python*", kRead, "Python's sitecustomize"},
    {"/etc/java*", kRead, "Java's settings"},
    {"/etc/jvm*", kRead, "Java's settings"},
    {"/etc/maven", kRead, "Maven's settings"},
    {"/etc/php*", kRead, "PHP's settings"},
    {"/etc/R", kRead, "R's settings"},
    {"/etc/julia", kRead, "Julia's settings"},
    {"/etc/octave*", kRead, "Octave's settings"},
    {"/etc/ocamlfind.conf", kRead, "OCaml's packages"},
    {"/etc/dotnet", kRead, "where .NET is"},
    {"/etc/clang*", kRead, "clang's settings"},
    {"/etc/ccache.conf", kRead, "ccache's settings"},
    {"/etc/gdb", kRead, "gdb's settings"},
    {"/etc/rpm", kRead, "rpmbuild's macros"},
    {"/etc/dpkg", kRead, "dpkg-buildpackage's settings"},
    {"/etc/fonts", kRead, "fontconfig's settings"},
    {"/etc/texmf", kRead, "TeX's settings"},
    {"/etc/texlive*", kRead, "TeX's settings"},
    {"/etc/xml", kRead, "XML catalogues"},
    {"/etc/sgml", kRead, "SGML catalogues"},
    {"/etc/ImageMagick*", kRead, "ImageMagick's settings"},
    {"/etc/ghostscript", kRead, "Ghostscript's settings"},
    {"/etc/OpenCL", kRead, "which compute drivers there are"},
    // The kernel's own view. Landlock keeps the other processes' memory and environment shut.
    {"/proc", kRead, "the process's own state, and the kernel's settings"},
    {"/sys/devices/system/cpu", kRead, "how many processors there are"},
    {"/sys/devices/system/node", kRead, "how memory is laid out"},
    {"/sys/fs/cgroup", kRead, "which limits hold: Java, Go and node ask"},
    {"/sys/kernel/mm/transparent_hugepage", kRead, "allocators ask"},
    // Devices without state.
    {"/dev/null", kDevice, "device without state"},
    {"/dev/zero", kDevice, "device without state"},
    {"/dev/full", kDevice, "device without state"},
    {"/dev/random", kDevice, "random numbers"},
    {"/dev/urandom", kDevice, "random numbers"},
};

constexpr SystemPath kNetworkPaths[] = {
    {"/etc/resolv.conf", kRead, "which name servers there are"},
    {"/etc/gai.conf", kRead, "which addresses come first"},
    {"/etc/wgetrc", kRead, "wget fails without it"},
    {"/run/systemd/resolve/resolv.conf", kRead, "which name servers there are"},
    {"/run/systemd/resolve/stub-resolv.conf", kRead, "which name servers there are"},
    {"/run/NetworkManager/resolv.conf", kRead, "which name servers there are"},
    {"/run/resolvconf/resolv.conf", kRead, "which name servers there are"},
};

// The names in directories, each of which is read once: many lines of the table are about /etc.
class Names {
 public:
  const std::vector<std::string>& In(const std::string& directory) {
    const auto [entry, added] = read_.try_emplace(directory);
    if (!added) return entry->second;
    // No such directory, no such paths.
    if (auto names = ReadNames(directory)) entry->second = *std::move(names);
    return entry->second;
  }

 private:
  std::map<std::string, std::vector<std::string>> read_;
};

// The paths that a line of the table means here.
std::vector<std::string> Expand(const std::string& line, Names& names) {
  if (!line.contains('*')) return {line};
  const std::size_t slash = line.rfind('/');
  const std::string pattern = line.substr(slash + 1);
  std::vector<std::string> found;
  for (const std::string& name : names.In(line.substr(0, std::max(slash, std::size_t{1})))) {
    if (GlobMatch(pattern, name)) found.push_back(line.substr(0, slash + 1) + name);
  }
  return found;
}

// In /etc a file that others may not read is somebody's secret, whatever its name.
bool IsPublic(const std::string& path) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return false;
  return !path.starts_with("/etc/") || (status.st_mode & S_IROTH) != 0;
}

bool Covers(const PathGrant& broad, const PathGrant& narrow) {
  const auto bits = static_cast<unsigned>(narrow.access);
  return (static_cast<unsigned>(broad.access) & bits) == bits && IsBeneath(narrow.path, broad.path);
}

std::vector<PathGrant> Existing(std::span<const SystemPath> table) {
  std::vector<PathGrant> grants;
  Names names;
  for (const SystemPath& line : table) {
    for (const std::string& path : Expand(line.path, names)) {
      if (!IsPublic(path)) continue;
      PathGrant grant{.path = ResolvePath(path),
                      .access = line.access,
                      .reason = std::string("system: ") + line.reason,
                      .replaced = sandbox::Replaced::kRarely};
      const auto covered = [&](const PathGrant& other) { return Covers(other, grant); };
      if (std::ranges::none_of(grants, covered)) grants.push_back(std::move(grant));
    }
  }
  return grants;
}

}  // namespace

std::vector<PathGrant> SystemPaths() { return Existing(kSystemPaths); }
std::vector<PathGrant> NetworkPaths() { return Existing(kNetworkPaths); }

std::vector<std::string> SystemNames() {
  Names read;
  std::vector<std::string> names = Expand("/*", read);
  for (const std::span<const SystemPath> table :
       {std::span<const SystemPath>(kSystemPaths), std::span<const SystemPath>(kNetworkPaths)}) {
    for (const SystemPath& line : table) {
      for (std::string& path : Expand(line.path, read)) {
        std::error_code unreachable;
        if (std::filesystem::is_symlink(path, unreachable)) names.push_back(std::move(path));
      }
    }
  }
  return names;
}

}  // namespace pa::policy
