#include "supervisor/guard/quarantine.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <utility>

#include "base/random.h"
#include "base/try.h"
#include "supervisor/state/remove_tree.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

constexpr int kNamesToTry = 8;

// So much of a name as people need to know it again: a command can have chosen one to which nothing
// can be added.
std::string_view Short(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return Utf8Head(name, kLongest);
}

// `displaced-by-project-actions-9f86d081884c7d65-hooks`, at the top of a writable tree, where a
// command can make every name that it can guess.
std::string NameInTree(const std::string& name) {
  constexpr std::size_t kRandom = 8;  // bytes
  return "displaced-by-project-actions-" + RandomHex(kRandom) + "-" + std::string(Short(name));
}

std::string Timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &parts);
  return text.data();
}

int Rename(int from, const std::string& name, int to, const std::string& as, unsigned flags) {
  const int done = renameat2(from, name.c_str(), to, as.c_str(), flags);
  if (done == 0 || (errno != EINVAL && errno != ENOSYS)) return done;
  if (flags != RENAME_NOREPLACE || LookAt(to, as).exists) return done;
  return renameat(from, name.c_str(), to, as.c_str());  // a file system without the flag
}

// A directory that its owner may not write cannot be moved to another one.
bool MakeMovable(int parent, const std::string& name) {
  PathStamp stamp = LookAt(parent, name);
  if (!stamp.IsDirectory() || (stamp.mode & S_IRWXU) == S_IRWXU) return false;
  stamp.mode |= S_IRWXU;
  return RestoreMetadata(stamp, parent, name).has_value();
}

}  // namespace

bool Quarantine::EnsureDirectory() {
  if (fd_ || failed_) return !failed_;
  failed_ = true;
  if (base_.empty() || !MakeStateDirectory(base_)) return false;
  std::string name = base_ + "/" + Timestamp() + "-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) return false;
  fd_.reset(open(name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  directory_ = std::move(name);
  failed_ = !fd_;
  return !failed_;
}

std::string Quarantine::NextName(const std::string& name) {
  return fmt::format("{}-{}", ++next_, Short(name));
}

void Quarantine::Discard(const std::string& name) {
  if (unlinkat(fd_.get(), name.c_str(), 0) == 0) return;
  // What is left of a copy of ours does no harm here.
  (void)RemoveTree(fd_.get(), name, std::chrono::milliseconds(100));
}

// Up to the top of its own tree.
std::string Quarantine::TakeUp(int parent, const std::string& name, int area_fd) {
  for (int attempt = 0; attempt < kNamesToTry; ++attempt) {
    std::string as = NameInTree(name);
    if (Rename(parent, name, area_fd, as, RENAME_NOREPLACE) == 0) return as;
    if (errno != EEXIST) break;
  }
  return "";
}

Result<std::string> Quarantine::Take(int parent, const std::string& name, int area_fd,
                                     const std::string& area) {
  for (int attempt = 0; attempt < 2; ++attempt) {
    const std::string as = NextName(name);
    if (EnsureDirectory() && Rename(parent, name, fd_.get(), as, RENAME_NOREPLACE) == 0) {
      return directory_ + "/" + as;
    }
    if (!fd_ || errno == EXDEV) {
      const std::string up = TakeUp(parent, name, area_fd);
      if (!up.empty()) return area + "/" + up;
    }
    const int code = errno;
    if (attempt > 0 || !MakeMovable(parent, name)) {
      return std::unexpected(Error("rename", name, code));
    }
  }
  return std::unexpected(Error("rename", name, EACCES));
}

Result<std::string> Quarantine::Exchange(const FileImage& image, int parent,
                                         const std::string& name, int area_fd,
                                         const std::string& area) {
  std::string staged;  // whole, before anything is moved: whatever happens, it is not lost
  if (EnsureDirectory()) {
    staged = NextName(name);
    if (!MakeFrom(image, fd_.get(), staged)) {
      // No space, perhaps. What came must go even if what was cannot come back.
      Discard(std::exchange(staged, ""));
    } else if (Rename(fd_.get(), staged, parent, name, RENAME_EXCHANGE) == 0) {
      return directory_ + "/" + staged;
    }
  }
  std::string kept;
  if (LookAt(parent, name).exists) {
    PA_TRY(kept, Take(parent, name, area_fd, area));
  }
  if (!staged.empty() && Rename(fd_.get(), staged, parent, name, RENAME_NOREPLACE) == 0) {
    return kept;
  }
  PA_TRY_VOID(MakeFrom(image, parent, name));
  if (!staged.empty()) Discard(staged);
  return kept;
}

}  // namespace pa
