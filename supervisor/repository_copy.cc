#include "supervisor/repository_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <ranges>
#include <string_view>
#include <utility>

#include "base/directory_reader.h"
#include "base/file.h"
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
    {"/index", ImageDepth::kSelf, ProtectedPath::Kind::kFile},
};

// The object that a text begins with, in hex, or "".
std::string ObjectName(std::string_view text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdef"), text.size());
  const bool whole = digits == kDigitsMin || digits == 64;
  return whole ? std::string(text.substr(0, digits)) : "";
}

// What git takes for one (is_git_directory in its setup.c): a reference, or a commit.
bool IsHead(const std::string& path) {
  if (LookAt(path).IsSymlink()) return true;
  const Result<std::string> text = ReadFile(path, 4096);
  if (!text) return false;
  if (text->starts_with("ref:")) return text->contains("refs/");
  return !ObjectName(*text).empty();
}

bool IsRepository(const std::string& path) {
  return IsHead(path + "/HEAD") && LookAt(path + "/objects").IsDirectory() &&
         LookAt(path + "/refs").IsDirectory();
}

template <typename Visit>
void ForEachName(const std::string& directory, Visit visit) {
  const UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return;
  DirectoryReader reader(fd.get());
  while (const auto entry = reader.Next()) visit(std::string_view(entry->name));
}

