#include "worker/spec_view.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include "worker/sha256.h"
#include "worker/wire.h"

namespace pa::worker {
namespace {

// Pointer arrays for the lists; memory that the caller owns.
class Arena {
 public:
  explicit Arena(std::span<char> memory) : memory_(memory) {}

  template <typename T>
  T* Take(std::size_t count) {
    const std::size_t wanted = count * sizeof(T);  // count is bounded by the spec's size
    if (wanted > memory_.size()) return nullptr;
    void* taken = memory_.data();
    memory_ = memory_.subspan(wanted);
    return new (taken) T[count];
  }

 private:
  std::span<char> memory_;
};

// One value after the other off the front; every length is checked against what is left.
class Reader {
 public:
  Reader(std::span<const char> bytes, std::span<char> arena) : left_(bytes), arena_(arena) {}

  const char* field() const { return field_; }
  bool AtEnd() const { return left_.empty(); }

  template <typename Integer>
  bool Get(Integer& value) {
    if (left_.size() < sizeof(value)) return false;
    std::memcpy(&value, left_.data(), sizeof(value));
    left_ = left_.subspan(sizeof(value));
    return true;
  }

  template <typename E>
  bool Enum(const char* name, E& value, std::uint8_t first, std::uint8_t last) {
    std::uint8_t raw = 0;
    if (!Begin(name) || !Get(raw) || raw < first || raw > last) return false;
    value = static_cast<E>(raw);
    return true;
  }

  bool Flag(const char* name, bool& value) { return Enum(name, value, 0, 1); }
  bool Number(const char* name, std::uint64_t& value) { return Begin(name) && Get(value); }
  bool Text(const char* name, const char*& text) { return Begin(name) && GetText(text); }

  bool Blob(const char* name, std::string_view& blob) { return Begin(name) && GetBlob(blob); }

  bool TextList(const char* name, worker::TextList& list) {
    std::uint32_t count = 0;
    if (!Begin(name) || !GetCount(count, kMaxListItems, kMinTextBytes)) return false;
    list.items = arena_.Take<char*>(count + 1u);
    if (list.items == nullptr) return false;
    for (; list.count < count; ++list.count) {
      const char* text = nullptr;
      if (!GetText(text)) return false;
      list.items[list.count] = const_cast<char*>(text);  // execve's type; nobody writes
    }
    list.items[count] = nullptr;
    return true;
  }

  bool Grants(const char* name, std::span<const GrantView>& grants) {
    std::uint32_t count = 0;
    if (!Begin(name) || !GetCount(count, kMaxGrants, 2 * kMinTextBytes + 1)) return false;
    auto* items = arena_.Take<GrantView>(count);
    if (items == nullptr) return false;
    for (GrantView& grant : std::span(items, count)) {
      if (!GetText(grant.path) || !Get(grant.access) || !GetText(grant.reason)) return false;
    }
    grants = {items, count};
    return true;
  }

  bool Blobs(const char* name, std::span<const std::string_view>& blobs) {
    std::uint32_t count = 0;
    if (!Begin(name) || !GetCount(count, kMaxPrograms, sizeof(std::uint32_t) + kBpfInstruction)) {
      return false;
    }
    auto* items = arena_.Take<std::string_view>(count);
    if (items == nullptr) return false;
    for (std::string_view& blob : std::span(items, count)) {
      if (!GetBlob(blob) || blob.empty()) return false;
    }
    blobs = {items, count};
    return true;
  }

  bool Mounts(const char* name, std::span<const sandbox::MountView>& mounts) {
    std::uint32_t count = 0;
    if (!Begin(name) || !GetCount(count, kMaxMounts, 2 * kMinTextBytes + 1)) return false;
    auto* items = arena_.Take<sandbox::MountView>(count);
    if (items == nullptr) return false;
    for (sandbox::MountView& mount : std::span(items, count)) {
      if (!Get(mount.kind) || !GetText(mount.source) || !GetText(mount.target)) return false;
    }
    mounts = {items, count};
    return true;
  }

