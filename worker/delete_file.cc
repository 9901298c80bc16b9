#include "worker/delete_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>

#include "base/directory_reader.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "worker/file_header.h"
#include "worker/open_file.h"
#include "worker/place.h"
#include "worker/transfer.h"

namespace pa::worker {
namespace {

constexpr std::uint64_t kMaxEntries = 100'000;
constexpr std::uint64_t kMaxNameBytes = 8u << 20;
constexpr int kMaxDepth = 64;  // each level keeps a descriptor
constexpr const char* kContent = "content";
constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
constexpr const char* kElsewhere = "the directory where it goes";

struct Order {
  DeleteHeader header;
  char path[PATH_MAX] = {};
  char info[8 * PATH_MAX];  // a path in JSON, and a little more
};

// What is in a directory, told as it is found.
class Tally {
 public:
  explicit Tally(DeleteReply& reply) : reply_(reply) {}

  // `fd` is open to be read.
  SysResult<void> Walk(int fd, int depth) {
    DirectoryReader reader(fd);
    while (const auto entry = reader.Next()) {
      if (reply_.files + reply_.directories >= kMaxEntries || told_ >= kMaxNameBytes) {
        reply_.more = 1;
        return {};
      }
      const std::size_t length = length_;
      if (!Append(entry->name)) continue;
      PA_TRY_VOID(Name());
      PA_TRY_VOID(Enter(fd, *entry, depth));
      length_ = length;
    }
    return {};
  }

  SysResult<void> Flush() {
    const SysResult<void> told = WriteStdout(names_, used_);
    used_ = 0;
    return told;
  }

 private:
  bool Append(const char* name) {
    const std::size_t size = std::strlen(name);
    const std::size_t slash = length_ == 0 ? 0 : 1;
    if (length_ + slash + size >= sizeof path_) {
      reply_.more = 1;
      return false;
    }
    if (slash != 0) path_[length_] = '/';
    std::memcpy(path_ + length_ + slash, name, size);
    length_ += slash + size;
    return true;
  }

  SysResult<void> Name() {
    if (used_ + length_ + 1 > sizeof names_) {
      PA_TRY_VOID(Flush());
    }
    std::memcpy(names_ + used_, path_, length_);
    names_[used_ + length_] = '\0';
    used_ += length_ + 1;
    told_ += length_ + 1;
    return {};
  }

  SysResult<void> Enter(int at, const DirectoryReader::Entry& entry, int depth) {
    if (entry.type != DT_DIR && entry.type != DT_UNKNOWN) {
      ++reply_.files;
      return {};
    }
    const SysResult<Opened> opened =
        OpenBeneath(at, entry.name, O_RDONLY | O_DIRECTORY | O_NONBLOCK);
    const bool is_file = !opened && opened.error().sys_errno == ENOTDIR;
    ++(is_file ? reply_.files : reply_.directories);
    if (is_file) return {};
    if (opened && depth < kMaxDepth) return Walk(opened->fd.get(), depth + 1);
    reply_.more = 1;  // closed to us, or too deep; it goes all the same
    return {};
  }

