#include "policy/repositories_below.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <utility>

#include "base/path_stamp.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

// Where names have no case, `.GIT` is `.git`. `lower`: in small letters.
bool IsCalled(std::string_view name, std::string_view lower) {
  return std::ranges::equal(name, lower, [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == other;
  });
}
bool IsGit(std::string_view name) { return IsCalled(name, ".git"); }

// The rule of git's own (setup.c, is_git_directory), by names alone.
struct GitNames {
  bool head = false;
  bool common = false;
  bool objects = false;
  bool refs = false;

  bool Complete() const { return head && (common || (objects && refs)); }
};

RepositoryBelow::Kind KindOf(unsigned char type) {
  if (type == DT_DIR) return RepositoryBelow::Kind::kDirectory;
  return type == DT_REG ? RepositoryBelow::Kind::kLink : RepositoryBelow::Kind::kOther;
}

}  // namespace

Interest ChooseRepositoryNames(std::string_view name) {
  if (IsGit(name)) return Interest::kLeaf;
  constexpr std::string_view kOfBare[] = {"head", "commondir", "objects", "refs"};
  const bool bare =
      std::ranges::any_of(kOfBare, [&](std::string_view one) { return IsCalled(name, one); });
  return bare ? Interest::kReport : Interest::kNone;
}

Result<bool> IsGitDirectory(const std::string& directory) {
  std::optional<Error> error;
  const auto has = [&](const char* name) {
    const std::string path = directory + "/" + name;
    const PathStamp stamp = LookAt(path);
    if (stamp.error != 0 && !error) error = Error("lstat", path, stamp.error);
    return stamp.exists;
  };
  GitNames names{.head = has("HEAD")};
  if (names.head) {
    names.common = has("commondir");
    names.objects = has("objects");
    names.refs = has("refs");
  }
  if (error) return std::unexpected(*std::move(error));
  return names.Complete();
}

// A repository lies in the directory that holds its bare one, or a working tree right in the bare
// one: both are usual.
Result<bool> LiesInGitDirectory(const std::string& top, const std::string& path) {
  for (std::string at = path; IsBeneath(at, top); at.resize(at.rfind('/'))) {
    const PathStamp stamp = LookAt(at);
    if (stamp.error != 0) return std::unexpected(Error("lstat", at, stamp.error));
    // Nothing lies in it. A symlink does not lie where it leads, perhaps in a circle.
    if (!stamp.IsDirectory()) continue;
    const Result<bool> is = IsGitDirectory(at);
    if (!is || *is) return is;
    const PathStamp link = LookAt(at + "/.git");
    if (link.error != 0) return std::unexpected(Error("lstat", at + "/.git", link.error));
    if (link.exists || at == top) return false;
  }
  return false;
}

std::vector<RepositoryBelow> RepositoriesAround(const std::string& directory,
                                                const std::string& file) {
  std::vector<RepositoryBelow> found;
  for (std::size_t slash = file.rfind('/'); slash != std::string::npos && slash > directory.size();
       slash = file.rfind('/', slash - 1)) {
    const std::string holder = file.substr(0, slash);
    const std::string path = holder + "/.git";
    const PathStamp stamp = LookAt(path);
    const RepositoryBelow::Kind kind = KindOf(static_cast<unsigned char>(IFTODT(stamp.mode)));
    if (!stamp.IsAbsent()) found.push_back({.path = path, .kind = kind});
    if (stamp.error == 0 && IsGitDirectory(holder).value_or(true)) {
      found.push_back({.path = holder, .kind = RepositoryBelow::Kind::kBare});
    }
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<RepositoryBelow> RepositoriesBelow(ScannedTree& tree, const std::string& directory) {
  std::vector<RepositoryBelow> found;
  const auto add = [&](const std::string& here, const std::string& path,
                       RepositoryBelow::Kind kind) {
    auto one = Identify(path, kind);
    if (!one) tree.unreadable.push_back(here);
    if (one && *one) found.push_back(**std::move(one));
  };
  for (auto at = tree.names.begin(); at != tree.names.end();) {
    const std::string& here = at->directory;
    const std::string absolute = directory + (here.empty() ? "" : "/" + here);
    GitNames names;
    for (; at != tree.names.end() && at->directory == here; ++at) {
      names.head = names.head || IsCalled(at->name, "head");
      names.common = names.common || IsCalled(at->name, "commondir");
      names.objects = names.objects || IsCalled(at->name, "objects");
      names.refs = names.refs || IsCalled(at->name, "refs");
      const bool own = here.empty();  // the directory's own is looked after by itself
      if (!own && IsGit(at->name)) add(here, absolute + "/" + at->name, KindOf(at->type));
    }
    if (!here.empty() && names.Complete()) add(here, absolute, RepositoryBelow::Kind::kBare);
  }
  std::ranges::sort(found, {}, &RepositoryBelow::path);
  return found;
}

Result<std::optional<RepositoryBelow>> Identify(std::string path, RepositoryBelow::Kind kind) {
  constexpr std::size_t kRoom = 128;  // for paths of git's own in it
  if (path.size() + kRoom > PATH_MAX) {
    return std::unexpected(Error("statx", std::move(path), ENAMETOOLONG));
  }
  struct statx status{};
  if (statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) != 0) {
    if (MeansAbsent(errno)) return std::nullopt;
    return std::unexpected(Error("statx", std::move(path), errno));
  }
  constexpr int kMinorBits = 32;
  RepositoryBelow one{.path = std::move(path), .kind = kind};
  one.device = (std::uint64_t{status.stx_dev_major} << kMinorBits) | status.stx_dev_minor;
  one.inode = status.stx_ino;
  if ((status.stx_mask & STATX_BTIME) != 0) {
    one.born_ns = status.stx_btime.tv_sec * 1'000'000'000 + status.stx_btime.tv_nsec;
  }
  return one;
}

}  // namespace pa::policy
