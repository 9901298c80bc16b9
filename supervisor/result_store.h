// ResultStore: the full text of long outputs, on disk, within a quota, for resources/read.
//
// One unlinked temporary file a stream, so that nothing is left behind however we end. When the quota
// is exceeded the oldest finished results go first. URIs carry 128 random bits: who has one may read it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"

namespace pa {

inline constexpr char kResultUriPrefix[] = "project-actions://results/";

class StoredOutput;  // one stream being written or kept

struct ResultChunk {
  std::string bytes;            // raw
  std::uint64_t offset = 0;
  std::uint64_t total = 0;      // bytes in the store
  std::optional<std::string> next_uri;  // the same resource from where this chunk ends
};

class ResultStore {
 public:
  // `directory`: where temporary files may be made; made use of only when something is stored.
  ResultStore(std::string directory, std::uint64_t quota_bytes);
  ~ResultStore();

  // Starts a stream that keeps at most `limit` bytes.
  Result<std::shared_ptr<StoredOutput>> Begin(std::uint64_t limit);
  // Bytes beyond the limit are counted, not kept.
  Result<void> Append(StoredOutput& output, std::string_view bytes);
  // Keeps the stream under a URI and returns it.
  std::string Publish(std::shared_ptr<StoredOutput> output, std::string name);

  // `uri`, optionally with `?offset=N`: at most kMaxReadBytes from there. Nothing: no such result.
  std::optional<Result<ResultChunk>> Read(std::string_view uri);
  static constexpr std::size_t kMaxReadBytes = 1u << 20;

  void SetQuota(std::uint64_t quota_bytes);

  struct Entry {
    std::string uri;
    std::string name;  // "make test: stdout"
    std::uint64_t size;
  };
  std::vector<Entry> List() const;  // newest first

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace pa