  DeleteReply& reply_;
  std::size_t length_ = 0;  // of the path
  std::size_t used_ = 0;    // of the names
  std::uint64_t told_ = 0;
  char path_[PATH_MAX];
  char names_[4 * PATH_MAX];
};

// What it is, and what is in it.
SysResult<void> LookAt(const Place& place, bool recursive) {
  PA_TRY(const Opened seen, OpenBeneath(place.directory.get(), place.name, O_PATH | O_NOFOLLOW));
  DeleteReply reply{.mode = seen.status.st_mode};
  if (S_ISDIR(reply.mode)) {
    PA_TRY(const Opened opened,
           OpenBeneath(place.directory.get(), place.name, O_RDONLY | O_DIRECTORY));
    Tally tally(reply);
    PA_TRY_VOID(tally.Walk(opened.fd.get(), 0));
    PA_TRY_VOID(tally.Flush());
  }
  PA_TRY_VOID(WriteStdout(&reply, sizeof reply));
  const bool empty = reply.files + reply.directories == 0 && reply.more == 0;
  if (!empty && !recursive) return Failed("remove", place.name, ENOTEMPTY);
  return {};
}

// Absolute, so not beneath anything; the supervisor has resolved it, and made the last of it.
SysResult<UniqueFd> OpenElsewhere(const char* path) {
  open_how how = {};
  how.flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_NO_SYMLINKS;
  UniqueFd fd(static_cast<int>(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how)));
  if (!fd) return Failed("open", kElsewhere);
  return fd;
}

SysResult<void> MakeFile(int at, const char* name, const char* text, std::size_t size, bool syncs) {
  PA_TRY(const Opened file, OpenBeneath(at, name, O_WRONLY | O_CREAT | O_EXCL, S_IRUSR | S_IWUSR));
  PA_TRY_VOID(WriteAll(file.fd.get(), text, size, kElsewhere));
  if (syncs && fsync(file.fd.get()) != 0) return Failed("fsync", kElsewhere);
  return {};
}

// The entry, its name in the trash, and the trash's in the working directory.
SysResult<void> SyncTrash(int entry, const Place& trash) {
  PA_TRY_VOID(SyncDirectory(entry));
  PA_TRY_VOID(SyncDirectory(trash));
  const SysResult<Opened> top = OpenBeneath(AT_FDCWD, ".", O_PATH | O_DIRECTORY);
  return top ? SyncDirectory(top->fd.get()) : std::unexpected(top.error());
}

// Beneath the working directory, as TRASH/ID.
SysResult<UniqueFd> MakeElsewhere(const Order& order) {
  SysResult<Place> place = FindPlace(order.path, true);
  if (!place) return Failed(place.error().op, kElsewhere, place.error().sys_errno);
  if (mkdirat(place->directory.get(), place->name, S_IRWXU) != 0)
    return Failed("mkdir", kElsewhere);
  SysResult<Opened> made = OpenBeneath(place->directory.get(), place->name, O_PATH | O_DIRECTORY);
  if (!made) return Failed("open", kElsewhere, made.error().sys_errno);
  constexpr char kAll[] = "*\n";
  PA_TRY_VOID(MakeFile(made->fd.get(), ".gitignore", kAll, sizeof kAll - 1, false));
  const bool syncs = order.header.syncs != 0;
  if (auto told = MakeFile(made->fd.get(), "info.json", order.info, order.header.info_size, syncs);
      !told) {
    return std::unexpected(told.error());
  }
  // What comes there is not to be without its name, nor the trash without it.
  if (syncs) {
    if (auto synced = SyncTrash(made->fd.get(), *place); !synced)
      return Failed(synced.error().op, kElsewhere, synced.error().sys_errno);
  }
  return std::move(made->fd);
}

SysResult<void> Move(Place& place, const Order& order, ToSync& to_sync) {
  PA_TRY(UniqueFd to, order.path[0] == '/' ? OpenElsewhere(order.path) : MakeElsewhere(order));
  const int from = place.directory.get();
  long moved = syscall(SYS_renameat2, from, place.name, to.get(), kContent, kNoReplace);
  // Some file systems have no flags; the directory is new, so there is nothing to replace.
  if (moved != 0 && (errno == EINVAL || errno == ENOSYS)) {
    moved = syscall(SYS_renameat2, from, place.name, to.get(), kContent, 0u);
  }
  if (moved != 0) return Failed("rename", place.name);
  if (order.header.syncs == 0) return {};
  // First where it is now: it must not be lost between the two.
  to_sync.first = std::move(to);
  to_sync.second = std::move(place.directory);
  return {};
}

SysResult<void> ReadOrder(Order& order) {
  DeleteHeader& header = order.header;
  PA_TRY_VOID(ReadStdin(&header, sizeof header));
  const bool fits = header.path_size < sizeof order.path && header.info_size <= sizeof order.info;
  if (header.magic != kDeleteMagic || !fits) return Failed("read", "stdin", EPROTO);
  PA_TRY_VOID(ReadStdin(order.path, header.path_size));
  return ReadStdin(order.info, header.info_size);
}

}  // namespace

SysResult<void> DeleteFile(const char* path, ToSync& to_sync) {
  Order order;
  PA_TRY_VOID(ReadOrder(order));
  PA_TRY(Place place, FindPlace(path, false));
  const bool looks = order.header.looks != 0;
  const bool recursive = order.header.recursive != 0;
  if (looks || !recursive) {
    PA_TRY_VOID(LookAt(place, recursive));
  }
  return looks ? SysResult<void>() : Move(place, order, to_sync);
}

}  // namespace pa::worker
