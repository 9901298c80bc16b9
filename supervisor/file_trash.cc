#include "supervisor/file_trash.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/json_bytes.h"
#include "base/random.h"
#include "base/unique_fd.h"
#include "policy/path.h"
#include "supervisor/state_directory.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxInfoBytes = 64U << 10;

bool Exists(const std::string& path) {
  struct stat status{};
  return lstat(path.c_str(), &status) == 0;
}

std::tm UtcOf(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return utc;
}

Result<void> WriteText(const std::string& path, std::string_view text) {
  const UniqueFd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return std::unexpected(Error("open", path, errno));
  return WriteAll(fd.get(), text);
}

std::optional<TrashEntry> EntryIn(const fs::path& directory) {
  TrashEntry entry{.directory = directory, .id = directory.filename(), .path = {}};
  const Result<std::string> text = ReadFile(entry.directory + "/info.json", kMaxInfoBytes);
  const Result<JsonValue> info = text ? ParseJson(*text) : std::unexpected(text.error());
  std::optional<std::string> path = info ? ReadBytes(*info, "path") : std::nullopt;
  const JsonValue* when = info ? info->Find("deleted_at") : nullptr;
  if (!path || when == nullptr) return std::nullopt;
  const auto seconds = when->AsInteger();
  if (!seconds || !Exists(entry.Content())) return std::nullopt;
  entry.path = *std::move(path);
  entry.deleted_at = *seconds;
  return entry;
}

// No symlink on the way, which an agent could have put there since.
Result<UniqueFd> OpenDirectory(const std::string& path) {
  open_how how{};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path.c_str(), &how, sizeof how)));
  if (!fd) return std::unexpected(Error("open", path, errno));
  return fd;
}

bool IsPlain(const std::string& path) {
  return path.starts_with('/') && fs::path(path).lexically_normal() == path &&
         !path.ends_with('/') && path.find('\0') == std::string::npos;
}

}  // namespace

std::string TrashEntry::DeletedAt() const {
  return fmt::format("{:%Y-%m-%d %H:%M:%S}Z", UtcOf(deleted_at));
}

std::string NewTrashId(std::int64_t now) {
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", UtcOf(now), RandomHex(4));
}

std::string TrashInfo(const std::string& path, std::int64_t now) {
  JsonWriter w;
  w.BeginObject();
  WriteBytes(w, "path", path);
  return std::move(w.Field("deleted_at", now).EndObject()).Take() + "\n";
}

Result<TrashEntry> BeginTrash(const std::string& base, const std::string& path, std::int64_t now) {
  const Result<void> made = MakeStateDirectory(base);
  if (!made) return std::unexpected(made.error());
  const std::string id = NewTrashId(now);
  TrashEntry entry{.directory = base + "/" + id, .id = id, .path = path, .deleted_at = now};
  if (mkdir(entry.directory.c_str(), 0700) != 0) {
    return std::unexpected(Error("mkdir", entry.directory, errno));
  }
  const Result<void> written = WriteText(entry.directory + "/info.json", TrashInfo(path, now));
  if (written) return entry;
  AbandonTrash(entry);
  return std::unexpected(written.error());
}

void AbandonTrash(const TrashEntry& entry) {
  unlink((entry.directory + "/info.json").c_str());
  rmdir(entry.directory.c_str());
}

std::vector<TrashEntry> ListTrash(std::span<const std::string> bases) {
  std::vector<TrashEntry> entries;
  for (const std::string& base : bases) {
    std::error_code ignored;  // no trash, nothing in it
    for (const auto& directory : fs::directory_iterator(base, ignored)) {
      if (directory.is_symlink(ignored) || !directory.is_directory(ignored)) continue;
      std::optional<TrashEntry> entry = EntryIn(directory.path());
      if (entry) entries.push_back(*std::move(entry));
    }
  }
  std::ranges::sort(entries, [](const TrashEntry& a, const TrashEntry& b) {
    return std::tie(b.deleted_at, b.id) < std::tie(a.deleted_at, a.id);
  });
  return entries;
}

Result<void> RestoreTrash(const TrashEntry& entry, std::span<const std::string> roots) {
  const bool inside = std::ranges::any_of(roots, [&](const std::string& root) {
    return entry.path != root && policy::IsBeneath(entry.path, root);
  });
  if (!IsPlain(entry.path) || !inside) {
    return std::unexpected(Error("not beneath a root of the policy", entry.path, 0));
  }
  const std::size_t slash = entry.path.rfind('/');
  const Result<UniqueFd> from = OpenDirectory(entry.directory);
  if (!from) return std::unexpected(from.error());
  const Result<UniqueFd> to = OpenDirectory(entry.path.substr(0, slash));
  if (!to) return std::unexpected(to.error());
  const std::string name = entry.path.substr(slash + 1);
  constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  if (syscall(SYS_renameat2, from->get(), "content", to->get(), name.c_str(), kNoReplace) != 0) {
    return std::unexpected(Error("rename", entry.path, errno));
  }
  // In the directory that was opened, whatever has its name by now.
  for (const char* ours : {"info.json", ".gitignore"}) unlinkat(from->get(), ours, 0);
  rmdir(entry.directory.c_str());
  return {};
}

}  // namespace pa
