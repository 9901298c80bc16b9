#include "supervisor/results/result_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "base/file.h"
#include "base/random.h"
#include "base/try.h"
#include "base/units.h"

namespace pa {
namespace {

constexpr const char* kStamp = "%Y%m%dT%H%M%SZ";
constexpr std::size_t kStampLength = 16;  // 20261127T131500Z
constexpr std::size_t kRandomBytes = 16;
constexpr std::string_view kExtensions[] = {"json", "txt"};

std::string Formatted(UtcSeconds time, const char* format) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  return {text, strftime(text, sizeof text, format, &parts)};
}

// When a file of that name was made; nothing if none of ours has such a name.
std::optional<UtcSeconds> MadeAt(std::string_view name) {
  const std::size_t dash = name.find('-');
  const std::size_t dot = name.find('.');
  if (dash != kStampLength || dot != dash + 1 + 2 * kRandomBytes) return std::nullopt;
  const std::string_view digits = name.substr(dash + 1, 2 * kRandomBytes);
  if (digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  if (std::ranges::find(kExtensions, name.substr(dot + 1)) == std::end(kExtensions)) {
    return std::nullopt;
  }
  std::tm parts{};
  const std::string stamp(name.substr(0, dash));
  const char* end = strptime(stamp.c_str(), kStamp, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return UtcSeconds(std::chrono::seconds(timegm(&parts)));
}

// Anybody may have made a directory of that name, where everybody may make names.
Result<UniqueFd> OpenOwn(const std::string& directory) {
  UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return std::unexpected(Error("open", directory, errno));
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return std::unexpected(Error("fstat", directory, errno));
  if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
    return std::unexpected(
        Error("not a directory of this user alone (mode 0700)", directory, EPERM));
  }
  return fd;
}

Result<UniqueFd> MakeOwn(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return std::unexpected(Error("mkdir", directory, errno));
  }
  return OpenOwn(directory);
}

}  // namespace

std::string UtcText(UtcSeconds time) { return Formatted(time, "%Y-%m-%dT%H:%M:%SZ"); }

ResultFiles::ResultFiles(std::string base)
    : directory_(std::move(base) + "/project-actions-results-" + std::to_string(geteuid())) {}

Result<ResultFile> ResultFiles::Make(std::string_view extension, UtcSeconds now,
                                     std::uint64_t quota) const {
  PA_TRY(const UniqueFd directory, MakeOwn(directory_));
  PA_TRY(const std::uint64_t used, SweepIn(directory.get(), now));
  if (used >= quota) {
    return std::unexpected(Error(
        fmt::format("the files of results have {} already and may have {}; each expires after a "
                    "day, or remove some in",
                    FormatByteSize(used), FormatByteSize(quota)),
        directory_, EDQUOT));
  }
  std::string name = Formatted(now, kStamp) + "-" + RandomHex(kRandomBytes) + ".";
  name += extension;
  const std::string path = directory_ + "/" + name;
  UniqueFd file(openat(directory.get(), name.c_str(),
                       O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file) return std::unexpected(Error("open", path, errno));
  return ResultFile{.file = std::move(file), .path = path, .expires = now + kResultFileLife};
}

void ResultFiles::Sweep(UtcSeconds now) const {
  // Without a directory there is nothing to remove; the next file that is made says what is wrong.
  if (const Result<UniqueFd> directory = OpenOwn(directory_)) (void)SweepIn(directory->get(), now);
}

Result<std::uint64_t> ResultFiles::SweepIn(int directory, UtcSeconds now) const {
  PA_TRY(const std::vector<std::string> names, ReadNames(directory_, O_NOFOLLOW));
  std::uint64_t left = 0;
  for (const std::string& name : names) {
    const std::optional<UtcSeconds> made = MadeAt(name);
    if (made && *made + kResultFileLife <= now) {
      unlinkat(directory, name.c_str(), 0);
      continue;
    }
    struct stat info{};
    if (fstatat(directory, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) {
      left += static_cast<std::uint64_t>(info.st_size);
    }
  }
  return left;
}

std::optional<Result<StoredBytes>> ResultFiles::Open(std::string_view path) const {
  const std::string prefix = directory_ + "/";
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string name(path.substr(prefix.size()));
  if (!MadeAt(name)) return std::nullopt;
  const Result<UniqueFd> directory = OpenOwn(directory_);
  if (!directory && directory.error().sys_errno == ENOENT) return std::nullopt;
  if (!directory) return std::unexpected(directory.error());
  UniqueFd file(
      openat(directory->get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) return std::unexpected(Error("open", std::string(path), errno));
  struct stat info{};
  if (fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != geteuid()) {
    return std::unexpected(Error("no regular file of this user", std::string(path), EINVAL));
  }
  return StoredBytes{.file = std::move(file), .size = static_cast<std::uint64_t>(info.st_size)};
}

}  // namespace pa
