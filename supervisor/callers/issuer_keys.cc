#include "supervisor/callers/issuer_keys.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/try.h"

namespace pa {

Result<const std::vector<Jwk>*> IssuerKeys::In(const std::string& path) {
  // Symlinks are followed: that is how several files are exchanged at once (Kubernetes).
  struct stat status{};
  const bool same = path == path_ && stat(path.c_str(), &status) == 0 &&
                    StampOf(status) == stamp_ && stamp_.Settled();
  if (!same) {
    path_.clear();
    PA_TRY_VOID(Read(path));
    path_ = path;
  }
  return &keys_;
}

// Looked at before it is read: what is written in between is read the next time.
Result<void> IssuerKeys::Read(const std::string& path) {
  PA_TRY(const UniqueFd file, open_(path));
  struct stat status{};
  if (fstat(file.get(), &status) != 0) return std::unexpected(Error("fstat", path, errno));
  stamp_ = StampOf(status);
  constexpr unsigned kOthersWrite = S_IWGRP | S_IWOTH;
  const bool ours = status.st_uid == 0 || status.st_uid == geteuid();
  if (!ours || (status.st_mode & kOthersWrite) != 0) {
    return std::unexpected(
        Error("others than root and this user could write the keys of the issuer:", path, EPERM));
  }
  PA_TRY(const std::string text, ReadFileFrom(file.get(), path, kMaxJwkSet));
  PA_TRY(keys_, ReadJwkSet(text, path));
  return {};
}

}  // namespace pa
