// AuditFile: a file of lines that grows at its end, written by any number of processes, in which a
// line that was removed, changed or put in between shows: each holds the SHA-256 of the one before
// it.
//
//   AuditFile file("/var/log/project-actions/audit.jsonl");
//   Result<void> kept = file.Append([&](const ChainLink& link) { return EventLine(event, link); });
//   Result<ChainReport> report = CheckChain({"audit.jsonl.1", "audit.jsonl"});
//
// What the chain does not show: that the last lines are missing, and what someone who may write the
// file put in the place of all lines up to the end. Against that a copy elsewhere helps, or chattr
// +a.
//
// logrotate may rename the file at any time (not copytruncate, which loses lines): the next line
// goes to the new one and continues the chain.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

// What a line says of its place: JSON `"unmapped":{"chain":{"sequence":7,"previous":"ab12..."}}`.
struct ChainLink {
  std::uint64_t sequence = 1;
  Digest previous{};  // of the line before it, without its end; zeros: there was none
  bool operator==(const ChainLink&) const = default;
};

// Makes a line of JSON on one line, without its end, with `link` in it.
using LineMaker = std::function<std::string(const ChainLink& link)>;

class AuditFile {
 public:
  explicit AuditFile(std::string path) : path_(std::move(path)) {}

  // The whole line or an error and no line. Waits for nobody: EWOULDBLOCK while another appends.
  // The file is made, 0600, and directories that lack. Refuses what is no regular file (EINVAL).
  Result<void> Append(const LineMaker& make_line);
  // The file that was appended to, for fdatasync: as many as wait for that share it.
  std::shared_ptr<const UniqueFd> Descriptor() const { return fd_; }

  const std::string& path() const { return path_; }

 private:
  Result<void> OpenCurrent();
  Result<bool> AppendIfCurrent(const LineMaker& make_line);
  Result<void> Lock();
  Result<bool> IsCurrent(const struct stat& open) const;
  Result<void> FindLink(std::uint64_t size);
  Result<void> Write(const std::string& line);

  std::string path_;
  std::shared_ptr<const UniqueFd> fd_;  // null: not open
  std::uint64_t size_ =
      0;  // of the file when we last appended; then link_ is that of the next line
  ChainLink link_;
};

inline constexpr std::size_t kMaxAuditLine = 64U << 10;

struct ChainReport {
  std::uint64_t lines = 0;
  std::optional<ChainLink> first;     // of the first line: sequence 1 when nothing came before
  std::vector<std::string> problems;  // `audit.jsonl:7: ...`; the first twenty
  std::uint64_t problem_count = 0;
};
// `paths`: the oldest first. An error: one could not be read.
Result<ChainReport> CheckChain(const std::vector<std::string>& paths);

}  // namespace pa