 private:
  static constexpr std::size_t kMinTextBytes = sizeof(std::uint32_t) + 1;

  bool Begin(const char* name) {
    field_ = name;
    std::uint8_t index = 0;
    return Get(index) && index == ++index_;
  }

  // A count that the bytes left cannot hold is refused before the arena is asked.
  bool GetCount(std::uint32_t& count, std::uint32_t most, std::size_t min_item_bytes) {
    return Get(count) && count <= most && count <= left_.size() / min_item_bytes;
  }

  bool GetBlob(std::string_view& blob) {
    std::uint32_t length = 0;
    if (!Get(length) || left_.size() < length) return false;
    blob = {left_.data(), length};
    left_ = left_.subspan(length);
    return true;
  }

  bool GetText(const char*& text) {
    std::uint32_t length = 0;
    if (!Get(length) || left_.size() <= length) return false;
    if (std::memchr(left_.data(), 0, length + std::size_t{1}) != left_.data() + length)
      return false;
    text = left_.data();
    left_ = left_.subspan(length + std::size_t{1});
    return true;
  }

  std::span<const char> left_;
  Arena arena_;
  const char* field_ = "header";
  std::uint8_t index_ = 0;
};

bool IsAbsolute(const char* path) { return path[0] == '/'; }
bool IsAbsoluteOrEmpty(const char* path) { return path[0] == '/' || path[0] == '\0'; }

bool IsOneComponent(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == name.npos &&
         name.size() <= 255;
}

bool IsBeneath(std::string_view path) {
  if (path.size() >= PATH_MAX) return false;
  for (;;) {
    const std::size_t slash = path.find('/');
    if (!IsOneComponent(path.substr(0, slash))) return false;
    if (slash == path.npos) return true;
    path.remove_prefix(slash + 1);
  }
}

bool FileIsSane(const SpecView& spec) {
  switch (spec.action) {
    case Action::kReadFile:
      return IsOneComponent(spec.file);
    case Action::kWriteFile:
    case Action::kRemoveTemp:
    case Action::kDeleteFile:
      return IsBeneath(spec.file);
    case Action::kProbe:
      return IsAbsolute(spec.file);
    case Action::kExecute:
      return spec.file_digest.empty() ? spec.file[0] == '\0' : IsOneComponent(spec.file);
  }
  return false;
}

bool DigestIsSane(const SpecView& spec) {
  if (spec.file_digest.empty()) return true;
  return spec.action == Action::kExecute && spec.file_digest.size() == kDigestBytes;
}

bool IsAssignment(const char* text) { return text[0] != '=' && std::strchr(text, '=') != nullptr; }

bool BpfIsSane(std::string_view program) {
  return program.size() % kBpfInstruction == 0 && program.size() <= kMaxBpfBytes;
}

bool IsSane(const sandbox::MountView& mount) {
  using enum sandbox::MountKind;
  if (!IsAbsolute(mount.target)) return false;
  switch (mount.kind) {
    case kDirectory:
    case kTmpfs:
      return mount.source[0] == '\0';
    case kSymlink:
      return mount.source[0] != '\0';
    case kReadOnly:
    case kWritable:
    case kDevice:
    case kOverlay:
      return IsAbsolute(mount.source);
  }
  return false;
}

bool AreSane(std::span<const sandbox::MountView> mounts) {
  return std::ranges::all_of(mounts, IsSane);
}

// Both in one directory, to be emptied and removed from there.
bool ShmDirIsSane(const SpecView& spec) {
  const std::string_view shm = spec.shm_dir;
  const std::string_view tmp = spec.tmp_dir;
  return shm.empty() ||
         (!tmp.empty() && shm.substr(0, shm.rfind('/')) == tmp.substr(0, tmp.rfind('/')));
}

bool AreSane(std::span<const GrantView> grants) {
  return std::ranges::all_of(grants, [](const GrantView& grant) {
    const auto access = static_cast<std::uint8_t>(grant.access);
    return IsAbsolute(grant.path) && access != 0 && access <= kMaxAccess;
  });
}

// The first field that makes no sense together with the others; nothing when all do.
const char* FindNonsense(const SpecView& spec) {
  const bool executes = spec.action == Action::kExecute;
  if (executes ? !IsAbsolute(spec.executable) : spec.executable[0] != '\0') return "executable";
  if (executes != (spec.argv.count > 0)) return "argv";
  if (!std::all_of(spec.env.items, spec.env.items + spec.env.count, IsAssignment)) return "env";
  if (!IsAbsoluteOrEmpty(spec.working_directory)) return "working_directory";
  if (!IsAbsoluteOrEmpty(spec.tmp_dir)) return "tmp_dir";
  if (!FileIsSane(spec)) return "file";
  if (!DigestIsSane(spec)) return "file_digest";
  if (spec.umask != kUmaskOfUser && spec.umask > 0777) return "umask";
  if (!AreSane(spec.paths)) return "paths";
  if (!ShmDirIsSane(spec)) return "shm_dir";
  if (!BpfIsSane(spec.seccomp_program)) return "seccomp_program";
  if (!AreSane(spec.mounts)) return "mounts";
  return nullptr;
}

// A view without namespaces to have it in, or a program that would refuse to make it.
const char* FindNonsense(const LaunchView& spec) {
  if (!BpfIsSane(spec.seccomp_program)) return "seccomp_program";
  if (spec.namespaces && !spec.seccomp_program.empty()) return "seccomp_program";
  if (!AreSane(spec.view) || (!spec.namespaces && !spec.view.empty())) return "view";
  return nullptr;
}

const char* FindNonsense(const CeilingView& spec) {
  if (!AreSane(spec.paths)) return "paths";
  return std::ranges::all_of(spec.programs, BpfIsSane) ? nullptr : "programs";
}

std::unexpected<SysError> Refuse(const char* field) {
  return std::unexpected(SysError{"decode spec", field, EINVAL});
}

// The name of what is wrong with the header; nothing when it is right.
const char* ReadHeader(Reader& reader, std::uint32_t wanted) {
  std::uint32_t magic = 0;
  std::uint32_t version = 0;
  if (!reader.Get(magic) || magic != wanted) return "magic";
  if (!reader.Get(version) || version != kWireVersion) return "version";
  return nullptr;
}

template <typename Spec, typename Visit>
SysResult<Spec> Parse(std::span<const char> bytes, std::span<char> arena, std::size_t most,
                      std::uint32_t magic, Spec& spec, Visit visit) {
  if (bytes.size() > most) return Refuse("size");
  Reader reader(bytes, arena);
  if (const char* field = ReadHeader(reader, magic)) return Refuse(field);
  if (!visit(reader, spec)) return Refuse(reader.field());
  if (!reader.AtEnd()) return Refuse("trailing bytes");
  if (const char* field = FindNonsense(spec)) return Refuse(field);
  return spec;
}

}  // namespace

SysResult<SpecView> ParseSpec(std::span<const char> bytes, std::span<char> arena) {
  SpecView spec;
  return Parse(bytes, arena, kMaxSpecBytes, kWireMagic, spec,
               [](Reader& reader, SpecView& into) { return VisitSpec(reader, into); });
}

SysResult<LaunchView> ParseLaunch(std::span<const char> bytes, std::span<char> arena) {
  LaunchView spec;
  return Parse(bytes, arena, kMaxLaunchBytes, kLaunchWireMagic, spec,
               [](Reader& reader, LaunchView& into) { return VisitLaunch(reader, into); });
}

SysResult<CeilingView> ParseCeiling(std::span<const char> bytes, std::span<char> arena) {
  CeilingView spec;
  return Parse(bytes, arena, kMaxCeilingBytes, kCeilingWireMagic, spec,
               [](Reader& reader, CeilingView& into) { return VisitCeiling(reader, into); });
}

}  // namespace pa::worker
