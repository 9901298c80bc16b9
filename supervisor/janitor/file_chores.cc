#include "supervisor/janitor/file_chores.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "base/empty_directory.h"
#include "base/file.h"
#include "base/open_beneath.h"
#include "base/pack.h"
#include "base/unique_fd.h"

namespace pa {

template <>
inline constexpr auto kLastOf<Links> = Links::kBeneath;

namespace {

constexpr std::string_view kReadText = "read-text";
constexpr std::string_view kSyncPaths = "sync-paths";
constexpr std::string_view kEmptyTree = "empty-tree";
constexpr std::chrono::seconds kReadingTakes{30};
constexpr std::chrono::seconds kEnds{5};  // after its own time, on a busy machine

using Descriptors = std::span<const int>;

// O_NONBLOCK: what was a regular file a moment ago may be a FIFO now.
Result<std::string> ReadText(int directory, const std::string& name, std::size_t most,
                             Links links) {
  const bool beneath = links == Links::kBeneath;
  if (!beneath && name.contains('/')) return std::unexpected(Error("openat", name, EINVAL));
  constexpr int kFlags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  const UniqueFd fd = beneath ? OpenBeneath(directory, name.c_str(), kFlags)
                              : UniqueFd(openat(directory, name.c_str(), kFlags | O_NOFOLLOW));
  if (!fd) return std::unexpected(Error(beneath ? "openat2" : "openat", name, errno));
  return ReadFileFrom(fd.get(), name, most);
}

std::string ReadTextChore(std::string_view input, Descriptors descriptors) {
  std::string name;
  std::uint64_t most = 0;
  Links links{};
  if (!Unpacker(input)(name, most, links) || descriptors.size() != 1) return "";
  return Pack(ReadText(descriptors[0], name, most, links));
}

std::string SyncPathsChore(std::string_view input, Descriptors) {
  std::vector<std::string> paths;
  if (!Unpacker(input)(paths)) return "";
  Result<void> synced;
  for (const std::string& path : paths) {
    if (synced) synced = SyncPath(path);
  }
  return Pack(synced);
}

std::string EmptyTreeChore(std::string_view input, Descriptors) {
  std::string path;
  std::uint64_t budget_ms = 0;
  if (!Unpacker(input)(path, budget_ms)) return "";
  const SysResult<bool> emptied = EmptyDirectory(AT_FDCWD, path.c_str(), budget_ms);
  if (emptied) return Pack(Result<bool>(*emptied));
  return Pack(Result<bool>(std::unexpected(Error(emptied.error()))));
}

constexpr Chore kFileChores[] = {
    {kReadText, ReadTextChore},
    {kSyncPaths, SyncPathsChore},
    {kEmptyTree, EmptyTreeChore},
};

}  // namespace

std::span<const Chore> FileChores() { return kFileChores; }

Task<Result<std::string>> ReadTextIn(Janitor& janitor, OpenedDirectory directory, std::string name,
                                     std::size_t most, Links links) {
  auto own = std::make_shared<const UniqueFd>(fcntl(directory.fd, F_DUPFD_CLOEXEC, 0));
  if (!*own) co_return std::unexpected(Error("dup", directory.path, errno));
  JanitorOrder order{.chore = kReadText,
                     .read = {directory.path},
                     .descriptors = {std::move(own)},
                     .time = kReadingTakes};
  Task<Result<Result<std::string>>> reading = Ask<Result<std::string>>(
      janitor, std::move(order), name, static_cast<std::uint64_t>(most), links);
  Result<Result<std::string>> text = co_await reading;
  if (!text) co_return std::unexpected(text.error());
  co_return *std::move(text);
}

Task<Result<void>> SyncPaths(Janitor& janitor, std::vector<std::string> paths) {
  JanitorOrder order{.chore = kSyncPaths, .read = paths, .time = std::chrono::minutes(5)};
  Task<Result<Result<void>>> syncing = Ask<Result<void>>(janitor, std::move(order), paths);
  const Result<Result<void>> synced = co_await syncing;
  if (!synced) co_return std::unexpected(synced.error());
  co_return *synced;
}

Task<Result<bool>> EmptyTree(Janitor& janitor, std::string path, std::chrono::milliseconds time) {
  JanitorOrder order{.chore = kEmptyTree, .write = {path}, .time = time + kEnds};
  Task<Result<Result<bool>>> emptying =
      Ask<Result<bool>>(janitor, std::move(order), path, static_cast<std::uint64_t>(time.count()));
  const Result<Result<bool>> emptied = co_await emptying;
  if (!emptied) co_return std::unexpected(emptied.error());
  co_return *emptied;
}

}  // namespace pa
