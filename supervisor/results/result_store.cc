#include "supervisor/results/result_store.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <utility>

#include "base/descriptors.h"
#include "base/random.h"
#include "base/try.h"
#include "supervisor/results/stored_bytes.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

std::optional<std::uint64_t> Number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Lines {
  std::uint64_t first = 1;
  std::uint64_t last = 0;
};

// `100-200`, `100`, `-50` of `total` lines.
std::optional<Lines> ReadLines(std::string_view text, std::uint64_t total) {
  const std::size_t dash = text.find('-');
  if (dash == 0) {
    const auto count = Number(text.substr(1));
    if (!count || *count == 0) return std::nullopt;
    return Lines{.first = total - std::min(total, *count) + 1, .last = total};
  }
  const auto first = Number(text.substr(0, dash));
  const auto last = dash == text.npos ? std::optional(total) : Number(text.substr(dash + 1));
  if (!first || !last || *first == 0 || (dash != text.npos && *last < *first)) return std::nullopt;
  return Lines{.first = *first, .last = std::min(*last, total)};
}

Error BadQuery(std::string_view query) {
  return {"read result",
          "expected ?offset=BYTE, ?lines=FIRST-LAST, ?lines=FIRST or ?lines=-COUNT, got " +
              std::string(query),
          EINVAL};
}

Error PastTheEnd(const char* what, std::uint64_t asked, std::uint64_t has, const char* unit) {
  return {"read result",
          std::string(what) + " " + std::to_string(asked) + " is past the end: the result has " +
              std::to_string(has) + " " + unit,
          EINVAL};
}

}  // namespace

ResultStore::ResultStore(std::string directory, std::uint64_t quota_bytes)
    : directory_(std::move(directory)), quota_(quota_bytes) {}

Result<std::shared_ptr<StoredOutput>> ResultStore::Begin(std::uint64_t limit) {
  PA_TRY(UniqueFd fd, MakeUnlinkedFile(directory_));
  return std::shared_ptr<StoredOutput>(new StoredOutput(std::move(fd), limit, used_));
}

Result<void> ResultStore::Append(StoredOutput& output, std::string_view bytes) {
  std::uint64_t take = std::min<std::uint64_t>(bytes.size(), output.limit_ - output.size_);
  MakeRoom(take);
  take = std::min(take, quota_ - std::min(quota_, *used_));
  const std::size_t wrote = WriteAsFits(output.fd_.get(), bytes.substr(0, take));
  const int write_errno = errno;
  output.lines_.Add(bytes.substr(0, wrote));
  output.size_ += wrote;
  *used_ += wrote;
  if (wrote > 0 && !output.uri_.empty() && on_grown_) on_grown_(output.uri_);
  if (wrote == bytes.size()) return {};
  // What follows a gap is not kept either: a stored text is always a true beginning.
  output.lost_ += bytes.size() - wrote;
  output.limit_ = output.size_;
  if (wrote == take) return {};
  const Error error("write", "stored result", write_errno);
  output.why_lost_ = error.Message();
  return std::unexpected(error);
}

std::string ResultStore::Publish(std::shared_ptr<StoredOutput> output, std::string name) {
  while (kept_.size() >= DescriptorsAllow(kMaxResults)) kept_.pop_back();
  output->uri_ = kResultUriPrefix + RandomHex(16);
  kept_.push_front({std::move(name), std::move(output)});
  if (on_published_) on_published_();
  return kept_.front().output->uri_;
}

struct ResultStore::Part {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::optional<std::uint64_t> first_line;  // of lines
  std::uint64_t last_line = 0;
};

// Where the line begins; behind the last line, where the result ends.
Result<std::uint64_t> ResultStore::StartOfLine(const StoredOutput& output, std::uint64_t line) {
  LineIndex::Place place = output.lines_.BlockOf(line);
  while (place.line < line && place.offset < output.size_) {
    PA_TRY(const std::string block, ReadBytesAt(output.fd_.get(), place.offset, LineIndex::kBlock));
    if (block.empty()) break;
    std::size_t at = 0;
    while (place.line < line && at < block.size()) {
      const std::size_t end = block.find('\n', at);
      at = end == std::string::npos ? block.size() : end + 1;
      place.line += end == std::string::npos ? 0 : 1;
    }
    place.offset += at;
  }
  return std::min(place.offset, output.size_);
}

