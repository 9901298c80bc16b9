#include "supervisor/guard/mount_watch.h"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/path_parts.h"

namespace pa {
namespace {

constexpr std::uint32_t kPuts = IN_MOVED_TO | IN_CREATE;
constexpr std::uint32_t kTakes = IN_MOVED_FROM | IN_DELETE;
// IN_ATTRIB: another link to it is a way to write it under a name that nobody watches.
constexpr std::uint32_t kTouches = IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB;
constexpr std::uint32_t kLoses = IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT;
constexpr std::uint32_t kMask =
    kPuts | kTakes | kTouches | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_DONT_FOLLOW;

// By another name, outside of the mount, a file could be written all the same.
bool HasOneName(const FileImage& image) {
  if (image.stamp.IsRegular() && image.stamp.links > 1) return false;
  return std::ranges::all_of(image.children,
                             [](const auto& child) { return HasOneName(child.second); });
}

// The same file or directory, and no way to it but the one that was mounted, before and now.
bool WasSealed(const GuardedPath& guarded) {
  const std::string& path = guarded.path.path;
  if (!LookAt(path).SameFile(guarded.image->stamp) || !HasOneName(*guarded.image)) return false;
  const UniqueFd parent = OpenDirectory(ParentOf(path));
  ImageBudget budget;
  if (!parent) return false;
  const Result<FileImage> now =
      ReadImage(parent.get(), std::string(NameOf(path)), ImageDepth::kTree, budget);
  return now && HasOneName(*now);
}

}  // namespace

// While the lease is held nobody has it open to write, so whoever did before that has left their
// event.
SavedFile ReadSaved(const std::string& directory, const std::string& name) {
  const UniqueFd parent = OpenDirectory(directory);
  if (!parent || !LookAt(parent.get(), name).IsRegular()) return {};
  const UniqueFd fd(
      openat(parent.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  // Who waits for it makes the kernel send a signal; this one does nothing.
  const bool leased =
      fd && fcntl(fd.get(), F_SETSIG, SIGURG) == 0 && fcntl(fd.get(), F_SETLEASE, F_RDLCK) == 0;
  ImageBudget budget;
  Result<FileImage> image = ReadImage(parent.get(), name, ImageDepth::kSelf, budget);
  if (!image) return {};
  struct stat status{};
  const bool certain = leased && fstat(fd.get(), &status) == 0 &&
                       StampOf(status).SameFile(image->stamp) && status.st_nlink == 1;
  return {std::make_shared<const FileImage>(std::move(*image)), certain};
}

void MountWatch::Add(const GuardedPath& guarded, bool read_only) {
  Drain();  // what came before says nothing of it
  const std::string parent = ParentOf(guarded.path.path);
  const int watch = inotify_.Add(parent, kMask);
  if (watch < 0) return;  // JudgeOf knows nothing of it then
  MountRecord::Directory& directory = record_.directories_[watch];
  directory.path = parent;
  record_.by_path_[parent] = watch;
  Seen& seen = directory.names[std::string(NameOf(guarded.path.path))];
  seen.read_only = seen.read_only && read_only;
}

void MountWatch::Drain() {
  const bool all = inotify_.ReadQueued(
      [this](int watch, std::uint32_t mask, std::string_view name) { OnEvent(watch, mask, name); });
  if (!all) return;  // what is left may have come before something was saved
  for (auto& [watch, directory] : record_.directories_) {
    for (auto& [name, seen] : directory.names) seen.young = false;
  }
}

void MountWatch::OnEvent(int watch, std::uint32_t mask, std::string_view name) {
  if ((mask & IN_Q_OVERFLOW) != 0) return Expose();
  const auto found = record_.directories_.find(watch);
  if (found == record_.directories_.end()) return;
  MountRecord::Directory& directory = found->second;
  if ((mask & kLoses) != 0) directory.lost = true;
  const auto named = directory.names.find(name);
  if (name.empty() || named == directory.names.end()) return;
  Seen& seen = named->second;
  if (seen.replaced) {
    seen.again = true;
    seen.certain = seen.certain && !seen.young;
    return;
  }
  // While the mount was there, no command could do this; and what was written before is the user's,
  // too.
  if ((mask & (kPuts | kTakes)) == 0) return;
  seen.replaced = true;
  // Made under its own name it is empty, and whoever fills it may be anybody.
  seen.again = (mask & IN_CREATE) != 0;
  if ((mask & IN_MOVED_TO) != 0) Save(watch, named->first);
}

void MountWatch::Save(int watch, const std::string& name) {
  ++reading_;
  read_(record_.directories_.at(watch).path, name,
        [this, watch, name, forgotten = forgotten_](SavedFile saved) {
          --reading_;
          if (forgotten == forgotten_) TakeSaved(watch, name, std::move(saved));
        });
}

// What came in between, or is queued yet, may be older than the file that was read.
void MountWatch::TakeSaved(int watch, const std::string& name, SavedFile saved) {
  const auto directory = record_.directories_.find(watch);
  if (directory == record_.directories_.end() || saved.image == nullptr) return;
  Seen& seen = directory->second.names[name];
  seen.certain = saved.certain && !seen.again;
  seen.young = true;
  seen.saved = std::move(saved.image);
}

const MountRecord::Seen* MountRecord::ReplacedAbove(const std::string& path,
                                                    std::string* above) const {
  for (std::size_t slash = path.rfind('/'); slash != 0; slash = path.rfind('/', slash - 1)) {
    *above = path.substr(0, slash);
    const auto parent = by_path_.find(ParentOf(*above));
    if (parent == by_path_.end()) continue;
    const auto& names = directories_.at(parent->second).names;
    const auto seen = names.find(NameOf(*above));
    if (seen != names.end() && seen->second.replaced) return &seen->second;
  }
  return nullptr;
}

MountRecord::Judgement MountRecord::JudgeOf(const GuardedPath& guarded) const {
  const std::string& path = guarded.path.path;
  using enum Judgement::By;
  if (exposed_) return {};
  std::string above;
  if (const Seen* seen = ReplacedAbove(path, &above)) {
    // Removed with all in it.
    return {!seen->again && LookAt(above).IsAbsent() ? kUser : kUnknown};
  }
  const auto parent = by_path_.find(ParentOf(path));
  if (parent == by_path_.end()) return {};
  const Directory& directory = directories_.at(parent->second);
  const auto named = directory.names.find(NameOf(path));
  if (directory.lost || named == directory.names.end()) return {};
  const Seen& seen = named->second;
  if (!seen.replaced) return {seen.read_only && WasSealed(guarded) ? kUser : kUnknown};
  // A link to the new file is a way to write it that raises no event here, so what it holds is
  // compared.
  if (seen.again || seen.saved) return {kUnknown, seen.saved, seen.certain && !seen.young};
  return {LookAt(path).IsAbsent() ? kUser : kUnknown};
}

void MountWatch::Forget() {
  Drain();  // so that nothing that was says anything of what comes
  ++forgotten_;
  for (const auto& [watch, directory] : record_.directories_) inotify_.Remove(watch);
  record_ = {};
}

}  // namespace pa
