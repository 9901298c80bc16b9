// ResultStore: keeps the full text of long outputs on disk, within a quota, for resources/read.
//
//    Result<std::shared_ptr<StoredOutput>> output = store.Begin(limit);
//    Result<void> appended = store.Append(**output, bytes);
//    const std::string uri = store.Publish(*std::move(output), "make test: stdout");
//    std::optional<Result<ResultChunk>> chunk = store.Read(uri);
//
// Each stream is one unlinked temporary file, so nothing is left behind however we end. If the
// quota is exceeded, the oldest finished results are removed first. URIs hold 128 random bits:
// whoever has one may read the result.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/results/line_index.h"
#include "supervisor/results/stored_bytes.h"

namespace pa {

inline constexpr char kResultUriPrefix[] = "project-actions://results/";

// One stream that is being written or kept: a prefix of the bytes that were appended, without gaps.
class StoredOutput {
 public:
  ~StoredOutput() { *used_ -= size_; }
  StoredOutput(const StoredOutput&) = delete;
  StoredOutput& operator=(const StoredOutput&) = delete;

  std::uint64_t size() const { return size_; }  // bytes kept
  std::uint64_t lost() const { return lost_; }  // bytes beyond the limit, the quota or the disk
  const std::string& why_lost() const { return why_lost_; }  // "": the limit or the quota
  std::uint64_t lines() const { return lines_.lines(); }     // with a last one that has no end
  std::uint64_t ended_lines() const { return lines_.ended_lines(); }

 private:
  friend class ResultStore;
  StoredOutput(UniqueFd fd, std::uint64_t limit, std::shared_ptr<std::uint64_t> used)
      : fd_(std::move(fd)), limit_(limit), used_(std::move(used)) {}
  UniqueFd fd_;
  std::uint64_t limit_;
  std::string uri_;  // once it is published
  LineIndex lines_;
  std::uint64_t size_ = 0;
  std::uint64_t lost_ = 0;
  std::string why_lost_;
  std::shared_ptr<std::uint64_t> used_;  // bytes of all streams of the store
};

struct ResultChunk {
  std::string bytes;  // raw; ends at the end of a UTF-8 character, if it is UTF-8
  std::uint64_t offset = 0;
  std::uint64_t total = 0;              // bytes in the store
  std::optional<std::string> next_uri;  // the same resource from the end of this chunk on
};

class ResultStore {
 public:
  // `directory`: where temporary files may be made; used only when something is stored.
  ResultStore(std::string directory, std::uint64_t quota_bytes);

  // Starts a stream that keeps at most `limit` bytes.
  Result<std::shared_ptr<StoredOutput>> Begin(std::uint64_t limit);
  // Bytes beyond the limit or the quota are counted, not kept. An error: the file could not be
  // written; these bytes and all that follow are counted as lost.
  Result<void> Append(StoredOutput& output, std::string_view bytes);
  // Keeps the stream under a URI and returns the URI.
  std::string Publish(std::shared_ptr<StoredOutput> output, std::string name);

  // Keeps a file that somebody else has written: its first `size` bytes. It may exceed the quota
  // alone; older results are removed as for any other.
  std::string Adopt(StoredBytes bytes, std::string name);

  // All of a result, which may then be read on any thread and whatever the store removes. Nothing:
  // no such result.
  std::optional<Result<StoredBytes>> Open(std::string_view uri) const;
  // The same of a stream that may still be written, as far as it is.
  static Result<StoredBytes> Open(const StoredOutput& output);

  // `uri`, optionally with `?offset=N`, a byte, or `?lines=FIRST-LAST`, `?lines=FIRST`, to the end,
  // or `?lines=-N`, the last N: at most kMaxReadBytes from there, of lines whole ones, as far as
  // they fit. Nothing: no such result. EINVAL: another query, or past the end.
  std::optional<Result<ResultChunk>> Read(std::string_view uri);
  static constexpr std::size_t kMaxReadBytes = 1u << 20;
  // The same of a stream that may still be written. `query`: from the `?` on, or "".
  static Result<ResultChunk> Read(const StoredOutput& output, std::string_view query,
                                  const std::string& uri);

  // Runs whenever a result is published.
  void WhenPublished(std::function<void()> callback) { on_published_ = std::move(callback); }
  // Runs whenever a published result gets longer.
  void WhenGrown(std::function<void(const std::string& uri)> callback) {
    on_grown_ = std::move(callback);
  }

  void SetQuota(std::uint64_t quota_bytes);
  const std::string& directory() const { return directory_; }
  // Where the next ones are kept.
  void UseDirectory(std::string directory) { directory_ = std::move(directory); }

  struct Entry {
    std::string uri;
    std::string name;  // "make test: stdout"
    std::uint64_t size;
  };
  std::vector<Entry> List() const;  // newest first
  std::size_t size() const { return kept_.size(); }
  std::uint64_t bytes() const { return *used_; }  // those of streams that are written, too
  bool Has(std::string_view uri) const { return Find(uri) != nullptr; }

 private:
  static constexpr std::size_t kMaxResults = 128;  // at most: each holds a descriptor

  struct Kept {
    std::string name;
    std::shared_ptr<StoredOutput> output;
  };
  struct Part;  // of a result, that a URI names
  static Result<Part> ReadPart(std::string_view query, const StoredOutput& output);
  static Result<std::uint64_t> StartOfLine(const StoredOutput& output, std::uint64_t line);
  void MakeRoom(std::uint64_t bytes);
  const Kept* Find(std::string_view uri) const;

  std::string directory_;
  std::uint64_t quota_;
  std::shared_ptr<std::uint64_t> used_ = std::make_shared<std::uint64_t>(0);
  std::list<Kept> kept_;  // newest first
  std::function<void()> on_published_;
  std::function<void(const std::string& uri)> on_grown_;
};

}  // namespace pa
