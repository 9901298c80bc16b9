#include "supervisor/audit/audit_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cassert>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/proc_path.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr int kRotations = 8;  // in a row, while we open

constexpr std::size_t kMostProblems = 20;

Result<struct stat> StatOf(int fd, const std::string& path) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return std::unexpected(Error("stat", path, errno));
  return status;
}

// What a line says of its place; nothing if it is none of ours.
std::optional<ChainLink> LinkIn(std::string_view line) {
  const Result<JsonValue> event = ParseJson(line);
  const JsonValue* unmapped = event ? event->Find("unmapped") : nullptr;
  const JsonValue* chain = unmapped != nullptr ? unmapped->Find("chain") : nullptr;
  const JsonValue* sequence = chain != nullptr ? chain->Find("sequence") : nullptr;
  const JsonValue* previous = chain != nullptr ? chain->Find("previous") : nullptr;
  if (sequence == nullptr || previous == nullptr || !previous->IsString()) return std::nullopt;
  const auto number = sequence->AsInteger();
  const auto digest = FromHex(previous->AsString());
  if (!number || *number < 1 || !digest) return std::nullopt;
  return ChainLink{static_cast<std::uint64_t>(*number), *digest};
}

// The end of the file, as much as holds a whole line.
Result<std::string> ReadTail(int fd, std::uint64_t size, const std::string& path) {
  std::string tail(std::min<std::uint64_t>(size, 2 * kMaxAuditLine), '\0');
  std::size_t done = 0;
  while (done < tail.size()) {
    const auto at = static_cast<off_t>(size - tail.size() + done);
    const ssize_t got = pread(fd, tail.data() + done, tail.size() - done, at);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::unexpected(Error("read", path, got < 0 ? errno : EIO));
    done += static_cast<std::size_t>(got);
  }
  return tail;
}

std::string_view LastLine(std::string_view tail) {
  if (tail.ends_with('\n')) tail.remove_suffix(1);
  const std::size_t end = tail.rfind('\n');
  return end == tail.npos ? tail : tail.substr(end + 1);
}

// A descriptor that stays open keeps its lock.
class Unlocking {
 public:
  explicit Unlocking(int fd) : fd_(fd) {}
  ~Unlocking() { flock(fd_, LOCK_UN); }
  Unlocking(const Unlocking&) = delete;
  Unlocking& operator=(const Unlocking&) = delete;

 private:
  int fd_;
};

ChainLink After(std::string_view line) {
  const std::optional<ChainLink> link = LinkIn(line);
  return {link ? link->sequence + 1 : 1, Sha256Of(line)};
}

}  // namespace

Result<void> AuditFile::OpenCurrent() {
  std::error_code ignored;  // open says what is missing
  std::filesystem::create_directories(std::filesystem::path(path_).parent_path(), ignored);
  PA_TRY(UniqueFd fd,
         OpenRegular(path_, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR));
  fd_ = std::make_shared<const UniqueFd>(std::move(fd));
  size_ = 0;
  return {};
}

// Whether the name still means what we have open, of which this is `open`.
Result<bool> AuditFile::IsCurrent(const struct stat& open) const {
  struct stat named{};
  if (lstat(path_.c_str(), &named) != 0)
    return errno == ENOENT ? Result<bool>(false) : std::unexpected(Error("stat", path_, errno));
  return open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

// Whoever may read the file may hold a lock on it: the caller says how long that is waited for.
Result<void> AuditFile::Lock() {
  if (flock(fd_->get(), LOCK_EX | LOCK_NB) == 0) return {};
  return std::unexpected(Error("lock", path_, errno));
}

// Others may have appended since; a file that is new continues what we know.
Result<void> AuditFile::FindLink(std::uint64_t size) {
  if (size == 0 || size == size_) {
    size_ = size;
    return {};
  }
  PA_TRY(const std::string tail, ReadTail(fd_->get(), size, path_));
  size_ = size;
  link_ = After(LastLine(tail));
  // Who wrote this was stopped in the middle: it stays, as a line that is none.
  if (tail.ends_with('\n')) return {};
  if (write(fd_->get(), "\n", 1) != 1) return std::unexpected(Error("write", path_, errno));
  ++size_;
  return {};
}

Result<void> AuditFile::Write(const std::string& line) {
  ssize_t put = -1;
  do {
    put = write(fd_->get(), line.data(), line.size());
  } while (put < 0 && errno == EINTR);
  if (put == static_cast<ssize_t>(line.size())) {
    size_ += line.size();
    return {};
  }
  const int code = put < 0 ? errno : ENOSPC;
  if (put > 0) {
    // Where that fails, it stays as a line that is none (FindLink).
    [[maybe_unused]] const int status = ftruncate(fd_->get(), static_cast<off_t>(size_));
  }
  return std::unexpected(Error("write", path_, code));
}

// False: the name means another file by now.
Result<bool> AuditFile::AppendIfCurrent(const LineMaker& make_line) {
  PA_TRY_VOID(Lock());
  const Unlocking unlocking(fd_->get());
  PA_TRY(const auto status, StatOf(fd_->get(), path_));
  const Result<bool> current = IsCurrent(status);
  if (!current || !*current) return current;
  PA_TRY_VOID(FindLink(static_cast<std::uint64_t>(status.st_size)));
  const std::string line = make_line(link_);
  assert(line.find('\n') == line.npos && line.size() < kMaxAuditLine);
  PA_TRY_VOID(Write(line + "\n"));
  link_ = {link_.sequence + 1, Sha256Of(line)};
  return true;
}

Result<void> AuditFile::Append(const LineMaker& make_line) {
  for (int rotation = 0; rotation < kRotations; ++rotation) {
    if (!fd_) {
      PA_TRY_VOID(OpenCurrent());
    }
    PA_TRY(const bool done, AppendIfCurrent(make_line));
    if (done) return {};
    fd_.reset();
  }
  return std::unexpected(Error("open", path_, EBUSY));
}

namespace {

class Checker {
 public:
  void Check(const std::string& place, const std::string& line) {
    ++report_.lines;
    const std::optional<ChainLink> link = LinkIn(line);
    if (!link) {
      Complain(place, "no line of the audit log, or half of one");
    } else if (!expected_) {
      report_.first = link;
    } else if (link->previous != expected_->previous) {
      Complain(place,
               "it does not follow the line before it: "
               "lines were removed, changed or inserted");
    } else if (link->sequence != expected_->sequence && after_whole_line_) {
      Complain(place, "sequence " + std::to_string(link->sequence) + " after " +
                          std::to_string(expected_->sequence - 1));
    }
    after_whole_line_ = link.has_value();
    expected_ = After(line);
  }
  ChainReport Take() && { return std::move(report_); }

 private:
  void Complain(const std::string& place, const std::string& what) {
    ++report_.problem_count;
    if (report_.problems.size() < kMostProblems) report_.problems.push_back(place + ": " + what);
  }

  ChainReport report_;
  std::optional<ChainLink> expected_;
  bool after_whole_line_ = true;
};

}  // namespace

Result<ChainReport> CheckChain(const std::vector<std::string>& paths) {
  Checker checker;
  for (const std::string& path : paths) {
    PA_TRY(const UniqueFd fd, OpenRegular(path, O_RDONLY));
    std::ifstream file(ProcPath(fd.get()));
    if (!file) return std::unexpected(Error("open", path, errno));
    std::uint64_t number = 0;
    for (std::string line; std::getline(file, line);) {
      checker.Check(path + ":" + std::to_string(++number), line);
    }
    if (file.bad()) return std::unexpected(Error("read", path, errno));
  }
  return std::move(checker).Take();
}

}  // namespace pa
