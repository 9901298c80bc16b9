#include "policy/git_index.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace pa::policy {
namespace {

constexpr std::size_t kHeader = 12;  // DIRC, version, number of entries
constexpr std::size_t kStat = 40;    // of an entry, before its hash; the mode is the seventh word
constexpr std::size_t kModeOffset = 24;
constexpr std::uint32_t kGitlink = 0160000;
constexpr std::uint32_t kTypeMask = 0170000;
constexpr std::size_t kHashSizes[] = {20, 32};  // SHA-1, SHA-256: only the configuration says which

class IndexReader {
 public:
  IndexReader(std::string_view bytes, std::size_t hash) : bytes_(bytes), hash_(hash) {}

  // Nothing: it is none, or one with another hash.
  std::optional<GitIndex> Read() {
    if (!bytes_.starts_with("DIRC") || bytes_.size() < kHeader + hash_) return std::nullopt;
    version_ = Word(4);
    if (version_ < 2 || version_ > 4) return std::nullopt;
    const std::uint32_t entries = Word(8);
    at_ = kHeader;
    for (std::uint32_t i = 0; i < entries; ++i) {
      if (!ReadEntry()) return std::nullopt;
    }
    if (!ReadExtensions()) return std::nullopt;
    return std::move(index_);
  }
  // As far as it could be read.
  GitIndex Partial() { return std::move(index_); }

 private:
  unsigned Byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::uint32_t Word(std::size_t at) const {
    return Byte(at) << 24 | Byte(at + 1) << 16 | Byte(at + 2) << 8 | Byte(at + 3);
  }
  std::size_t end() const { return bytes_.size() - hash_; }  // the checksum follows

  bool ReadEntry();
  bool ReadName(std::size_t from);
  bool ReadExtensions();

  std::string_view bytes_;
  std::size_t hash_;
  std::uint32_t version_ = 0;
  std::size_t at_ = 0;
  std::string name_;
  GitIndex index_;
};

bool StaysBeneath(std::string_view path) {
  const std::string whole = "/" + std::string(path) + "/";
  return !path.empty() && !path.starts_with('/') && !whole.contains("/../");
}

bool IndexReader::ReadEntry() {
  const std::size_t flags = at_ + kStat + hash_;
  if (flags + 2 > end()) return false;
  const std::uint32_t mode = Word(at_ + kModeOffset);
  const bool extended = version_ >= 3 && (Byte(flags) & 0x40) != 0;
  if (!ReadName(flags + (extended ? 4 : 2))) return false;
  if ((mode & kTypeMask) == kGitlink && StaysBeneath(name_)) index_.links.push_back(name_);
  return true;
}

// To the next entry: padded to a multiple of eight, or, since version 4, as a difference from the name
// before: how much of its end is not in this one, and what comes instead.
bool IndexReader::ReadName(std::size_t from) {
  if (version_ == 4) {
    std::size_t cut = 0;
    for (bool first = true;; first = false) {
      if (from >= end() || cut > (1u << 24)) return false;
      const unsigned byte = Byte(from++);
      cut = (first ? 0 : (cut + 1) << 7) + (byte & 0x7f);
      if ((byte & 0x80) == 0) break;
    }
    if (cut > name_.size()) return false;
    name_.resize(name_.size() - cut);
  } else {
    name_.clear();
  }
  const std::size_t nul = bytes_.find('\0', from);
  if (nul == std::string_view::npos || nul >= end()) return false;
  name_.append(bytes_.substr(from, nul - from));
  at_ = version_ == 4 ? nul + 1 : at_ + ((nul - at_ + 8) & ~std::size_t{7});
  return at_ <= end();
}

bool IndexReader::ReadExtensions() {
  constexpr std::size_t kHead = 8;  // name and size
  while (at_ + kHead <= end()) {
    const std::string_view name = bytes_.substr(at_, 4);
    const std::size_t size = Word(at_ + 4);
    at_ += kHead;
    if (size > end() - at_) return false;
    if (name == "link" && size >= hash_) {
      constexpr std::string_view kDigits = "0123456789abcdef";
      index_.shared = "sharedindex.";
      for (std::size_t i = 0; i < hash_; ++i) {
        index_.shared += kDigits[Byte(at_ + i) >> 4];
        index_.shared += kDigits[Byte(at_ + i) & 15];
      }
    }
    at_ += size;
  }
  return at_ == end();
}

}  // namespace

GitIndex ReadGitIndex(std::string_view bytes) {
  GitIndex partial;
  for (const std::size_t hash : kHashSizes) {
    IndexReader reader(bytes, hash);
    if (std::optional<GitIndex> index = reader.Read()) return std::move(*index);
    GitIndex read = reader.Partial();
    partial.links.insert(partial.links.end(), read.links.begin(), read.links.end());
    if (partial.shared.empty()) partial.shared = std::move(read.shared);
  }
  return partial;
}

}  // namespace pa::policy
