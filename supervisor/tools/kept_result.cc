#include "supervisor/tools/kept_result.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/proc_path.h"
#include "supervisor/results/result_files.h"
#include "supervisor/results/result_store.h"

namespace pa {
namespace {

using Kept = std::expected<StoredBytes, ToolError>;

Kept FromStore(const CallContext& call, const std::string& uri) {
  if (uri.contains('?')) {
    return std::unexpected(
        InvalidArgument("argument 'path': a URI of a kept result without ?query was expected",
                        "Pass the URI without it; offset and limit choose the lines."));
  }
  std::optional<Result<StoredBytes>> stored = call.results.Open(uri);
  if (!stored) {
    return std::unexpected(NotFound("no such result is kept: " + uri,
                                    "The oldest results are removed first; call again what made "
                                    "it. resources/list names those that are kept."));
  }
  if (!*stored)
    return std::unexpected(FileIo(stored->error().Message(), stored->error().sys_errno));
  return *std::move(*stored);
}

}  // namespace

std::optional<Kept> FindKept(const CallContext& call, const std::string& path) {
  if (path.starts_with(kResultUriPrefix)) return FromStore(call, path);
  std::optional<Result<StoredBytes>> file = call.result_files.Open(path);
  if (!file) return std::nullopt;
  if (*file) return *std::move(*file);
  return std::unexpected(FileIo(file->error().Message(), file->error().sys_errno));
}

std::expected<std::shared_ptr<const UniqueFd>, ToolError> AsStdin(const StoredBytes& stored) {
  const std::string path = ProcPath(stored.file.get());
  UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file) return std::make_shared<const UniqueFd>(std::move(file));
  const Error error("open", path, errno);
  return std::unexpected(
      FileIo("cannot search a kept result: " + error.Message(), error.sys_errno));
}

}  // namespace pa