Result<ResultStore::Part> ResultStore::ReadPart(std::string_view query,
                                                const StoredOutput& output) {
  constexpr std::string_view kOffset = "?offset=";
  constexpr std::string_view kLines = "?lines=";
  Part part{.end = output.size_};
  if (query.empty()) return part;
  if (query.starts_with(kOffset)) {
    const auto offset = Number(query.substr(kOffset.size()));
    if (!offset) return std::unexpected(BadQuery(query));
    if (*offset >= output.size_ && *offset > 0) {
      return std::unexpected(PastTheEnd("offset", *offset, output.size_, "bytes"));
    }
    part.begin = *offset;
    return part;
  }
  if (!query.starts_with(kLines)) return std::unexpected(BadQuery(query));
  const std::uint64_t total = output.lines_.lines();
  const auto lines = ReadLines(query.substr(kLines.size()), total);
  if (!lines) return std::unexpected(BadQuery(query));
  if (lines->first > total && total > 0) {
    return std::unexpected(PastTheEnd("line", lines->first, total, "lines"));
  }
  part.first_line = lines->first;
  part.last_line = lines->last;
  PA_TRY(part.begin, StartOfLine(output, lines->first));
  PA_TRY(part.end, StartOfLine(output, lines->last + 1));
  return part;
}

std::optional<Result<ResultChunk>> ResultStore::Read(std::string_view uri) {
  const std::size_t query = std::min(uri.find('?'), uri.size());
  const Kept* kept = Find(uri.substr(0, query));
  if (kept == nullptr) return std::nullopt;
  return Read(*kept->output, uri.substr(query), kept->output->uri_);
}

Result<ResultChunk> ResultStore::Read(const StoredOutput& output, std::string_view query,
                                      const std::string& uri) {
  PA_TRY(const Part part, ReadPart(query, output));
  const auto size =
      static_cast<std::size_t>(std::min<std::uint64_t>(part.end - part.begin, kMaxReadBytes));
  PA_TRY(std::string bytes, ReadBytesAt(output.fd_.get(), part.begin, size));
  ResultChunk chunk{std::move(bytes), part.begin, output.size_, std::nullopt};
  if (part.begin + chunk.bytes.size() >= part.end) return chunk;
  chunk.bytes.resize(chunk.bytes.size() - UnfinishedCharacter(chunk.bytes));
  const std::size_t line_end = chunk.bytes.rfind('\n');
  if (part.first_line && line_end != std::string::npos) {
    chunk.bytes.resize(line_end + 1);
    const auto whole = static_cast<std::uint64_t>(std::ranges::count(chunk.bytes, '\n'));
    chunk.next_uri = uri + "?lines=" + std::to_string(*part.first_line + whole) + "-" +
                     std::to_string(part.last_line);
  } else {
    // Of a line that is longer by itself, too.
    chunk.next_uri = uri + "?offset=" + std::to_string(chunk.offset + chunk.bytes.size());
  }
  return chunk;
}

std::string ResultStore::Adopt(StoredBytes bytes, std::string name) {
  MakeRoom(bytes.size);
  const std::shared_ptr<StoredOutput> output(
      new StoredOutput(std::move(bytes.file), bytes.size, used_));
  output->size_ = bytes.size;
  output->lines_ = std::move(bytes.lines);
  *used_ += bytes.size;
  return Publish(output, std::move(name));
}

std::optional<Result<StoredBytes>> ResultStore::Open(std::string_view uri) const {
  const Kept* kept = Find(uri);
  if (kept == nullptr) return std::nullopt;
  return Open(*kept->output);
}

Result<StoredBytes> ResultStore::Open(const StoredOutput& output) {
  PA_TRY(UniqueFd file, DuplicateOf(output.fd_.get()));
  return StoredBytes{.file = std::move(file), .size = output.size()};
}

void ResultStore::SetQuota(std::uint64_t quota_bytes) {
  quota_ = quota_bytes;
  MakeRoom(0);
}

std::vector<ResultStore::Entry> ResultStore::List() const {
  std::vector<Entry> entries;
  for (const Kept& kept : kept_)
    entries.push_back({kept.output->uri_, kept.name, kept.output->size()});
  return entries;
}

void ResultStore::MakeRoom(std::uint64_t bytes) {
  while (*used_ + bytes > quota_ && !kept_.empty()) kept_.pop_back();
}

const ResultStore::Kept* ResultStore::Find(std::string_view uri) const {
  for (const Kept& kept : kept_) {
    if (kept.output->uri_ == uri) return &kept;
  }
  return nullptr;
}

}  // namespace pa
