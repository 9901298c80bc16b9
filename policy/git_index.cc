#include "policy/git_index.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "base/try.h"

namespace pa::policy {
namespace {

using Status = std::expected<void, std::string>;

constexpr std::size_t kHeader = 12;  // DIRC, version, number of entries
constexpr std::size_t kStat = 40;    // of an entry, before its hash; the mode is the seventh word
constexpr std::size_t kModeOffset = 24;
constexpr std::uint32_t kGitlink = 0160000;
constexpr std::uint32_t kFolded = 0040000;
constexpr std::uint32_t kTypeMask = 0170000;
constexpr unsigned kExtended = 0x4000;          // of an entry's flags
constexpr unsigned kNameMask = 0xfff;           // the name's length, or this where it is longer
constexpr std::size_t kHashSizes[] = {20, 32};  // SHA-1, SHA-256: only the configuration says which

std::unexpected<std::string> Bad(std::string_view what) {
  return std::unexpected(std::string(what));
}

// A name that git would follow out of the working tree would need a search there.
bool StaysBeneath(std::string_view path) {
  const std::string whole = "/" + std::string(path) + "/";
  return !path.starts_with('/') && !whole.contains("/../");
}

class IndexReader {
 public:
  IndexReader(std::string_view bytes, std::size_t hash, std::span<const std::uint32_t> replaced)
      : bytes_(bytes), hash_(hash), wanted_(replaced) {}

  std::expected<GitIndex, std::string> Read();
  std::expected<std::vector<std::string>, std::string> ReadDirectories(std::size_t most);

 private:
  unsigned Byte(std::size_t at) const { return static_cast<unsigned char>(bytes_[at]); }
  std::uint32_t Word(std::size_t at) const {
    return Byte(at) << 24 | Byte(at + 1) << 16 | Byte(at + 2) << 8 | Byte(at + 3);
  }
  std::size_t end() const { return bytes_.size() - hash_; }  // the checksum follows

  Status ReadEntry(std::uint32_t number);
  Status ReadName(std::size_t from, unsigned length);
  Status Note(std::uint32_t number, std::uint32_t mode);
  Status NoteDirectories();
  Status ReadExtensions();
  Status ReadExtension(std::string_view name, std::size_t size);
  Status ReadLink(std::size_t size);
  Status ReadBlocks(std::size_t size) const;
  std::expected<std::size_t, std::string> SkipBitmap(std::size_t at, std::size_t limit) const;
  Status ReadReplaced(std::size_t at, std::size_t limit);

