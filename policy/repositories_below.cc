#include "policy/repositories_below.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/path_stamp.h"

namespace pa::policy {
namespace {

using Kind = RepositoryBelow::Kind;

// Where names have no case, `.GIT` is one.
bool IsGit(std::string_view name) {
  return std::ranges::equal(name, std::string_view(".git"), [](char one, char other) {
    return std::tolower(static_cast<unsigned char>(one)) == other;
  });
}

Kind KindOf(unsigned char type) {
  if (type == DT_DIR) return Kind::kDirectory;
  return type == DT_REG ? Kind::kLink : Kind::kOther;
}

// Nothing: it is gone in the meantime.
Result<std::optional<RepositoryBelow>> Identify(std::string path, Kind kind) {
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

}  // namespace

Interest ChooseRepositoryNames(std::string_view name) {
  if (IsGit(name)) return Interest::kLeaf;
  constexpr std::string_view kOfBare[] = {"HEAD", "commondir", "objects", "refs"};
  const bool bare = std::ranges::find(kOfBare, name) != std::end(kOfBare);
  return bare ? Interest::kReport : Interest::kNone;
}

std::vector<RepositoryBelow> RepositoriesAround(const std::string& directory,
                                                const std::string& file) {
  std::vector<RepositoryBelow> found;
  for (std::size_t slash = file.rfind('/'); slash != std::string::npos && slash > directory.size();
       slash = file.rfind('/', slash - 1)) {
    const std::string path = file.substr(0, slash) + "/.git";
    const PathStamp stamp = LookAt(path);
    const Kind kind = KindOf(static_cast<unsigned char>(IFTODT(stamp.mode)));
    if (!stamp.IsAbsent()) found.push_back({.path = path, .kind = kind});
  }
  std::ranges::reverse(found);
  return found;
}

std::vector<RepositoryBelow> RepositoriesBelow(ScannedTree& tree, const std::string& directory) {
  std::vector<RepositoryBelow> found;
  const auto add = [&](const std::string& here, const std::string& path, Kind kind) {
    auto one = Identify(path, kind);
    if (!one) tree.unreadable.push_back(here);
    if (one && *one) found.push_back(**std::move(one));
  };
  for (auto at = tree.names.begin(); at != tree.names.end();) {
    const std::string& here = at->directory;
    const std::string absolute = directory + (here.empty() ? "" : "/" + here);
    bool head = false, common = false, objects = false, refs = false;
    for (; at != tree.names.end() && at->directory == here; ++at) {
      head = head || at->name == "HEAD";
      common = common || at->name == "commondir";
      objects = objects || at->name == "objects";
      refs = refs || at->name == "refs";
      const bool own = here.empty();  // the directory's own is looked after by itself
      if (!own && IsGit(at->name)) add(here, absolute + "/" + at->name, KindOf(at->type));
    }
    if (!here.empty() && head && (common || (objects && refs))) add(here, absolute, Kind::kBare);
  }
  std::ranges::sort(found, {}, &RepositoryBelow::path);
  return found;
}

}  // namespace pa::policy
