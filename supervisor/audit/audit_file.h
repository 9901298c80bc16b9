// AuditFile: a file of lines to which any number of processes may append. Each line holds the
// SHA-256 of the line before it (a hash chain), so that a removed, changed or inserted line is
// detected.
//
//    AuditFile file("/var/log/project-actions/audit.jsonl");
//    Result<void> kept = file.Append([&](const ChainLink& link) { return BeginLine(call, link); });
//    Result<ChainReport> report = CheckChain({"audit.jsonl.1", "audit.jsonl"});
//
// The chain does not show that the last lines are missing, nor that somebody who may write the file
// has rewritten all lines up to the end. Against that a copy elsewhere helps, or chattr +a.
//
// logrotate may rename the file at any time (not copytruncate, which loses lines): the next line
// goes to the new file and continues the chain.
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

// The position of a line. In JSON: `"unmapped":{"chain":{"sequence":7,"previous":"ab12..."}}`.
struct ChainLink {
  std::uint64_t sequence = 1;
  Digest previous{};  // of the line before it, without its newline; zeros: there was none
  bool operator==(const ChainLink&) const = default;
};

// Makes a line, without its newline: JSON that holds `link`.
using LineMaker = std::function<std::string(const ChainLink& link)>;

class AuditFile {
 public:
  explicit AuditFile(std::string path) : path_(std::move(path)) {}

  // Appends the whole line, or returns an error and appends nothing. Does not block: EWOULDBLOCK
  // while another process appends. Creates the file (0600) and missing parent directories. EINVAL
  // if the path is not a regular file.
  Result<void> Append(const LineMaker& make_line);
  // The file that was appended to, for fdatasync; shared by all who wait for that.
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
  // Of the file after our last append. While it has this size, link_ is that of the next line.
  std::uint64_t size_ = 0;
  ChainLink link_;
};

inline constexpr std::size_t kMaxAuditLine = 64U << 10;

struct ChainReport {
  std::uint64_t lines = 0;
  std::optional<ChainLink> first;     // of the first line: sequence 1 if nothing came before it
  std::vector<std::string> problems;  // `audit.jsonl:7: ...`; the first twenty
  std::uint64_t problem_count = 0;
};
// `paths`: the oldest file first. An error if one of them could not be read.
Result<ChainReport> CheckChain(const std::vector<std::string>& paths);

}  // namespace pa
