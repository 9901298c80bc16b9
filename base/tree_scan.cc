#include "base/tree_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/directory_reader.h"

namespace pa {
namespace {

using std::chrono::steady_clock;

constexpr int kDirectory = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

// As the entry says, or where the file system leaves that open, as the inode does.
unsigned char TypeOf(int directory, const DirectoryReader::Entry& entry) {
  struct stat status{};
  if (entry.type != DT_UNKNOWN) return entry.type;
  if (fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

}  // namespace

struct TreeScan::Progress {
  const ScanLimits& limits;
  ScannedTree tree = {};
  std::size_t entries = 0;
  int depth = 0;
  steady_clock::time_point end = steady_clock::now() + limits.time;
};

ScannedTree TreeScan::Look(int root_fd, const ScanLimits& limits) {
  Progress progress{.limits = limits};
  Visit(root_fd, root_, "", progress);
  return std::move(progress.tree);
}

// The names in the open directory. Its stamp is taken before they are read: what comes in between moves it.
bool TreeScan::Read(int fd, Directory& directory, Progress& progress) const {
  struct stat status{};
  if (fstat(fd, &status) != 0) return false;
  directory.stamp = StampOf(status);
  directory.settled = directory.stamp.Settled();
  std::vector<Directory> known = std::exchange(directory.below, {});
  directory.found.clear();
  DirectoryReader reader(fd);
  while (const auto entry = reader.Next()) {
    ++progress.entries;
    const Interest interest = chooser_(entry->name);
    const bool may_be_directory = entry->type == DT_DIR || entry->type == DT_UNKNOWN;
    if (interest == Interest::kNone && !may_be_directory) continue;
    const unsigned char type = TypeOf(fd, *entry);
    if (interest != Interest::kNone) directory.found.push_back({"", entry->name, type});
    if (type != DT_DIR || interest == Interest::kLeaf) continue;
    const auto at =
        std::ranges::lower_bound(known, std::string_view(entry->name), {},
                                 [](const Directory& one) -> std::string_view { return one.name; });
    const bool is_known = at != known.end() && at->name == entry->name;
    directory.below.push_back(is_known ? std::move(*at) : Directory{.name = entry->name});
    if (is_known) at->name = entry->name;  // what was moved from keeps the order
  }
  std::ranges::sort(directory.below, {}, &Directory::name);
  std::ranges::sort(directory.found, {}, &ScannedName::name);
  directory.settled = directory.settled && !reader.failed();
  ++progress.tree.read;
  return !reader.failed();
}

// The limit that has been reached; "" for none.
std::string TreeScan::Exceeded(const Progress& progress, const std::string& path) {
  const ScanLimits& limits = progress.limits;
  if (progress.tree.directories >= limits.directories) {
    return std::to_string(limits.directories) + " directories";
  }
  if (progress.entries >= limits.entries) return std::to_string(limits.entries) + " entries";
  if (progress.depth >= limits.depth) return std::to_string(limits.depth) + " levels, in " + path;
  const bool in_time = steady_clock::now() < progress.end;
  return in_time ? "" : std::to_string(limits.time.count()) + " ms";
}

// Whether it is as it was when it was read. Opens it where there is something beneath it to be looked at.
bool TreeScan::Unchanged(int parent, const Directory& directory, UniqueFd& fd) {
  struct stat status{};
  const char* name = directory.name.c_str();
  if (!directory.settled) return false;
  if (directory.below.empty()) {
    return fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           StampOf(status) == directory.stamp;
  }
  fd = UniqueFd(openat(parent, name, O_PATH | kDirectory));
  return fd && fstat(fd.get(), &status) == 0 && StampOf(status) == directory.stamp;
}

void TreeScan::Visit(int parent, Directory& directory, const std::string& path,
                     Progress& progress) const {
  ScannedTree& tree = progress.tree;
  if (tree.exceeded.empty()) tree.exceeded = Exceeded(progress, path);
  if (!tree.exceeded.empty()) return;
  ++tree.directories;
  UniqueFd fd;
  if (!Unchanged(parent, directory, fd)) {
    fd = UniqueFd(openat(parent, directory.name.c_str(), O_RDONLY | kDirectory));
    const bool gone = !fd && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (gone) return;
    if (!fd || !Read(fd.get(), directory, progress)) {
      directory.settled = false;
      tree.unreadable.push_back(path);
    }
    if (!fd) return;
  }
  for (const ScannedName& found : directory.found) {
    tree.names.push_back({path, found.name, found.type});
  }
  ++progress.depth;
  for (Directory& below : directory.below) {
    Visit(fd.get(), below, path.empty() ? below.name : path + "/" + below.name, progress);
  }
  --progress.depth;
}

}  // namespace pa
