#include "supervisor/state/trash.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <ctime>
#include <filesystem>

#include "base/file.h"
#include "base/json_bytes.h"
#include "base/open_beneath.h"
#include "base/path_stamp.h"
#include "base/random.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "policy/path.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

constexpr const char* kInfo = "info.json";
constexpr std::size_t kIdSize = 24;  // 20261122-181500-0123abcd
constexpr std::size_t kMaxInfoBytes = 64U << 10;

std::tm UtcOf(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm utc{};
  gmtime_r(&time, &utc);
  return utc;
}

// Its name says that all of it is there.
Result<void> WriteInfo(const TrashEntry& entry, std::string_view text, bool sync) {
  const std::string path = entry.directory + "/" + kInfo;
  const std::string part = path + ".new";
  const UniqueFd fd(open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return std::unexpected(Error("open", part, errno));
  if (auto written = WriteAll(fd.get(), text); !written) {
    return std::unexpected(Error("write", part, written.error().sys_errno));
  }
  if (sync && fsync(fd.get()) != 0) return std::unexpected(Error("fsync", part, errno));
  if (rename(part.c_str(), path.c_str()) != 0) return std::unexpected(Error("rename", path, errno));
  if (!sync) return {};
  const Result<void> named = SyncPath(entry.directory);
  return named ? SyncPath(fs::path(entry.directory).parent_path()) : named;
}

bool HasExpired(std::int64_t deleted_at, std::int64_t now) {
  return now - deleted_at > kTrashKeptDays * 24 * 3600;
}

// NewTrashId's; nothing: it is none.
std::optional<std::int64_t> TimeOfId(const std::string& id) {
  std::tm utc{};
  const char* end = strptime(id.c_str(), "%Y%m%d-%H%M%S-", &utc);
  const auto is_hex = [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; };
  if (end == nullptr || id.size() != kIdSize || !std::all_of(end, id.c_str() + id.size(), is_hex)) {
    return std::nullopt;
  }
  return timegm(&utc);
}

// Nothing: it is none, or is empty. An error: it has an entry's ID, and may have content.
Result<std::optional<TrashEntry>> EntryIn(const fs::path& directory) {
  TrashEntry entry{.directory = directory, .id = directory.filename(), .path = {}};
  const Result<std::string> text = ReadFile(entry.directory + "/info.json", kMaxInfoBytes);
  const Result<JsonValue> info = text ? ParseJson(*text) : std::unexpected(text.error());
  std::optional<std::string> path = info ? ReadBytes(*info, "path") : std::nullopt;
  const JsonValue* when = info ? info->Find("deleted_at") : nullptr;
  const auto seconds = when != nullptr ? when->AsInteger() : std::nullopt;
  const PathStamp content = LookAt(entry.Content());
  if (content.IsAbsent()) return std::nullopt;
  if (!path || !seconds || !content.exists) {
    if (!TimeOfId(entry.id)) return std::nullopt;
    const int code = !info ? info.error().sys_errno : content.error;
    return std::unexpected(
        Error("learn where it was from the info.json beside", entry.Content(), code));
  }
  entry.path = *std::move(path);
  entry.deleted_at = *seconds;
  return entry;
}

// No symlink on the way, which an agent could have put there since.
Result<UniqueFd> OpenPlainDirectory(const std::string& path) {
  UniqueFd fd = OpenPlain(AT_FDCWD, path.c_str(), O_PATH | O_DIRECTORY);
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

Result<TrashEntry> BeginTrash(const std::string& base, const std::string& path, std::int64_t now,
                              bool sync) {
  PA_TRY_VOID(MakeStateDirectory(base));
  const std::string id = NewTrashId(now);
  TrashEntry entry{.directory = base + "/" + id, .id = id, .path = path, .deleted_at = now};
  if (mkdir(entry.directory.c_str(), 0700) != 0) {
    return std::unexpected(Error("mkdir", entry.directory, errno));
  }
  const Result<void> written = WriteInfo(entry, TrashInfo(path, now), sync);
  if (written) return entry;
  AbandonTrash(entry);
  return std::unexpected(written.error());
}

void AbandonTrash(const TrashEntry& entry) {
  for (const char* ours : {"/info.json", "/info.json.new"}) {
    unlink((entry.directory + ours).c_str());
  }
  rmdir(entry.directory.c_str());
}

std::vector<TrashEntry> ListTrash(std::span<const std::string> bases,
                                  std::vector<std::string>& unreadable) {
  std::vector<TrashEntry> entries;
  for (const std::string& base : bases) {
    const Result<std::vector<std::string>> names = ReadNames(base);
    // No trash, nothing in it.
    if (!names && !MeansAbsent(names.error().sys_errno)) {
      unreadable.push_back(names.error().Message());
    }
    for (const std::string& name : names.value_or(std::vector<std::string>())) {
      if (!LookAt(base + "/" + name).IsDirectory()) continue;
      Result<std::optional<TrashEntry>> entry = EntryIn(base + "/" + name);
      if (!entry) unreadable.push_back(entry.error().Message());
      if (entry && *entry) entries.push_back(**std::move(entry));
    }
  }
  std::ranges::sort(entries, [](const TrashEntry& a, const TrashEntry& b) {
    return std::tie(b.deleted_at, b.id) < std::tie(a.deleted_at, a.id);
  });
  return entries;
}

Result<std::vector<std::string>> ExpiredTrash(const std::string& base, std::int64_t now) {
  const Result<std::vector<std::string>> names = ReadNames(base);
  // No trash, nothing in it.
  if (!names && !MeansAbsent(names.error().sys_errno)) return std::unexpected(names.error());
  std::vector<std::string> expired;
  for (const std::string& name : names.value_or(std::vector<std::string>())) {
    const std::optional<std::int64_t> time = TimeOfId(name);
    if (!time || !HasExpired(*time, now)) continue;
    if (LookAt(base + "/" + name).IsDirectory()) expired.push_back(base + "/" + name);
  }
  return expired;
}

Result<std::string> RestoreTrash(const TrashEntry& entry, std::span<const std::string> roots) {
  const bool inside = std::ranges::any_of(roots, [&](const std::string& root) {
    return entry.path != root && policy::IsBeneath(entry.path, root);
  });
  if (!IsPlain(entry.path) || !inside) {
    return std::unexpected(Error("not beneath a root of the policy", entry.path, 0));
  }
  const std::size_t slash = entry.path.rfind('/');
  PA_TRY(const UniqueFd from, OpenPlainDirectory(entry.directory));
  PA_TRY(const UniqueFd to, OpenPlainDirectory(entry.path.substr(0, slash)));
  const std::string name = entry.path.substr(slash + 1);
  constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  if (syscall(SYS_renameat2, from.get(), "content", to.get(), name.c_str(), kNoReplace) != 0) {
    return std::unexpected(Error("rename", entry.path, errno));
  }
  // It must not be gone from there and not be here after a crash of the machine, nor be there
  // without its name.
  if (auto synced = SyncPath(entry.path.substr(0, slash)); !synced) return synced.error().Message();
  // In the directory that was opened, whatever has its name by now.
  for (const char* ours : {"info.json", ".gitignore"}) unlinkat(from.get(), ours, 0);
  rmdir(entry.directory.c_str());
  return "";
}

}  // namespace pa
