#include "base/tree_reader.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <map>
#include <utility>

#include "base/directory_reader.h"
#include "base/open_beneath.h"
#include "base/proc_path.h"
#include "base/unique_fd.h"

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

int DepthOf(std::string_view path) {
  return path.empty() ? 0 : static_cast<int>(std::ranges::count(path, '/')) + 1;
}

class Reader {
 public:
  Reader(NameChooser chooser, const ScanLimits& limits, std::size_t known)
      : chooser_(chooser), progress_(limits) {
    progress_.known = known;
  }

  void Read(int root, const ChangedDirectory& changed);
  ReadTree Take() { return std::move(tree_); }

 private:
  using Known = std::map<std::string_view, const PathStamp*>;

  void Visit(int parent, const char* name, const std::string& path, int depth, const Known& known);
  std::vector<std::string> Names(int fd, const Known& known, ReadDirectory& into);

  NameChooser chooser_;
  ScanProgress progress_;
  ReadTree tree_;
};

void Reader::Read(int root, const ChangedDirectory& changed) {
  Known known;
  for (const auto& [name, stamp] : changed.below) known.emplace(name, &stamp);
  if (changed.path.empty()) return Visit(root, ".", "", 0, known);
  const std::size_t slash = changed.path.rfind('/');
  const std::string above = slash == std::string::npos ? "." : changed.path.substr(0, slash);
  const UniqueFd parent = OpenPlain(root, above.c_str(), O_PATH | O_DIRECTORY);
  if (!parent) return;  // gone, or moved meanwhile: that is a change of what is above
  const std::string name = changed.path.substr(slash + 1);
  Visit(parent.get(), name.c_str(), changed.path, DepthOf(changed.path), known);
}

// Adds to `into`; returns the directories to be visited.
std::vector<std::string> Reader::Names(int fd, const Known& known, ReadDirectory& into) {
  std::vector<std::string> fresh;
  DirectoryReader reader(fd);
  while (const auto entry = reader.Next()) {
    ++progress_.entries;
    into.whole = !progress_.Ended(tree_.exceeded);
    if (!into.whole) break;
    const Interest interest = chooser_(entry->name);
    const bool may_be_directory = entry->type == DT_DIR || entry->type == DT_UNKNOWN;
    if (interest == Interest::kNone && !may_be_directory) continue;
    const unsigned char type = TypeOf(fd, *entry);
    if (interest != Interest::kNone) into.found.push_back({"", entry->name, type});
    if (type != DT_DIR || interest == Interest::kLeaf) continue;
    into.below.emplace_back(entry->name);
    const auto at = known.find(entry->name);
    const bool same = at != known.end() && LookAt(fd, entry->name) == *at->second;
    if (same) continue;
    if (at == known.end()) ++progress_.known;
    fresh.emplace_back(entry->name);
  }
  into.readable = !reader.failed();
  into.settled = into.settled && into.readable && into.whole;
  std::ranges::sort(into.below);
  std::ranges::sort(into.found, {}, &ScannedName::name);
  std::ranges::sort(fresh);
  return fresh;
}

// A stamp is taken before the names are read: what comes in between moves it.
void Reader::Visit(int parent, const char* name, const std::string& path, int depth,
                   const Known& known) {
  progress_.Enter();
  if (progress_.Ended(tree_.exceeded)) return;
  // Deeper than can be looked at is one branch, and a command can make it: the look goes on in the
  // others.
  if (progress_.TooDeep(path, depth)) {
    if (tree_.deeper.empty()) tree_.deeper = path;
    return;
  }
  const Opened opened(parent, name);
  const bool gone = !opened.fd && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP);
  if (gone) return;
  ReadDirectory directory{.path = path, .readable = false, .closed = opened.closed()};
  std::vector<std::string> fresh;
  struct stat status{};
  if (opened.fd && fstat(opened.fd.get(), &status) == 0) {
    directory.stamp = StampOf(status);
    directory.settled = directory.stamp.Settled();
    // Beneath a closed one nobody else could look.
    fresh = Names(opened.fd.get(), opened.closed() ? Known() : known, directory);
  }
  tree_.directories.push_back(std::move(directory));
  if (!opened.fd) return;
  for (const std::string& one : fresh) {
    const std::string below = path.empty() ? one : path + "/" + one;
    Visit(opened.fd.get(), one.c_str(), below, depth + 1, {});
    if (!tree_.exceeded.empty()) break;
  }
}

}  // namespace

bool ScanProgress::Ended(std::string& exceeded) {
  if (!exceeded.empty()) return true;
  if (known > limits_.directories) {
    exceeded = std::to_string(limits_.directories) + " directories";
  } else if (entries > limits_.entries) {
    exceeded = std::to_string(limits_.entries) + " entries";
  } else if (bytes > limits_.bytes) {
    exceeded = std::to_string(limits_.bytes) + " bytes of names";
  } else if (limits_.given_up != nullptr && limits_.given_up->load(std::memory_order_relaxed)) {
    exceeded = "the search was cancelled";
  } else if (steps_++ % kStepsAtOnce == 0 && steady_clock::now() >= end_) {
    exceeded = std::to_string(limits_.time.count()) + " ms";
  }
  return !exceeded.empty();
}

bool ScanProgress::TooDeep(std::string_view path, int depth) const {
  return depth >= limits_.depth || path.size() >= PATH_MAX;
}

ReadTree ReadDirectories(int root_fd, std::span<const ChangedDirectory> changed,
                         NameChooser chooser, const ScanLimits& limits, std::size_t known) {
  Reader reader(chooser, limits, known);
  for (const ChangedDirectory& one : changed) reader.Read(root_fd, one);
  return reader.Take();
}

}  // namespace pa