// The last of its 256 sums (gitformat-pack(5)); 0 of what is no index of a pack.
std::uint64_t ObjectsIn(const std::string& pack_index) {
  constexpr off_t kLast = 8 + 255 * 4;
  std::array<unsigned char, 4> sum{};
  const UniqueFd fd(open(pack_index.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fd || pread(fd.get(), sum.data(), sum.size(), kLast) != 4) return 0;
  std::uint64_t count = 0;
  for (const unsigned char byte : sum) count = count << 8 | byte;
  return count;
}

// Packs with their own word for it, and loose ones.
std::uint64_t CountObjects(const std::string& objects) {
  std::uint64_t count = 0;
  ForEachName(objects + "/pack", [&](std::string_view name) {
    if (!name.ends_with(".idx")) return;
    const std::string base = objects + "/pack/" + std::string(name.substr(0, name.size() - 4));
    if (LookAt(base + ".pack").exists) count += ObjectsIn(base + ".idx");
  });
  ForEachName(objects, [&](std::string_view name) {
    if (name.size() != 2) return;
    ForEachName(objects + "/" + std::string(name), [&](std::string_view) { ++count; });
  });
  return count;
}

std::array<PathStamp, 2> ObjectStamps(const std::string& path) {
  return {LookAt(path + "/objects"), LookAt(path + "/objects/pack")};
}

std::string Bytes(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return bytes;
}

// By its sorted names (gitformat-pack(5), version 2).
bool IndexNames(const std::string& pack_index, std::string_view object) {
  constexpr std::uint64_t kNames = 8 + 256 * 4;
  const UniqueFd fd(open(pack_index.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  std::string name(object.size(), '\0');
  std::uint64_t first = 0, end = fd ? ObjectsIn(pack_index) : 0;
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    const off_t at = static_cast<off_t>(kNames + middle * name.size());
    if (pread(fd.get(), name.data(), name.size(), at) != static_cast<ssize_t>(name.size())) break;
    if (name == object) return true;
    name < object ? first = middle + 1 : end = middle;
  }
  return false;
}

// Where others' objects are borrowed it may be there.
bool HasObject(const std::string& objects, const std::string& hex) {
  if (LookAt(objects + "/" + hex.substr(0, 2) + "/" + hex.substr(2)).exists) return true;
  if (LookAt(objects + "/info/alternates").exists) return true;
  bool found = false;
  const std::string object = Bytes(hex);
  ForEachName(objects + "/pack", [&](std::string_view name) {
    if (found || !name.ends_with(".idx")) return;
    const std::string base = objects + "/pack/" + std::string(name.substr(0, name.size() - 4));
    found = LookAt(base + ".pack").exists && IndexNames(base + ".idx", object);
  });
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

// What HEAD and the references name.
std::vector<std::string> TipsOf(const RepositoryCopy& copy) {
  std::vector<std::string> tips;
  for (const GuardedPath& piece : copy.pieces) {
    if (!piece.path.path.ends_with("/index")) AddTips(*piece.image, tips);
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

std::optional<RepositoryCopy> CopyRepository(const std::string& path, const std::string& area) {
  if (!IsRepository(path)) return std::nullopt;
  RepositoryCopy copy{.path = path};
  ImageBudget budget;
  for (const Piece& piece : kPieces) {
    const std::string whole = path + piece.name;
    const std::size_t slash = whole.rfind('/');
    const UniqueFd parent = OpenDirectory(whole.substr(0, std::max<std::size_t>(slash, 1)));
    Result<FileImage> image = std::unexpected(Error());
    if (parent) image = ReadImage(parent.get(), whole.substr(slash + 1), piece.depth, budget);
    if (image) {
      copy.pieces.push_back(Guard(whole, area, piece, std::move(*image)));
    } else {
      copy.left_out += (copy.left_out.empty() ? "" : ", ") + whole.substr(path.rfind('/') + 1);
    }
  }
  copy.object_stamps = ObjectStamps(path);
  copy.objects = CountObjects(path + "/objects");
  for (const std::string& tip : TipsOf(copy)) {
    if (copy.tips.size() == kMaxTips) break;
    if (HasObject(path + "/objects", tip)) copy.tips.push_back(tip);
  }
  return copy;
}

bool IsCurrent(const RepositoryCopy& copy) {
  return ObjectStamps(copy.path) == copy.object_stamps &&
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
  std::size_t files = copy.object_stamps.size();
  for (const GuardedPath& piece : copy.pieces) files += count(count, *piece.image);
  return files;
}

// git keeps `heads` when it removes the last branch, as on the way to one without history.
bool LostItsReferences(const RepositoryCopy& copy, const RepositoryCopy& now) {
  return !TipsOf(copy).empty() && TipsOf(now).empty() && now.left_out.empty() &&
         !LookAt(copy.path + "/refs/heads").IsDirectory();
}

bool IsIntact(const RepositoryCopy& copy) {
  if (!LookAt(copy.path).SameFile(copy.pieces.front().image->stamp)) return false;
  const std::optional<RepositoryCopy> now =
      CopyRepository(copy.path, copy.pieces.front().path.area);
  if (!now || (copy.objects != 0 && now->objects == 0)) return false;
  if (LostItsReferences(copy, *now)) return false;
  const std::vector<std::string> named = TipsOf(*now);
  return std::ranges::none_of(copy.tips, [&](const std::string& tip) {
    return std::ranges::find(named, tip) != named.end() && !HasObject(copy.path + "/objects", tip);
  });
}

ProtectedChange RestoreRepository(const RepositoryCopy& copy, const std::vector<GuardedPath>& kept,
                                  const std::string& displaced) {
  ProtectedChange told{.path = copy.path, .what = "damaged", .restored = true, .repository = true};
  const auto restore = [&](const std::vector<GuardedPath>& paths) {
    for (ProtectedChange& change : Restorer(paths, displaced).Run()) {
      if (!change.kept.empty()) told.kept = change.kept;
      if (change.restored) continue;
      told.restored = false;
      told.failure = change.failure;
    }
  };
  // Once HEAD is one again, which comes first.
  const auto no_reference = [&] {
    const auto found = CopyRepository(copy.path, copy.pieces.front().path.area);
    return found && LostItsReferences(copy, *found);
  };
  // In another one nothing is what it was.
  const bool another =
      LookAt(copy.path).exists && !LookAt(copy.path).SameFile(copy.pieces.front().image->stamp);
  for (const GuardedPath& piece : copy.pieces) {
    const std::string& path = piece.path.path;
    const PathStamp now = LookAt(path);
    const PathStamp& was = piece.image->stamp;
    const bool replaced = now.exists && (now.mode & S_IFMT) != (was.mode & S_IFMT);
    const bool headless = path == copy.path + "/HEAD" && !IsHead(path);
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
  const std::uint64_t left = CountObjects(copy.path + "/objects");
  told.why = "HEAD, references, index, configuration and hooks are as they were";
  if (!copy.left_out.empty()) told.why += ", but for what was too much: " + copy.left_out;
  if (left < copy.objects) {
    told.restored = false;
    told.failure = std::to_string(copy.objects - left) + " of " + std::to_string(copy.objects) +
                   " objects are gone; `git fetch` or a clone can bring back what was pushed";
  }
  return told;
}

}  // namespace pa