  std::string_view bytes_;
  std::size_t hash_;
  std::span<const std::uint32_t> wanted_;
  std::uint32_t version_ = 0;
  std::size_t at_ = 0;
  std::string name_;
  std::vector<std::size_t> offsets_;  // of the entries, and where the last one ends
  std::vector<bool> whole_;           // whether an entry's name needs not the one before
  std::vector<bool> nameless_;  // those first ones that replace another's; whether by a gitlink
  bool linked_ = false;
  std::optional<std::size_t> most_directories_;  // nothing: they are not asked for
  std::set<std::string, std::less<>> directories_;
  std::string last_directory_;
  GitIndex index_;
};

std::expected<std::vector<std::string>, std::string> IndexReader::ReadDirectories(
    std::size_t most) {
  most_directories_ = most;
  PA_TRY(const GitIndex index, Read());
  if (!index.shared.empty()) return Bad("a part of it lies elsewhere");
  return std::vector(directories_.begin(), directories_.end());
}

std::expected<GitIndex, std::string> IndexReader::Read() {
  if (!bytes_.starts_with("DIRC") || bytes_.size() < kHeader + hash_) return Bad("it is no index");
  version_ = Word(4);
  if (version_ < 2 || version_ > 4) return Bad("its version is unknown");
  const std::uint32_t entries = Word(8);
  at_ = kHeader;
  for (std::uint32_t number = 0; number < entries; ++number) {
    offsets_.push_back(at_);
    PA_TRY_VOID(ReadEntry(number));
  }
  offsets_.push_back(at_);
  PA_TRY_VOID(ReadExtensions());
  if (!linked_ && !nameless_.empty()) return Bad("an entry has no name");
  return std::move(index_);
}

Status IndexReader::ReadEntry(std::uint32_t number) {
  const std::size_t flags_at = at_ + kStat + hash_;
  if (flags_at + 4 > end()) return Bad("it is cut off");
  const unsigned flags = Byte(flags_at) << 8 | Byte(flags_at + 1);
  const bool extended = (flags & kExtended) != 0;
  // git believes the flag, and has never written it there.
  if (extended && version_ < 3) return Bad("an entry has flags of a later version");
  const std::uint32_t mode = Word(at_ + kModeOffset);
  PA_TRY_VOID(ReadName(flags_at + (extended ? 4 : 2), flags & kNameMask));
  return Note(number, mode);
}

// To the next entry: padded to a multiple of eight, or, since version 4, as a difference from the
// name before: how much of its end is not in this one, and what comes instead.
Status IndexReader::ReadName(std::size_t from, unsigned length) {
  if (version_ == 4) {
    std::size_t cut = 0;
    for (bool first = true;; first = false) {
      if (from >= end() || cut > (1u << 24)) return Bad("a name is cut off");
      const unsigned byte = Byte(from++);
      cut = (first ? 0 : (cut + 1) << 7) + (byte & 0x7f);
      if ((byte & 0x80) == 0) break;
    }
    if (cut > name_.size()) return Bad("a name has less than is left out of it");
    name_.resize(name_.size() - cut);
    whole_.push_back(name_.empty());
  } else {
    name_.clear();
    whole_.push_back(true);
  }
  const std::size_t nul = bytes_.find('\0', from);
  if (nul == std::string_view::npos || nul >= end()) return Bad("a name does not end");
  name_.append(bytes_.substr(from, nul - from));
  // git goes by the length: where it lies, git finds other entries than we do.
  if (length != kNameMask && length != name_.size()) return Bad("a name has not its length");
  at_ = version_ == 4 ? nul + 1 : at_ + ((nul - at_ + 8) & ~std::size_t{7});
  return at_ <= end() ? Status() : Bad("it is cut off");
}

Status IndexReader::Note(std::uint32_t number, std::uint32_t mode) {
  const bool wanted = std::ranges::binary_search(wanted_, number);
  const bool link = (mode & kTypeMask) == kGitlink;
  if (name_.empty()) {
    if (nameless_.size() != number) return Bad("an entry has no name");
    nameless_.push_back(link);
    return {};
  }
  if (most_directories_) PA_TRY_VOID(NoteDirectories());
  const bool folded = (mode & kTypeMask) == kFolded;
  if (!link && !wanted && !folded) return {};
  if (!StaysBeneath(name_)) return Bad("it names a submodule outside its working tree: " + name_);
  if (index_.links.size() + index_.folded.size() == kMaxGitLinks) {
    return Bad("it names more than " + std::to_string(kMaxGitLinks) + " submodules");
  }
  (folded && !wanted ? index_.folded : index_.links).push_back(name_);
  return {};
}

// Entries are sorted, so most are in the directory of the one before.
Status IndexReader::NoteDirectories() {
  const auto parent = [](std::string_view path) {
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
  };
  std::string_view directory = parent(name_);
  if (directory == last_directory_ && !directories_.empty()) return {};
  last_directory_ = directory;
  while (directories_.emplace(directory).second && !directory.empty()) {
    directory = parent(directory);
  }
  const bool few = directories_.size() <= *most_directories_;
  return few ? Status() : Bad("it has files in too many directories");
}

Status IndexReader::ReadExtensions() {
  constexpr std::size_t kHead = 8;  // name and size
  while (at_ + kHead <= end()) {
    const std::string_view name = bytes_.substr(at_, 4);
    const std::size_t size = Word(at_ + 4);
    at_ += kHead;
    if (size > end() - at_) return Bad("an extension is cut off");
    PA_TRY_VOID(ReadExtension(name, size));
    at_ += size;
  }
  return at_ == end() ? Status() : Bad("an extension is cut off");
}

Status IndexReader::ReadExtension(std::string_view name, std::size_t size) {
  if (name == "link") return ReadLink(size);
  if (name == "IEOT") return ReadBlocks(size);
  // git looks for the other extensions where this one says.
  if (name == "EOIE" && (size < 4 || Word(at_) != offsets_.back())) {
    return Bad("its extensions begin elsewhere");
  }
  // Of the others git passes over those with a capital.
  const bool optional = name.front() >= 'A' && name.front() <= 'Z';
  return optional || name == "sdir" ? Status() : Bad("an extension is unknown");
}

// Where threads of git's begin to read; each would believe it.
Status IndexReader::ReadBlocks(std::size_t size) const {
  if (size < 4 || size % 8 != 4) return Bad("its blocks are cut off");
  std::size_t first = 0;
  for (std::size_t at = at_ + 4; at < at_ + size; at += 8) {
    const bool known = first < whole_.size() && Word(at) == offsets_[first];
    if (!known || !whole_[first]) return Bad("a block lies elsewhere");
    first += Word(at + 4);
  }
  return first + 1 == offsets_.size() ? Status() : Bad("its blocks are not all of it");
}

Status IndexReader::ReadLink(std::size_t size) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (std::exchange(linked_, true) || size < hash_) return Bad("its shared part is not clear");
  std::string hex;
  bool none = true;
  for (std::size_t i = 0; i < hash_; ++i) {
    hex += kDigits[Byte(at_ + i) >> 4];
    hex += kDigits[Byte(at_ + i) & 15];
    none = none && Byte(at_ + i) == 0;
  }
  if (!none) index_.shared = "sharedindex." + hex;
  const std::size_t limit = at_ + size;
  std::size_t at = at_ + hash_;
  if (at == limit) return nameless_.empty() ? Status() : Bad("an entry has no name");
  PA_TRY(const auto deleted, SkipBitmap(at, limit));
  return ReadReplaced(deleted, limit);
}

// A compressed bitmap: its bits, its words, these words of 64 bits, and the place of the last head.
std::expected<std::size_t, std::string> IndexReader::SkipBitmap(std::size_t at,
                                                                std::size_t limit) const {
  if (limit - at < 8) return Bad("a bitmap is cut off");
  const std::size_t bytes = std::size_t{Word(at + 4)} * 8;
  if (limit - at < 12 || bytes > limit - at - 12) return Bad("a bitmap is cut off");
  return at + 12 + bytes;
}

// Which entries of the shared part the nameless ones take the place of, in their order.
Status IndexReader::ReadReplaced(std::size_t at, std::size_t limit) {
  PA_TRY(const auto next, SkipBitmap(at, limit));
  std::size_t found = 0;
  std::uint64_t position = 0;
  const auto note = [&](std::uint64_t where) {
    if (found < nameless_.size() && nameless_[found]) {
      index_.replaced.push_back(static_cast<std::uint32_t>(where));
    }
    return ++found <= nameless_.size() && where <= UINT32_MAX;
  };
  const auto word = [&](std::size_t where) {
    return std::uint64_t{Word(where)} << 32 | Word(where + 4);
  };
  constexpr std::string_view kTooMany = "it replaces more entries than it has";
  const std::size_t last = next - 4;
  for (std::size_t head = at + 8; head < last; head += 8) {
    const std::uint64_t run = word(head) >> 1 & UINT32_MAX;
    const std::uint64_t literals = word(head) >> 33;
    if ((word(head) & 1) != 0) {
      for (std::uint64_t i = 0; i < run * 64; ++i) {
        if (!note(position + i)) return Bad(kTooMany);
      }
    }
    position += run * 64;
    if (literals > (last - head) / 8 - 1) return Bad("a bitmap is cut off");
    for (std::uint64_t i = 0; i < literals; ++i, position += 64) {
      head += 8;
      for (std::uint64_t bits = word(head); bits != 0; bits &= bits - 1) {
        if (!note(position + static_cast<unsigned>(std::countr_zero(bits)))) return Bad(kTooMany);
      }
    }
  }
  return found == nameless_.size() ? Status() : Bad("an entry has no name");
}

// With hashes of one size: only the configuration says which.
auto ReadOneWay(std::string_view bytes, std::span<const std::uint32_t> replaced, auto read) {
  IndexReader sha1_reader(bytes, kHashSizes[0], replaced);
  IndexReader sha256_reader(bytes, kHashSizes[1], replaced);
  auto sha1 = read(sha1_reader);
  auto sha256 = read(sha256_reader);
  if (sha1 && sha256 && *sha1 != *sha256) return decltype(sha1)(Bad("it reads in two ways"));
  return sha1 || !sha256 ? sha1 : sha256;
}

}  // namespace

std::expected<GitIndex, std::string> ReadGitIndex(std::string_view bytes,
                                                  std::span<const std::uint32_t> replaced) {
  return ReadOneWay(bytes, replaced, [](IndexReader& reader) { return reader.Read(); });
}

std::expected<std::vector<std::string>, std::string> ReadIndexDirectories(std::string_view bytes,
                                                                          std::size_t most) {
  return ReadOneWay(bytes, {}, [=](IndexReader& reader) { return reader.ReadDirectories(most); });
}

}  // namespace pa::policy
