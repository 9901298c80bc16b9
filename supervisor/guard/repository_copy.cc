#include "supervisor/guard/repository_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <memory>
#include <optional>
#include <ranges>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/directory_reader.h"
#include "base/file.h"
#include "base/path_parts.h"
#include "base/try.h"
#include "policy/path.h"

namespace pa {
namespace {

using policy::ProtectedPath;

struct Piece {
  const char* name;  // "": the directory itself
  ImageDepth depth;
  ProtectedPath::Kind kind;
};
constexpr std::size_t kMaxTips = 8;
constexpr std::size_t kDigitsMin = 40;  // of SHA-1
constexpr std::size_t kDigitsMax = 64;  // of SHA-256
constexpr std::string_view kPack = ".pack";
constexpr std::string_view kIndex = ".idx";

constexpr Piece kPieces[] = {
    {"", ImageDepth::kSelf, ProtectedPath::Kind::kTree},
    {"/HEAD", ImageDepth::kSelf, ProtectedPath::Kind::kFile},
    {"/objects", ImageDepth::kSelf, ProtectedPath::Kind::kTree},
    {"/packed-refs", ImageDepth::kSelf, ProtectedPath::Kind::kFile},
    {"/refs", ImageDepth::kTree, ProtectedPath::Kind::kTree},
    {"/reftable", ImageDepth::kTree, ProtectedPath::Kind::kTree},
};
constexpr std::string_view kReferences = "refs/";

// The object that a text begins with, in hex, or "".
std::string ObjectName(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdef"), text.size());
  const bool whole = digits == kDigitsMin || digits == kDigitsMax;
  return whole ? std::string(text.substr(0, digits)) : "";
}

std::string Bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

// Of big-endian bytes; 0 of none.
std::uint64_t Number(std::string_view bytes) {
  std::uint64_t number = 0;
  for (const char byte : bytes) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

// Looks at a repository, and knows whether it could: what cannot be seen for want of a descriptor
// or of memory is not gone. What a command can bring about, a mode or a symlink, is as good as
// gone.
class Look {
 public:
  explicit Look(std::string path) : path_(std::move(path)), objects_(path_ + "/objects") {}

  // What git takes for one (is_git_directory in its setup.c): a reference, or a commit.
  bool HasHead();
  bool IsRepository();
  std::uint64_t CountObjects();
  bool HasObject(const std::string& hex);
  // Those that have an index and that git would not open.
  std::vector<std::string> BrokenPacks() { return Packs().broken; }
  // The directories of the objects, and packs with their indexes: git writes no pack again.
  std::vector<RepositoryCopy::Stamp> ObjectStamps();
  Result<void> Done() const;

 private:
  // Whether there was something to read; notes why there may be, and could not be read.
  bool Saw(bool seen, int error);
  PathStamp At(const std::string& path);
  template <typename Visit>
  void ForEachName(const std::string& directory, Visit visit);
  struct FoundPacks {
    std::vector<std::string> indexes;  // of packs that are whole
    std::vector<std::string> broken;   // the packs
  };
  // Examined once: nothing that could change them is alive.
  const FoundPacks& Packs();
  template <typename Visit>
  void ForEachIndex(Visit visit);
  bool IsSearchable(const std::string& directory);
  bool IsDeflated(const std::string& loose);
  UniqueFd Open(const std::string& path);
  std::string Read(int fd, std::uint64_t at, std::size_t size);
  bool PackFits(int pack, int index);
  std::uint64_t ObjectsIn(int pack_index);
  bool IndexNames(int pack_index, std::string_view object);

  std::string path_;
  std::string objects_;
  std::optional<FoundPacks> packs_;
  int error_ = 0;
};

bool Look::Saw(bool seen, int error) {
  if (!seen && !MeansGone(error)) error_ = error;
  return seen;
}

PathStamp Look::At(const std::string& path) {
  const PathStamp stamp = LookAt(path);
  Saw(stamp.error == 0, stamp.error);
  return stamp;
}

UniqueFd Look::Open(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  Saw(bool(fd), errno);
  return fd;
}

Result<void> Look::Done() const {
  if (error_ != 0) return std::unexpected(Error("look at", path_, error_));
  return {};
}

// validate_headref in git's path.c: another text, and git finds no repository.
bool Look::HasHead() {
  const std::string head = path_ + "/HEAD";
  if (At(head).IsSymlink()) {
    std::array<char, kReferences.size()> target;
    const ssize_t got = readlink(head.c_str(), target.data(), target.size());
    return Saw(got >= 0, errno) &&
           std::string_view(target.data(), static_cast<std::size_t>(got)) == kReferences;
  }
  const Result<std::string> text = ReadFile(head, 4096);
  if (!Saw(text.has_value(), text ? 0 : text.error().sys_errno)) return false;
  constexpr std::string_view kSymbolic = "ref:";
  if (!text->starts_with(kSymbolic)) return !ObjectName(*text).empty();
  const std::size_t name = text->find_first_not_of(" \t\r\n", kSymbolic.size());
  return name != std::string::npos && std::string_view(*text).substr(name).starts_with(kReferences);
}

bool Look::IsSearchable(const std::string& directory) {
  return At(directory).IsDirectory() &&
         Saw(faccessat(AT_FDCWD, directory.c_str(), X_OK, AT_EACCESS) == 0, errno);
}

bool Look::IsRepository() {
  return HasHead() && IsSearchable(objects_) && IsSearchable(path_ + "/refs");
}

template <typename Visit>
void Look::ForEachName(const std::string& directory, Visit visit) {
  const UniqueFd fd = Open(directory);
  if (!fd) return;
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) visit(std::string_view(entry->name));
  if (reader.failed()) Saw(false, errno);
}

// Nothing if there is less.
std::string Look::Read(int fd, std::uint64_t at, std::size_t size) {
  std::string bytes(size, '\0');
  const ssize_t got = pread(fd, bytes.data(), size, static_cast<off_t>(at));
  return Saw(got >= 0, errno) && got == static_cast<ssize_t>(size) ? bytes : "";
}

// Whether git would open it (open_packed_git_1 in its packfile.c): the pack has as many objects as
// its index, and ends with the checksum that the index names.
bool Look::PackFits(int pack, int index) {
  constexpr std::size_t kHeader = 12;  // gitformat-pack(5): "PACK", the version, the number
  const std::string header = Read(pack, 0, kHeader);
  struct stat of_pack{};
  struct stat of_index{};
  if (!header.starts_with("PACK") || Number(header.substr(8)) != ObjectsIn(index) ||
      fstat(pack, &of_pack) != 0 || fstat(index, &of_index) != 0) {
    return false;
  }
  const auto pack_end = static_cast<std::uint64_t>(of_pack.st_size);
  const auto index_end = static_cast<std::uint64_t>(of_index.st_size);
  const auto ends_with_sum_of = [&](std::size_t size) {
    if (pack_end < size || index_end < 2 * size) return false;
    const std::string sum = Read(pack, pack_end - size, size);
    return !sum.empty() && sum == Read(index, index_end - 2 * size, size);
  };
  return ends_with_sum_of(kDigitsMin / 2) || ends_with_sum_of(kDigitsMax / 2);
}

// An index without a pack is nothing to git.
const Look::FoundPacks& Look::Packs() {
  if (packs_) return *packs_;
  packs_.emplace();
  ForEachName(objects_ + "/pack", [&](std::string_view name) {
    if (!name.ends_with(kIndex)) return;
    std::string index = objects_ + "/pack/" + std::string(name);
    std::string pack = index.substr(0, index.size() - kIndex.size()) + std::string(kPack);
    if (!At(pack).IsRegular()) return;
    const UniqueFd pack_fd = Open(pack);
    const UniqueFd index_fd = Open(index);
    if (pack_fd && index_fd && PackFits(pack_fd.get(), index_fd.get())) {
      packs_->indexes.push_back(std::move(index));
    } else {
      packs_->broken.push_back(std::move(pack));
    }
  });
  return *packs_;
}

template <typename Visit>
void Look::ForEachIndex(Visit visit) {
  for (const std::string& path : Packs().indexes) {
    if (const UniqueFd index = Open(path)) visit(index.get());
  }
}

std::vector<RepositoryCopy::Stamp> Look::ObjectStamps() {
  const std::string packs = objects_ + "/pack";
  std::vector<RepositoryCopy::Stamp> stamps = {{objects_, At(objects_)}, {packs, At(packs)}};
  ForEachName(packs, [&](std::string_view name) {
    if (!name.ends_with(kPack) && !name.ends_with(kIndex)) return;
    const std::string path = packs + "/" + std::string(name);
    stamps.push_back({path, At(path)});
  });
  return stamps;
}

// The last of its 256 sums (gitformat-pack(5)); 0 of what is no index of a pack.
std::uint64_t Look::ObjectsIn(int pack_index) {
  constexpr std::uint64_t kLast = 8 + 255 * 4;
  return Number(Read(pack_index, kLast, 4));
}

// Packs with their own word for it, and loose ones.
std::uint64_t Look::CountObjects() {
  std::uint64_t count = 0;
  ForEachIndex([&](int index) { count += ObjectsIn(index); });
  ForEachName(objects_, [&](std::string_view name) {
    if (name.size() != 2) return;
    ForEachName(objects_ + "/" + std::string(name), [&](std::string_view) { ++count; });
  });
  return count;
}

// By its sorted names (gitformat-pack(5), version 2).
bool Look::IndexNames(int pack_index, std::string_view object) {
  constexpr std::uint64_t kNames = 8 + 256 * 4;
  std::uint64_t first = 0, end = ObjectsIn(pack_index);
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    const std::string name = Read(pack_index, kNames + middle * object.size(), object.size());
    if (name.empty()) break;
    if (name == object) return true;
    name < object ? first = middle + 1 : end = middle;
  }
  return false;
}

std::string LooseObject(const std::string& repository, const std::string& hex) {
  return repository + "/objects/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

// A loose object begins as zlib's streams do: deflated, and both bytes together divisible by 31
// (RFC 1950). Whether the rest is right nobody looks.
bool Look::IsDeflated(const std::string& loose) {
  if (!At(loose).IsRegular()) return false;
  const UniqueFd fd = Open(loose);
  const std::uint64_t begin = fd ? Number(Read(fd.get(), 0, 2)) : 0;
  return (begin & 0x0F00) == 0x0800 && begin % 31 == 0;
}

// Where others' objects are borrowed it may be there.
bool Look::HasObject(const std::string& hex) {
  if (IsDeflated(LooseObject(path_, hex))) return true;
  if (At(objects_ + "/info/alternates").exists) return true;
  bool found = false;
  const std::string object = Bytes(hex);
  ForEachIndex([&](int index) { found = found || IndexNames(index, object); });
  return found;
}

void AddTips(const FileImage& image, std::vector<std::string>& tips) {
  // A file holds one; packed-refs one a line.
  for (const auto line : std::views::split(std::string_view(image.content), '\n')) {
    const std::string object = ObjectName(std::string_view(line.begin(), line.end()));
    if (!object.empty()) tips.push_back(object);
  }
  for (const auto& [name, child] : image.children) AddTips(child, tips);
}

// Null: too much of it was there, or nothing.
const FileImage* PieceOf(const RepositoryCopy& copy, std::string_view name) {
  const auto found = std::ranges::find_if(copy.pieces, [&](const GuardedPath& piece) {
    return piece.path.path == copy.path + std::string(name);
  });
  return found == copy.pieces.end() ? nullptr : found->image.get();
}

// The commit that HEAD stands for, or "".
std::string HeadOf(const RepositoryCopy& copy) {
  const FileImage* head = PieceOf(copy, "/HEAD");
  if (head == nullptr) return "";
  constexpr std::string_view kReference = "ref: refs/";
  const std::string& text = head->content;
  if (!text.starts_with(kReference)) return ObjectName(text);
  const std::string name = text.substr(kReference.size(), text.find('\n') - kReference.size());
  const FileImage* at = PieceOf(copy, "/refs");
  for (const auto part : std::views::split(std::string_view(name), '/')) {
    if (at == nullptr) break;
    const auto child = at->children.find(std::string(part.begin(), part.end()));
    at = child == at->children.end() ? nullptr : &child->second;
  }
  if (at != nullptr) return ObjectName(at->content);
  const FileImage* packed = PieceOf(copy, "/packed-refs");
  if (packed == nullptr) return "";
  for (const auto part : std::views::split(std::string_view(packed->content), '\n')) {
    const std::string_view line(part.begin(), part.end());
    if (line.ends_with(" refs/" + name)) return ObjectName(line);
  }
  return "";
}

// What HEAD and the references name, each once; HEAD's first.
std::vector<std::string> TipsOf(const RepositoryCopy& copy) {
  std::vector<std::string> all;
  if (std::string head = HeadOf(copy); !head.empty()) all.push_back(std::move(head));
  for (const GuardedPath& piece : copy.pieces) {
    AddTips(*piece.image, all);
  }
  std::vector<std::string> tips;
  std::unordered_set<std::string> known;
  for (std::string& tip : all) {
    if (known.insert(tip).second) tips.push_back(std::move(tip));
  }
  return tips;
}

GuardedPath Guard(const std::string& path, const std::string& area, const Piece& piece,
                  FileImage image) {
  return {{.path = path,
           .kind = piece.kind,
           .found = ProtectedPath::Found::kAbsent,
           .area = area,
           .reason = "git repository"},
          std::make_shared<const FileImage>(std::move(image)),
          nullptr};
}

}  // namespace

Result<std::optional<RepositoryCopy>> CopyRepository(const std::string& path,
                                                     const std::string& area, ImageBudget& budget) {
  Look look(path);
  const bool is_one = look.IsRepository();
  PA_TRY_VOID(look.Done());
  if (!is_one) return std::nullopt;
  RepositoryCopy copy{.path = path};
  for (const Piece& piece : kPieces) {
    const std::string whole = path + piece.name;
    const std::size_t slash = whole.rfind('/');
    const UniqueFd parent = OpenDirectory(whole.substr(0, std::max<std::size_t>(slash, 1)));
    if (!parent) return std::unexpected(Error("open", whole.substr(0, slash), errno));
    Result<FileImage> image = ReadImage(parent.get(), whole.substr(slash + 1), piece.depth, budget);
    if (image) {
      copy.pieces.push_back(Guard(whole, area, piece, std::move(*image)));
    } else {
      copy.left_out += (copy.left_out.empty() ? "" : ", ") + whole.substr(path.rfind('/') + 1);
    }
  }
  copy.object_stamps = look.ObjectStamps();
  copy.broken_packs = look.BrokenPacks();
  copy.objects = look.CountObjects();
  for (const std::string& tip : TipsOf(copy)) {
    if (copy.tips.size() == kMaxTips) break;
    const PathStamp stamp = LookAt(LooseObject(path, tip));
    if (look.HasObject(tip)) copy.tips.push_back({tip, stamp});
  }
  PA_TRY_VOID(look.Done());
  return copy;
}

bool IsCurrent(const RepositoryCopy& copy) {
  const auto looks_the_same = [&](const RepositoryCopy::Tip& tip) {
    return LookAt(LooseObject(copy.path, tip.object)) == tip.loose;
  };
  const auto is_the_same = [](const RepositoryCopy::Stamp& one) {
    return LookAt(one.path) == one.stamp;
  };
  return std::ranges::all_of(copy.object_stamps, is_the_same) &&
         std::ranges::all_of(copy.tips, looks_the_same) &&
         std::ranges::all_of(copy.pieces, [](const GuardedPath& piece) {
           // Of the directory itself nothing but that it is there counts.
           const PathStamp& was = piece.image->stamp;
           if (was.IsDirectory() && piece.image->children.empty()) {
             return LookAt(piece.path.path).SameFile(was);
           }
           return StampsHold(*piece.image, piece.path.path);
         });
}

std::size_t CostOf(const RepositoryCopy& copy) {
  const auto count = [](const auto& self, const FileImage& image) -> std::size_t {
    std::size_t files = 1;
    for (const auto& [name, child] : image.children) files += self(self, child);
    return files;
  };
  std::size_t files = copy.object_stamps.size() + copy.tips.size();
  for (const GuardedPath& piece : copy.pieces) files += count(count, *piece.image);
  return files;
}

namespace {

// git keeps `heads` when it removes the last branch, as on the way to one without history.
bool LostItsReferences(const RepositoryCopy& copy, const RepositoryCopy& now) {
  return !TipsOf(copy).empty() && TipsOf(now).empty() && now.left_out.empty() &&
         !LookAt(copy.path + "/refs/heads").IsDirectory();
}

// With the reftable format all of them are there.
bool LostItsTables(const RepositoryCopy& copy) {
  const FileImage* tables = PieceOf(copy, "/reftable");
  return tables != nullptr && tables->children.contains("tables.list") &&
         !LookAt(copy.path + "/reftable/tables.list").IsRegular();
}

// A pack that was whole, or new, and is not now; or "". git leaves none.
std::string BrokenPack(const RepositoryCopy& copy, const RepositoryCopy& now) {
  for (const std::string& pack : now.broken_packs) {
    if (std::ranges::find(copy.broken_packs, pack) == copy.broken_packs.end()) return pack;
  }
  return "";
}

// One that was there before and is named still, or "".
std::string LostTip(const RepositoryCopy& copy, const RepositoryCopy& now, Look& look) {
  const std::vector<std::string> named = TipsOf(now);
  for (const auto& [object, loose] : copy.tips) {
    if (std::ranges::find(named, object) != named.end() && !look.HasObject(object)) return object;
  }
  return "";
}

// What no copy brings back, in words, or "".
std::string LostObjects(const RepositoryCopy& copy) {
  constexpr std::string_view kCure = "`git fetch` or a clone can bring back what was pushed";
  const std::uint64_t left = Look(copy.path).CountObjects();
  if (left < copy.objects) {
    return std::to_string(copy.objects - left) + " of " + std::to_string(copy.objects) +
           " objects are gone; " + std::string(kCure);
  }
  ImageBudget budget;
  const auto now = CopyRepository(copy.path, copy.pieces.front().path.area, budget);
  if (!now || !*now) return "";
  if (const std::string pack = BrokenPack(copy, **now); !pack.empty()) {
    return "the pack " + pack + " is damaged; " + std::string(kCure);
  }
  Look look(copy.path);
  const std::string lost = LostTip(copy, **now, look);
  return lost.empty() ? ""
                      : "the commit " + lost + ", which a reference names, is damaged or gone; " +
                            std::string(kCure);
}

// Gives a directory that its owner could enter, and cannot now, its mode back: else nothing in it
// could be restored.
void OpenUp(const GuardedPath& piece) {
  const PathStamp now = LookAt(piece.path.path);
  const PathStamp& was = piece.image->stamp;
  if (!now.IsDirectory() || !was.IsDirectory() || (was.mode & ~now.mode & S_IRWXU) == 0) return;
  const UniqueFd parent = OpenDirectory(std::string(ParentOf(piece.path.path)));
  if (!parent) return;
  // Whether that helped is seen right afterwards.
  static_cast<void>(RestoreMetadata(was, parent.get(), std::string(NameOf(piece.path.path))));
}

}  // namespace

Result<bool> IsIntact(const RepositoryCopy& copy) {
  const GuardedPath& itself = copy.pieces.front();
  if (!LookAt(copy.path).SameFile(itself.image->stamp)) return false;
  ImageBudget budget;
  PA_TRY(const auto now, CopyRepository(copy.path, itself.path.area, budget));
  if (!now || (copy.objects != 0 && (now)->objects == 0)) return false;
  if (LostItsReferences(copy, *now) || LostItsTables(copy)) return false;
  if (!BrokenPack(copy, *now).empty()) return false;
  Look look(copy.path);
  const bool lost = !LostTip(copy, *now, look).empty();
  PA_TRY_VOID(look.Done());
  return !lost;
}

ProtectedChange RestoreRepository(const RepositoryCopy& copy, const std::vector<GuardedPath>& kept,
                                  const std::string& quarantine) {
  ProtectedChange told{
      .path = copy.path, .kind = ChangeKind::kDamaged, .restored = true, .repository = true};
  const auto restore = [&](const std::vector<GuardedPath>& paths) {
    for (ProtectedChange& change : Restorer(paths, quarantine).Run()) {
      if (!change.kept.empty()) told.kept = change.kept;
      if (change.restored) continue;
      told.restored = false;
      told.failure = change.failure;
    }
  };
  // Once HEAD is one again, which comes first.
  const auto no_reference = [&] {
    ImageBudget budget;
    const auto found = CopyRepository(copy.path, copy.pieces.front().path.area, budget);
    return found && *found && LostItsReferences(copy, **found);
  };
  // In another one nothing is what it was.
  const bool another =
      LookAt(copy.path).exists && !LookAt(copy.path).SameFile(copy.pieces.front().image->stamp);
  for (const GuardedPath& piece : copy.pieces) {
    const std::string& path = piece.path.path;
    OpenUp(piece);
    const PathStamp now = LookAt(path);
    const PathStamp& was = piece.image->stamp;
    const bool replaced = now.exists && (now.mode & S_IFMT) != (was.mode & S_IFMT);
    const bool headless = path == copy.path + "/HEAD" && !Look(copy.path).HasHead();
    const bool emptied = path == copy.path + "/refs" && no_reference();
    const bool tableless = path == copy.path + "/reftable" && LostItsTables(copy);
    const bool foreign = another && path != copy.path && !path.ends_with("/objects");
    if (was.exists && (now.IsAbsent() || replaced || headless || emptied || tableless || foreign)) {
      restore({piece});
    }
  }
  std::vector<GuardedPath> beneath;
  std::ranges::copy_if(kept, std::back_inserter(beneath), [&](const GuardedPath& one) {
    const bool content =
        one.path.kind == ProtectedPath::Kind::kFile || one.path.kind == ProtectedPath::Kind::kTree;
    return content && one.image->stamp.exists && policy::IsBeneath(one.path.path, copy.path);
  });
  restore(beneath);
  told.why = "HEAD, references, index, configuration and hooks are as they were";
  std::string left_out = copy.left_out;
  for (const GuardedPath& one : kept) {
    const bool held = one.image->stamp.exists || one.path.found == ProtectedPath::Found::kAbsent;
    if (held || !policy::IsBeneath(one.path.path, copy.path)) continue;
    if (!LookAt(one.path.path).IsAbsent()) continue;
    left_out += (left_out.empty() ? "" : ", ") + one.path.path.substr(copy.path.rfind('/') + 1);
  }
  if (!left_out.empty()) told.why += ", but for what was too much: " + left_out;
  if (std::string lost = LostObjects(copy); !lost.empty()) {
    told.restored = false;
    told.failure = std::move(lost);
  }
  return told;
}

}  // namespace pa
