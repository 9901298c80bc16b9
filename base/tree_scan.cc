#include "base/tree_scan.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <utility>

#include "base/directory_reader.h"
#include "base/proc_path.h"

namespace pa {
namespace {

using std::chrono::steady_clock;

constexpr int kDirectory = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr std::size_t kStepsAtOnce = 64;  // between two looks at the clock within a directory

// As the entry says, or where the file system leaves that open, as the inode does.
unsigned char TypeOf(int directory, const DirectoryReader::Entry& entry) {
  struct stat status{};
  if (entry.type != DT_UNKNOWN) return entry.type;
  if (fstatat(directory, entry.name, &status, AT_SYMLINK_NOFOLLOW) != 0) return DT_UNKNOWN;
  return static_cast<unsigned char>(IFTODT(status.st_mode));
}

// A directory, open to be read and passed. Commands can close one behind themselves, and git goes
// there once it is open again.
class Opened {
 public:
  Opened() = default;
  Opened(int parent, const char* name);
  ~Opened() {
    if (closed_) SetMode(fd.get(), mode_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  bool closed() const { return closed_; }

  UniqueFd fd;

 private:
  static bool SetMode(int fd, mode_t mode) { return chmod(ProcPath(fd).c_str(), mode) == 0; }

  bool closed_ = false;
  mode_t mode_ = 0;
};

Opened::Opened(int parent, const char* name) : fd(openat(parent, name, O_RDONLY | kDirectory)) {
  constexpr mode_t kLook = S_IRUSR | S_IXUSR;
  constexpr mode_t kPermissions = 07777;
  if (!fd && errno != EACCES) return;
  const bool readable = static_cast<bool>(fd);
  if (!readable) fd = UniqueFd(openat(parent, name, O_PATH | kDirectory));
  struct stat status{};
  if (!fd || fstat(fd.get(), &status) != 0) return;
  mode_ = status.st_mode & kPermissions;
  closed_ =
      (mode_ & kLook) != kLook && status.st_uid == geteuid() && SetMode(fd.get(), mode_ | kLook);
  if (readable) return;
  UniqueFd again(open(ProcPath(fd.get()).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const int error = errno;
  if (!again && closed_) closed_ = !SetMode(fd.get(), mode_);
  fd = std::move(again);
  errno = error;
}

}  // namespace

struct TreeScan::Progress {
  const ScanLimits& limits;
  ScannedTree tree = {};
  std::size_t known = 1;  // directories: looked at, or to be looked at
  std::size_t entries = 0;
  std::size_t bytes = 0;
  std::size_t steps = 0;
  int depth = 0;
  steady_clock::time_point end = steady_clock::now() + limits.time;

  // Whether a limit has been reached, which ends the look.
  bool Ended() {
    if (!tree.exceeded.empty()) return true;
    if (known > limits.directories) {
      tree.exceeded = std::to_string(limits.directories) + " directories";
    } else if (entries > limits.entries) {
      tree.exceeded = std::to_string(limits.entries) + " entries";
    } else if (bytes > limits.bytes) {
      tree.exceeded = std::to_string(limits.bytes) + " bytes of names";
    } else if (limits.given_up != nullptr && limits.given_up->load(std::memory_order_relaxed)) {
      tree.exceeded = "the search was cancelled";
    } else if (steps++ % kStepsAtOnce == 0 && steady_clock::now() >= end) {
      tree.exceeded = std::to_string(limits.time.count()) + " ms";
    }
    return !tree.exceeded.empty();
  }
};

ScannedTree TreeScan::Look(int root_fd, const ScanLimits& limits) {
  Progress progress{.limits = limits};
  Visit(root_fd, root_, "", progress);
  return std::move(progress.tree);
}

// The names in the open directory. Its stamp is taken before they are read: what comes in between
// moves it.
bool TreeScan::Read(int fd, Directory& directory, Progress& progress) const {
  struct stat status{};
  if (fstat(fd, &status) != 0) return false;
  directory.stamp = StampOf(status);
  directory.settled = directory.stamp.Settled();
  std::vector<Directory> known = std::exchange(directory.below, {});
  directory.found.clear();
  DirectoryReader reader(fd);
  bool ended = false;
  while (const auto entry = reader.Next()) {
    ++progress.entries;
    ended = progress.Ended();
    if (ended) break;
    const Interest interest = chooser_(entry->name);
    const bool may_be_directory = entry->type == DT_DIR || entry->type == DT_UNKNOWN;
    if (interest == Interest::kNone && !may_be_directory) continue;
    const unsigned char type = TypeOf(fd, *entry);
    if (interest != Interest::kNone) directory.found.push_back({"", entry->name, type});
    if (type != DT_DIR || interest == Interest::kLeaf) continue;
    ++progress.known;
    const auto at =
        std::ranges::lower_bound(known, std::string_view(entry->name), {},
                                 [](const Directory& one) -> std::string_view { return one.name; });
    const bool is_known = at != known.end() && at->name == entry->name;
    directory.below.push_back(is_known ? std::move(*at) : Directory{.name = entry->name});
    if (is_known) at->name = entry->name;  // what was moved from keeps the order
  }
  std::ranges::sort(directory.below, {}, &Directory::name);
  std::ranges::sort(directory.found, {}, &ScannedName::name);
  directory.settled = directory.settled && !reader.failed() && !ended;
  if (ended) KeepUnread(directory, std::move(known));
  ++progress.tree.read;
  return !reader.failed();
}

// Whoever reads it to its end need not read anew what is beneath.
void TreeScan::KeepUnread(Directory& directory, std::vector<Directory> known) {
  const auto read = static_cast<std::ptrdiff_t>(directory.below.size());
  for (Directory& one : known) {
    const auto end = directory.below.begin() + read;
    if (std::ranges::binary_search(directory.below.begin(), end, one.name, {}, &Directory::name)) {
      continue;
    }
    directory.below.push_back(std::move(one));
  }
  std::ranges::sort(directory.below, {}, &Directory::name);
}

// Whether it is as it was when it was read. Opens it where there is something beneath it to be
// looked at.
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
  progress.steps = 0;  // each directory is a wait for the disk
  if (progress.Ended()) return;
  // Deeper than can be looked at is one branch, and a command can make it: the look goes on in the
  // others.
  if (progress.depth >= progress.limits.depth || path.size() >= PATH_MAX) {
    if (tree.deeper.empty()) tree.deeper = path;
    return;
  }
  ++tree.directories;
  UniqueFd passed;
  std::optional<Opened> opened;
  if (Unchanged(parent, directory, passed)) {
    progress.known += directory.below.size();
  } else {
    opened.emplace(parent, directory.name.c_str());
    const bool gone = !opened->fd && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
    if (gone) return;
    if (!opened->fd || !Read(opened->fd.get(), directory, progress)) {
      directory.settled = false;
      progress.bytes += path.size();
      tree.unreadable.push_back(path);
    }
    if (!opened->fd) return;
    if (opened->closed()) {
      progress.bytes += path.size();
      tree.closed.push_back(path);
    }
  }
  for (const ScannedName& found : directory.found) {
    progress.bytes += sizeof(found) + path.size() + found.name.size();
    if (progress.Ended()) return;
    tree.names.push_back({path, found.name, found.type});
  }
  const int fd = opened ? opened->fd.get() : passed.get();
  ++progress.depth;
  for (Directory& below : directory.below) {
    Visit(fd, below, path.empty() ? below.name : path + "/" + below.name, progress);
    if (!tree.exceeded.empty()) break;
  }
  --progress.depth;
}

}  // namespace pa
