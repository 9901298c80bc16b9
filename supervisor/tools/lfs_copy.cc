#include "supervisor/tools/lfs_copy.h"

#include <utility>

#include "base/path_stamp.h"

namespace pa {

LfsCopy::LfsCopy(const Work& work, const Git* git, CallContext& call)
    : work_(work), git_(git), call_(call) {
  using Granted = sandbox::KernelFeatures::Granted;
  if (git == nullptr || call.runner.Kernel().overlay == Granted::kNo) return;
  lfs_ = git->repository->common_dir + "/lfs";
  if (!LookAt(lfs_).IsDirectory()) return;
  Result<CopyDirectory> copy = CopyDirectory::Make(*call.policy, call.runner);
  if (copy) copy_.emplace(*std::move(copy));
}

std::optional<sandbox::Mount> LfsCopy::Overlay() const {
  if (!copy_) return std::nullopt;
  return copy_->Over(lfs_);
}

Task<std::string> LfsCopy::TakeOver() {
  if (!copy_) co_return "";
  Task<std::optional<ToolError>> task = TakeLfsObjects(*copy_, "", work_, *git_, call_, false);
  const std::optional<ToolError> error = co_await task;
  if (!error) co_return "";
  co_return "new objects of git-lfs are not kept: " + error->message;
}

}  // namespace pa
