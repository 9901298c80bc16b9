#include "supervisor/guard/repository_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <memory>
#include <ranges>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/directory_reader.h"
#include "base/file.h"
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
constexpr std::size_t kDigitsMin = 40;  // of SHA-1; SHA-256 has 64

constexpr Piece kPieces[] = {
    {"", ImageDepth::kSelf, ProtectedPath::Kind::kTree},
    {"/HEAD", ImageDepth::kSelf, ProtectedPath::Kind::kFile},
    {"/objects", ImageDepth::kSelf, ProtectedPath::Kind::kTree},
    {"/packed-refs", ImageDepth::kSelf, ProtectedPath::Kind::kFile},
    {"/refs", ImageDepth::kTree, ProtectedPath::Kind::kTree},
};

// The object that a text begins with, in hex, or "".
std::string ObjectName(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdef"), text.size());
  const bool whole = digits == kDigitsMin || digits == 64;
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
  Result<void> Done() const;

 private:
  // Whether there was something to read; notes why there may be, and could not be read.
  bool Saw(bool seen, int error);
  PathStamp At(const std::string& path);
  template <typename Visit>
  void ForEachName(const std::string& directory, Visit visit);
  template <typename Visit>
  void ForEachPack(Visit visit);
  UniqueFd Open(const std::string& path);
  std::uint64_t ObjectsIn(int pack_index);
  bool IndexNames(int pack_index, std::string_view object);

  std::string path_;
  std::string objects_;
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

bool Look::HasHead() {
  const std::string head = path_ + "/HEAD";
  if (At(head).IsSymlink()) return true;
  const Result<std::string> text = ReadFile(head, 4096);
  if (!Saw(text.has_value(), text ? 0 : text.error().sys_errno)) return false;
  if (text->starts_with("ref:")) return text->contains("refs/");
  return !ObjectName(*text).empty();
}

bool Look::IsRepository() {
  return HasHead() && At(objects_).IsDirectory() && At(path_ + "/refs").IsDirectory();
}

template <typename Visit>
void Look::ForEachName(const std::string& directory, Visit visit) {
  const UniqueFd fd = Open(directory);
  if (!fd) return;
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) visit(std::string_view(entry->name));
  if (reader.failed()) Saw(false, errno);
}

// The index of each that is whole.
template <typename Visit>
void Look::ForEachPack(Visit visit) {
  ForEachName(objects_ + "/pack", [&](std::string_view name) {
    if (!name.ends_with(".idx")) return;
    const std::string base = objects_ + "/pack/" + std::string(name.substr(0, name.size() - 4));
    if (!At(base + ".pack").exists) return;
    if (const UniqueFd index = Open(base + ".idx")) visit(index.get());
  });
}

// The last of its 256 sums (gitformat-pack(5)); 0 of what is no index of a pack.
std::uint64_t Look::ObjectsIn(int pack_index) {
  constexpr off_t kLast = 8 + 255 * 4;
  std::array<unsigned char, 4> sum{};
  const ssize_t got = pread(pack_index, sum.data(), sum.size(), kLast);
  if (!Saw(got >= 0, errno) || got != static_cast<ssize_t>(sum.size())) return 0;
  std::uint64_t count = 0;
  for (const unsigned char byte : sum) count = count << 8 | byte;
  return count;
}

// Packs with their own word for it, and loose ones.
std::uint64_t Look::CountObjects() {
  std::uint64_t count = 0;
  ForEachPack([&](int index) { count += ObjectsIn(index); });
  ForEachName(objects_, [&](std::string_view name) {
    if (name.size() != 2) return;
    ForEachName(objects_ + "/" + std::string(name), [&](std::string_view) { ++count; });
  });
  return count;
}

// By its sorted names (gitformat-pack(5), version 2).
bool Look::IndexNames(int pack_index, std::string_view object) {
  constexpr std::uint64_t kNames = 8 + 256 * 4;
  std::string name(object.size(), '\0');
  std::uint64_t first = 0, end = ObjectsIn(pack_index);
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    const off_t at = static_cast<off_t>(kNames + middle * name.size());
    const ssize_t got = pread(pack_index, name.data(), name.size(), at);
    if (!Saw(got >= 0, errno) || got != static_cast<ssize_t>(name.size())) break;
    if (name == object) return true;
    name < object ? first = middle + 1 : end = middle;
  }
  return false;
}

std::string LooseObject(const std::string& repository, const std::string& hex) {
  return repository + "/objects/" + hex.substr(0, 2) + "/" + hex.substr(2);
}

// Where others' objects are borrowed it may be there.
bool Look::HasObject(const std::string& hex) {
  const PathStamp loose = At(LooseObject(path_, hex));
  if (loose.IsRegular() && loose.size != 0) return true;
  if (At(objects_ + "/info/alternates").exists) return true;
  bool found = false;
  const std::string object = Bytes(hex);
  ForEachPack([&](int index) { found = found || IndexNames(index, object); });
  return found;
}

std::array<PathStamp, 2> ObjectStamps(const std::string& path) {
  return {LookAt(path + "/objects"), LookAt(path + "/objects/pack")};
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
  copy.object_stamps = ObjectStamps(path);
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
  return ObjectStamps(copy.path) == copy.object_stamps &&
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
  Look look(copy.path);
  const std::string lost = now && *now ? LostTip(copy, **now, look) : "";
  return lost.empty() ? ""
                      : "the commit " + lost + ", which a reference names, is empty or gone; " +
                            std::string(kCure);
}

}  // namespace

Result<bool> IsIntact(const RepositoryCopy& copy) {
  const GuardedPath& itself = copy.pieces.front();
  if (!LookAt(copy.path).SameFile(itself.image->stamp)) return false;
  ImageBudget budget;
  PA_TRY(const auto now, CopyRepository(copy.path, itself.path.area, budget));
  if (!now || (copy.objects != 0 && (now)->objects == 0)) return false;
  if (LostItsReferences(copy, *now)) return false;
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
    const PathStamp now = LookAt(path);
    const PathStamp& was = piece.image->stamp;
    const bool replaced = now.exists && (now.mode & S_IFMT) != (was.mode & S_IFMT);
    const bool headless = path == copy.path + "/HEAD" && !Look(copy.path).HasHead();
    const bool emptied = path == copy.path + "/refs" && no_reference();
    const bool foreign = another && path != copy.path && !path.ends_with("/objects");
    if (was.exists && (now.IsAbsent() || replaced || headless || emptied || foreign)) {
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
