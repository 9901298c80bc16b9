#include "supervisor/audit/audit_reader.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.h"
#include "base/try.h"
#include "supervisor/audit/audit_file.h"

namespace pa {

Result<void> AuditReader::Open(const std::string& path) {
  if (path == "-") {
    fd_ = UniqueFd(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!fd_) return std::unexpected(Error("read", "standard input", errno));
  } else {
    PA_TRY(fd_, OpenRegular(path, O_RDONLY));
  }
  buffer_.clear();
  begin_ = lines_ = bytes_ = 0;
  skipping_ = rotated_ = false;
  return {};
}

// False: the end, for now.
Result<bool> AuditReader::Fill() {
  constexpr std::size_t kChunk = 64U << 10;
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t size = buffer_.size();
  buffer_.resize(size + kChunk);
  ssize_t got = -1;
  do {
    got = read(fd_.get(), buffer_.data() + size, kChunk);
  } while (got < 0 && errno == EINTR);
  const int code = errno;
  buffer_.resize(size + static_cast<std::size_t>(got > 0 ? got : 0));
  if (got < 0) return std::unexpected(Error("read", paths_[opened_ - 1], code));
  bytes_ += static_cast<std::uint64_t>(got);
  return got > 0;
}

AuditLine AuditReader::Take(std::size_t size) {
  const std::string& path = paths_[opened_ - 1];
  const std::string name = path == "-" ? "standard input" : path;
  AuditLine line{.place = name + ":" + std::to_string(++lines_),
                 .text = buffer_.substr(begin_, size),
                 .first_of_file = lines_ == 1};
  begin_ += size;
  return line;
}

Result<std::optional<AuditLine>> AuditReader::Next() {
  if (last_of_old_) return std::exchange(last_of_old_, std::nullopt);
  for (;;) {
    if (!fd_) {
      if (opened_ == paths_.size()) return std::nullopt;
      PA_TRY_VOID(Open(paths_[opened_++]));
    }
    const std::size_t end = buffer_.find('\n', begin_);
    if (end != buffer_.npos && std::exchange(skipping_, false)) {
      begin_ = end + 1;
      continue;
    }
    if (end != buffer_.npos && end - begin_ < kMaxAuditLine) {
      AuditLine line = Take(end - begin_);
      ++begin_;
      return line;
    }
    if (skipping_) begin_ = buffer_.size();
    if (buffer_.size() - begin_ >= kMaxAuditLine) {
      AuditLine line = Take(kMaxAuditLine);
      line.too_long = skipping_ = true;
      return line;
    }
    PA_TRY(const bool more, Fill());
    if (more) continue;
    if (opened_ == paths_.size()) return std::nullopt;
    std::optional<AuditLine> rest = Rest();
    fd_.reset();
    if (rest) return rest;
  }
}

std::optional<AuditLine> AuditReader::Rest() {
  if (begin_ == buffer_.size() || skipping_) return std::nullopt;
  return Take(buffer_.size() - begin_);
}

Result<AuditReader::Change> AuditReader::Renew() {
  const std::string& path = paths_.back();
  struct stat open{}, named{};
  if (path == "-" || !fd_) return Change::kNone;
  if (fstat(fd_.get(), &open) != 0) return std::unexpected(Error("stat", path, errno));
  if (stat(path.c_str(), &named) != 0) {
    if (errno == ENOENT) return Change::kNone;
    return std::unexpected(Error("stat", path, errno));
  }
  const bool same = open.st_dev == named.st_dev && open.st_ino == named.st_ino;
  const bool shorter = same && static_cast<std::uint64_t>(open.st_size) < bytes_;
  if (same && !shorter) return Change::kNone;
  if (!same && !std::exchange(rotated_, true)) return Change::kNone;
  std::optional<AuditLine> rest = Rest();
  PA_TRY_VOID(Open(path));
  last_of_old_ = std::move(rest);
  return shorter ? Change::kTruncated : Change::kRotated;
}

}  // namespace pa
