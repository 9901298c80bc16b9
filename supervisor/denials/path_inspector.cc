#include "supervisor/denials/path_inspector.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/file_clock.h"
#include "policy/path.h"
#include "supervisor/run/full_file.h"

namespace pa {
namespace {

constexpr std::size_t kMaxMountinfo = 4u << 20;
constexpr int kMaxLinks = 16;

// Answered by the kernel and a disk; 9p and virtiofs by the host of this machine, which answers for
// all of its disks.
constexpr std::string_view kLocal[] = {
    "9p",     "bcachefs", "btrfs",   "cgroup2", "devtmpfs", "ecryptfs", "erofs",
    "exfat",  "ext2",     "ext3",    "ext4",    "f2fs",     "fuseblk",  "jfs",
    "nilfs2", "ntfs3",    "overlay", "ramfs",   "reiserfs", "rootfs",   "squashfs",
    "sysfs",  "tmpfs",    "udf",     "vfat",    "virtiofs", "xfs",      "zfs"};

bool IsLocal(std::string_view type) { return std::ranges::find(kLocal, type) != std::end(kLocal); }

// The field at the start of `line`, which loses it.
std::string_view TakeField(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view field = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return field;
}

// `\040` and the like.
std::string Unescaped(std::string_view field) {
  const auto octal = [&](std::size_t i) { return field[i] >= '0' && field[i] <= '7'; };
  std::string out;
  for (std::size_t i = 0; i < field.size(); ++i) {
    if (field[i] == '\\' && i + 3 < field.size() && octal(i + 1) && octal(i + 2) && octal(i + 3)) {
      out += static_cast<char>((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 +
                               (field[i + 3] - '0'));
      i += 3;
    } else {
      out += field[i];
    }
  }
  return out;
}

std::vector<Mount> PresentMounts() {
  const Result<std::string> text = ReadFile("/proc/self/mountinfo", kMaxMountinfo);
  return text ? ReadMounts(*text) : std::vector<Mount>();
}

// A path that is walked: what is done, and what is still to do.
struct Walk {
  std::string done;               // resolved; "" is the root
  std::vector<std::string> todo;  // the next component comes last
  int links = 0;

  void Add(const std::filesystem::path& path) {
    std::vector<std::string> components;
    for (const auto& component : path.relative_path()) components.push_back(component.string());
    todo.insert(todo.end(), components.rbegin(), components.rend());
  }
  std::string Take() {
    std::string component = std::move(todo.back());
    todo.pop_back();
    return component;
  }
  void Up() { done.erase(std::min(done.rfind('/'), done.size())); }
};

std::string Shown(const std::string& done) { return done.empty() ? "/" : done; }

FoundPath Missing(const Walk& walk, const std::string& component) {
  FoundPath place{.kind = FoundPath::Kind::kMissing,
                  .path = walk.done + '/' + component,
                  .directory = Shown(walk.done),
                  .beneath_missing = !walk.todo.empty()};
  for (auto rest = walk.todo.rbegin(); rest != walk.todo.rend(); ++rest) {
    if (*rest == "..") return {};  // means nothing where nothing is
    if (!rest->empty() && *rest != ".") place.path += '/' + *rest;
  }
  return place;
}

FoundPath Found(const std::string& path, const struct stat& info) {
  const mode_t mode = info.st_mode;
  FoundPath place{.kind = FoundPath::Kind::kOther, .path = Shown(path)};
  if (S_ISREG(mode)) {
    place.kind = FoundPath::Kind::kFile;
    place.size = static_cast<std::uint64_t>(info.st_size);
    place.changed = ChangedAt(info);
  }
  if (S_ISDIR(mode)) place.kind = FoundPath::Kind::kDirectory;
  place.directory = Shown(path.substr(0, std::min(path.rfind('/'), path.size())));
  return place;
}

// Makes what the link says the way to go. False: too many, or one that is none, as in /proc.
bool Follow(const std::string& link, Walk& walk) {
  std::string target(PATH_MAX, '\0');
  const ssize_t size = readlink(link.c_str(), target.data(), target.size());
  if (size <= 0 || size == PATH_MAX || ++walk.links > kMaxLinks) return false;
  target.resize(static_cast<std::size_t>(size));
  if (target.starts_with('/')) walk.done.clear();
  walk.Add(target);
  return true;
}

}  // namespace

std::vector<Mount> ReadMounts(std::string_view mountinfo) {
  std::vector<Mount> mounts;
  while (!mountinfo.empty()) {
    const std::size_t end = std::min(mountinfo.find('\n'), mountinfo.size());
    std::string_view line = mountinfo.substr(0, end);
    mountinfo.remove_prefix(std::min(end + 1, mountinfo.size()));
    for (int skipped = 0; skipped < 4; ++skipped) TakeField(line);  // ids, device, root
    Mount mount{.point = Unescaped(TakeField(line)), .type = ""};
    const std::size_t separator = line.find(" - ");
    if (separator == line.npos) continue;
    line.remove_prefix(separator + 3);
    mount.type = TakeField(line);
    mounts.push_back(std::move(mount));
  }
  return mounts;
}

FilePathInspector::FilePathInspector(std::string working_directory,
                                     std::function<bool(const std::string&)> may_see,
                                     Inside* inside)
    : working_directory_(std::move(working_directory)),
      may_see_(std::move(may_see)),
      inside_(inside) {}

FilePathInspector::FilePathInspector(std::string working_directory,
                                     std::function<bool(const std::string&)> may_see,
                                     std::vector<Mount> mounts)
    : working_directory_(std::move(working_directory)),
      may_see_(std::move(may_see)),
      mounts_(std::move(mounts)) {}

const std::vector<Mount>& FilePathInspector::Mounts() {
  if (!mounts_) mounts_ = PresentMounts();
  return *mounts_;
}

// The innermost mount answers for the path; of several in one place the last.
bool FilePathInspector::IsSafe(const std::string& resolved) {
  if (may_see_ && !may_see_(resolved)) return false;
  if (policy::IsBeneath(working_directory_, resolved)) return true;
  const Mount* innermost = nullptr;
  for (const Mount& mount : Mounts()) {
    if (!policy::IsBeneath(resolved, mount.point)) continue;
    if (innermost == nullptr || mount.point.size() >= innermost->point.size()) innermost = &mount;
  }
  if (innermost == nullptr) return false;
  const bool in_use = policy::IsBeneath(working_directory_, innermost->point);
  return IsLocal(innermost->type) || (in_use && innermost->type != "autofs");
}

FoundPath FilePathInspector::Look(const std::string& path, bool follow) {
  if (!path.starts_with('/') || path.size() >= PATH_MAX) return {};
  Walk walk;
  walk.Add(path);
  struct stat info{};
  info.st_mode = S_IFDIR;
  while (!walk.todo.empty()) {
    if (looks_left_ == 0) return {};
    --looks_left_;
    const std::string component = walk.Take();
    if (component.empty() || component == ".") continue;
    if (component == "..") {
      walk.Up();
      continue;
    }
    const std::string next = walk.done + '/' + component;
    if (!IsSafe(next)) return {};
    if (lstat(next.c_str(), &info) != 0) {
      return errno == ENOENT ? Missing(walk, component) : FoundPath{};
    }
    const bool last = walk.todo.empty() || (walk.todo.size() == 1 && walk.todo[0].empty());
    if (S_ISLNK(info.st_mode) && (follow || !last)) {
      if (!Follow(next, walk)) return {};
      info.st_mode = S_IFDIR;
      continue;
    }
    if (!last && !S_ISDIR(info.st_mode)) return {};
    walk.done = next;
  }
  return Found(walk.done, info);
}

bool FilePathInspector::May(const std::string& resolved, int mode) {
  return faccessat(AT_FDCWD, resolved.c_str(), mode, AT_EACCESS) == 0;
}

bool FilePathInspector::Owns(const std::string& resolved) {
  struct stat info{};
  if (!IsSafe(resolved) || lstat(resolved.c_str(), &info) != 0) return false;
  return geteuid() == 0 || info.st_uid == geteuid();
}

bool FilePathInspector::IsMountPoint(const std::string& resolved) {
  return std::ranges::find(Mounts(), resolved, &Mount::point) != Mounts().end();
}

bool FilePathInspector::IsEmpty(const std::string& resolved) {
  if (inside_ == nullptr || !policy::IsBeneath(resolved, working_directory_) || !IsSafe(resolved)) {
    return false;
  }
  if (inside_->answer) {
    const std::vector<std::string>& empty = inside_->answer->empty;
    return std::ranges::find(empty, resolved) != empty.end();
  }
  inside_->question.empty.push_back(resolved);
  return false;
}

std::string FilePathInspector::FindFull(std::uint64_t size,
                                        std::chrono::system_clock::time_point since) {
  if (inside_ == nullptr) return "";
  if (inside_->answer) return inside_->answer->full;
  InsideQuestion& question = inside_->question;
  question.directory = working_directory_;
  for (const Mount& mount : Mounts()) {
    const bool beneath = policy::IsBeneath(mount.point, working_directory_);
    if (beneath && !IsSafe(mount.point)) question.closed.push_back(mount.point);
  }
  question.full = {
      size,
      std::chrono::duration_cast<std::chrono::microseconds>(since.time_since_epoch()).count()};
  return "";
}

}  // namespace pa
