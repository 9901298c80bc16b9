// AuditReader: reads the lines of the audit log, also while servers append to it and logrotate
// renames it.
//
//    AuditReader reader({"audit.jsonl.1", "audit.jsonl"});
//    Result<std::optional<AuditLine>> line = reader.Next();   // nothing: the end, for now
//    ...                                                      // some time later
//    Result<AuditReader::Change> change = reader.Renew();     // and Next again
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

struct AuditLine {
  std::string place;  // `audit.jsonl:7`
  std::string text;   // without its newline
  bool first_of_file = false;
  bool too_long = false;  // longer than kMaxAuditLine: `text` is its beginning
};

class AuditReader {
 public:
  // `paths`: the oldest file first; `-` is standard input.
  explicit AuditReader(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // The next line that has an end; of the next file, if one is over. Nothing: no more, for now. An
  // error if a file cannot be read.
  Result<std::optional<AuditLine>> Next();
  // Once no more is to come: what follows the last newline.
  std::optional<AuditLine> Rest();

  enum class Change {
    kNone,
    kRotated,    // the path is another file, whose lines are next
    kTruncated,  // the file is shorter than before and is read anew: lines may be lost
  };
  // Looks for what has become of the last path. Only if two calls with Next between them find
  // another file there is it read: a server may have written a last line to the old one. A path
  // that is gone is still the old file.
  Result<Change> Renew();

 private:
  Result<void> Open(const std::string& path);
  Result<bool> Fill();
  AuditLine Take(std::size_t size);

  std::vector<std::string> paths_;
  std::size_t opened_ = 0;  // of the paths
  UniqueFd fd_;
  std::string buffer_;  // read; `begin_` of it is taken
  std::size_t begin_ = 0;
  bool skipping_ = false;  // the rest of a line that is too long
  bool rotated_ = false;   // as the last call of Renew has seen
  std::uint64_t lines_ = 0;
  std::uint64_t bytes_ = 0;
  std::optional<AuditLine> last_of_old_;
};

}  // namespace pa
