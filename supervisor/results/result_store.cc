#include "supervisor/results/result_store.h"

#include <fcntl.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/descriptors.h"
#include "base/random.h"
#include "base/try.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

// Has a name for a moment only; for file systems without O_TMPFILE.
Result<UniqueFd> NamedThenUnlinked(const std::string& directory) {
  std::string path = directory + "/project-actions-result-XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return std::unexpected(Error("mkostemp", path, errno));
  if (unlink(path.c_str()) != 0) return std::unexpected(Error("unlink", path, errno));
  return fd;
}

Result<UniqueFd> UnlinkedFile(const std::string& directory) {
  // O_EXCL: nobody can give the file a name afterwards (open(2)).
  UniqueFd fd(open(directory.c_str(), O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (fd) return fd;
  if (errno != EOPNOTSUPP && errno != EISDIR) {
    return std::unexpected(Error("open O_TMPFILE", directory, errno));
  }
  return NamedThenUnlinked(directory);
}

// How many of `bytes` the file took.
std::size_t WriteSome(int fd, std::string_view bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t wrote = write(fd, bytes.data() + done, bytes.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) break;
    done += static_cast<std::size_t>(wrote);
  }
  return done;
}

Result<std::string> ReadAt(int fd, std::uint64_t offset, std::size_t size) {
  std::string bytes(size, '\0');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t got =
        pread(fd, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::unexpected(Error("pread", "stored result", errno));
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  bytes.resize(done);
  return bytes;
}

struct UriParts {
  std::string_view resource;
  std::optional<std::uint64_t> offset;  // nothing: not a number
};

UriParts SplitUri(std::string_view uri) {
  constexpr std::string_view kQuery = "?offset=";
  const std::size_t query = uri.find('?');
  if (query == std::string_view::npos) return {uri, 0};
  UriParts parts{uri.substr(0, query), std::nullopt};
  const std::string_view text = uri.substr(query);
  if (!text.starts_with(kQuery)) return parts;
  std::uint64_t value = 0;
  const auto [end, code] =
      std::from_chars(text.data() + kQuery.size(), text.data() + text.size(), value);
  if (code == std::errc() && end == text.data() + text.size()) parts.offset = value;
  return parts;
}

}  // namespace

ResultStore::ResultStore(std::string directory, std::uint64_t quota_bytes)
    : directory_(std::move(directory)), quota_(quota_bytes) {}

Result<std::shared_ptr<StoredOutput>> ResultStore::Begin(std::uint64_t limit) {
  PA_TRY(UniqueFd fd, UnlinkedFile(directory_));
  return std::shared_ptr<StoredOutput>(new StoredOutput(std::move(fd), limit, used_));
}

Result<void> ResultStore::Append(StoredOutput& output, std::string_view bytes) {
  std::uint64_t take = std::min<std::uint64_t>(bytes.size(), output.limit_ - output.size_);
  MakeRoom(take);
  take = std::min(take, quota_ - std::min(quota_, *used_));
  const std::size_t wrote = WriteSome(output.fd_.get(), bytes.substr(0, take));
  const int write_errno = errno;
  output.size_ += wrote;
  *used_ += wrote;
  if (wrote == bytes.size()) return {};
  // What follows a gap is not kept either: a stored text is always a true beginning.
  output.lost_ += bytes.size() - wrote;
  output.limit_ = output.size_;
  if (wrote < take) return std::unexpected(Error("write", "stored result", write_errno));
  return {};
}

std::string ResultStore::Publish(std::shared_ptr<StoredOutput> output, std::string name) {
  while (kept_.size() >= DescriptorsAllow(kMaxResults)) kept_.pop_back();
  kept_.push_front({kResultUriPrefix + RandomHex(16), std::move(name), std::move(output)});
  return kept_.front().uri;
}

std::optional<Result<ResultChunk>> ResultStore::Read(std::string_view uri) {
  const UriParts parts = SplitUri(uri);
  const Kept* kept = Find(parts.resource);
  if (kept == nullptr) return std::nullopt;
  const std::uint64_t total = kept->output->size();
  if (!parts.offset) {
    return std::unexpected(
        Error("read result", "expected ?offset=NUMBER: " + std::string(uri), EINVAL));
  }
  if (*parts.offset >= total && *parts.offset > 0) {
    return std::unexpected(Error("read result",
                                 "offset " + std::to_string(*parts.offset) +
                                     " is past the end: the result has " + std::to_string(total) +
                                     " bytes",
                                 EINVAL));
  }
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(total - *parts.offset, kMaxReadBytes));
  PA_TRY(std::string bytes, ReadAt(kept->output->fd_.get(), *parts.offset, size));
  const bool last = *parts.offset + bytes.size() >= total;
  if (!last) bytes.resize(bytes.size() - UnfinishedCharacter(bytes));
  ResultChunk chunk{std::move(bytes), *parts.offset, total, std::nullopt};
  if (!last)
    chunk.next_uri = kept->uri + "?offset=" + std::to_string(chunk.offset + chunk.bytes.size());
  return chunk;
}

void ResultStore::SetQuota(std::uint64_t quota_bytes) {
  quota_ = quota_bytes;
  MakeRoom(0);
}

std::vector<ResultStore::Entry> ResultStore::List() const {
  std::vector<Entry> entries;
  for (const Kept& kept : kept_) entries.push_back({kept.uri, kept.name, kept.output->size()});
  return entries;
}

void ResultStore::MakeRoom(std::uint64_t bytes) {
  while (*used_ + bytes > quota_ && !kept_.empty()) kept_.pop_back();
}

const ResultStore::Kept* ResultStore::Find(std::string_view uri) const {
  for (const Kept& kept : kept_) {
    if (kept.uri == uri) return &kept;
  }
  return nullptr;
}

}  // namespace pa
