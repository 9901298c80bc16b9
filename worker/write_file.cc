#include "worker/write_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/keep_metadata.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "worker/file_header.h"
#include "worker/open_file.h"
#include "worker/place.h"
#include "worker/protocol.h"
#include "worker/sha256.h"
#include "worker/transfer.h"

namespace pa::worker {
namespace {

constexpr std::size_t kChunk = 16u << 10;
constexpr mode_t kNewMode = 0666;  // less the umask
constexpr mode_t kAnybodyWrites = S_IWUSR | S_IWGRP | S_IWOTH;
constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
constexpr int kPatienceMs = 8'000;  // for another writer of that file
constexpr const char* kTemp = "the temporary file";

// The name that it has ends with the Target.
SysError OfTemp(const SysError& error) { return {error.op, kTemp, error.sys_errno}; }

// Where the file lies, and what is written to first.
struct Target : Place {
  char temp[24] = {};  // `.pa-0123456789abcdef`: NAME_MAX leaves no room for more than a hash
};

void NameTemp(Target& place) {
  constexpr char kHexDigits[] = "0123456789abcdef";
  Sha256 hash;
  hash.Update(place.name, std::strlen(place.name));
  std::uint8_t digest[kDigestBytes];
  hash.Finish(digest);
  char* out = place.temp;
  for (const char* prefix = ".pa-"; *prefix != '\0'; ++prefix) *out++ = *prefix;
  for (int i = 0; i < 8; ++i) {
    *out++ = kHexDigits[digest[i] >> 4];
    *out++ = kHexDigits[digest[i] & 15];
  }
}

SysResult<Target> Find(const char* path, bool makes_parents) {
  PA_TRY(Place place, FindPlace(path, makes_parents));
  Target target;
  static_cast<Place&>(target) = std::move(place);
  NameTemp(target);
  return target;
}

// An error, EFBIG, instead of a death.
void BlockFileSizeSignal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

// The file as it is; without a descriptor: it is not there.
SysResult<Opened> OpenOld(const Target& place, int looks = kLooks) {
  SysResult<Opened> seen = OpenBeneath(place.directory.get(), place.name, O_PATH);
  if (!seen && seen.error().sys_errno == ENOENT) return Opened();
  if (!seen) return std::unexpected(seen.error());
  if (!S_ISREG(seen->status.st_mode)) {
    return Failed("write to a non-regular file", place.name, EINVAL);
  }
  SysResult<UniqueFd> file = OpenToRead(place.directory.get(), place.name, seen->status);
  // Replaced by another one in between.
  if (!file && file.error().sys_errno == ESTALE && looks > 1) return OpenOld(place, looks - 1);
  if (!file) return std::unexpected(file.error());
  seen->fd = std::move(*file);
  return seen;
}

SysResult<void> HashOf(int fd, const char* name, std::uint8_t (&digest)[kDigestBytes]) {
  Sha256 hash;
  char buffer[kChunk];
  for (;;) {
    PA_TRY(const std::size_t got, ReadSome(fd, buffer, sizeof buffer, name));
    if (got == 0) break;
    hash.Update(buffer, got);
  }
  hash.Finish(digest);
  return {};
}

// Whether the name stands for what the header says, now.
SysResult<void> Check(const Target& place, const WriteHeader& header, const Opened& old) {
  if (!old.fd) {
    if (header.replaces == 0) return {};
    return Failed("open", place.name, ENOENT);
  }
  WriteReply reply;
  PA_TRY_VOID(HashOf(old.fd.get(), place.name, reply.present));
  const bool same = std::memcmp(reply.present, header.expected, kDigestBytes) == 0;
  if (header.replaces != 0 && same) return {};
  PA_TRY_VOID(WriteStdout(&reply, sizeof reply));
  return Failed("compare", place.name, header.replaces != 0 ? ESTALE : EEXIST);
}

// Whether the name of the temporary file is that of `fd`.
bool IsNamed(const Target& place, const Opened& temp) {
  const SysResult<Opened> named = OpenBeneath(place.directory.get(), place.temp, O_PATH);
  return named && named->status.st_ino == temp.status.st_ino &&
         named->status.st_dev == temp.status.st_dev;
}

// Not for ever: any program of the tree can hold the lock of a file with that name.
SysResult<void> Lock(int fd, int patience_ms) {
  constexpr int kPauseMs = 10;
  for (int left = patience_ms;; left -= kPauseMs) {
    if (flock(fd, LOCK_EX | LOCK_NB) == 0) return {};
    if (errno != EWOULDBLOCK && errno != EINTR) return Failed("flock", kTemp);
    if (left <= 0) return Failed("lock", kTemp, EWOULDBLOCK);
    const timespec pause = {.tv_sec = 0, .tv_nsec = kPauseMs * 1'000'000L};
    syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, nullptr);
  }
}

// Removes what nobody has at work.
SysResult<void> RemoveLeft(const Target& place, int patience_ms) {
  const int at = place.directory.get();
  const SysResult<Opened> seen = OpenBeneath(at, place.temp, O_PATH);
  if (!seen && seen.error().sys_errno == ENOENT) return {};
  if (!seen) return std::unexpected(OfTemp(seen.error()));
  SysResult<UniqueFd> file = OpenToRead(at, place.temp, seen->status);
  if (!file && (file.error().sys_errno == ESTALE || file.error().sys_errno == ENOENT)) return {};
  if (!file) return std::unexpected(OfTemp(file.error()));
  if (!*file) return Failed("open", kTemp, EEXIST);  // no file of ours
  PA_TRY_VOID(Lock(file->get(), patience_ms));
  if (!IsNamed(place, *seen)) return {};
  if (unlinkat(at, place.temp, 0) != 0 && errno != ENOENT) return Failed("unlink", kTemp);
  return {};
}

// New, empty, and locked. Between its making and the lock another one may take it for a dead one's,
// and remove it; then it is made once more.
SysResult<Opened> MakeTemp(const Target& place, mode_t mode) {
  for (;;) {
    SysResult<Opened> temp =
        OpenBeneath(place.directory.get(), place.temp, O_RDWR | O_CREAT | O_EXCL, mode);
    if (!temp && temp.error().sys_errno == EEXIST) {
      PA_TRY_VOID(RemoveLeft(place, kPatienceMs));
      continue;
    }
    if (!temp) return std::unexpected(OfTemp(temp.error()));
    if (auto locked = Lock(temp->fd.get(), kPatienceMs); !locked) {
      if (IsNamed(place, *temp)) unlinkat(place.directory.get(), place.temp, 0);
      return std::unexpected(locked.error());
    }
    if (IsNamed(place, *temp)) return temp;
  }
}

SysResult<void> Copy(int fd, std::uint64_t size, const char* name) {
  char buffer[kChunk];
  while (size > 0) {
    const std::size_t part = size < sizeof buffer ? static_cast<std::size_t>(size) : sizeof buffer;
    PA_TRY_VOID(ReadStdin(buffer, part));
    PA_TRY_VOID(WriteAll(fd, buffer, part, name));
    size -= part;
  }
  return {};
}

SysResult<void> TakeName(const Target& place, bool replaces) {
  const int at = place.directory.get();
  const long renamed =
      syscall(SYS_renameat2, at, place.temp, at, place.name, replaces ? 0u : kNoReplace);
  if (renamed == 0) return {};
  // Some file systems have no flags (NFS, FUSE).
  if (replaces || (errno != EINVAL && errno != ENOSYS)) return Failed("rename", place.name);
  if (linkat(at, place.temp, at, place.name, 0) != 0) return Failed("link", place.name);
  if (unlinkat(at, place.temp, 0) != 0) return Failed("unlink", kTemp);
  return {};
}

// Who has ordered it may be dead, and another one at work on what that one left half done.
SysResult<void> CheckSupervisor() {
  char byte = 0;
  const ssize_t got = recv(kControlFd, &byte, sizeof byte, MSG_DONTWAIT | MSG_PEEK);
  if (got == 0) return Failed("recv", "control", ECANCELED);
  return {};  // nothing has come; or there is none, by hand
}

// All that happens while the lock is held.
SysResult<void> Replace(const Target& place, const WriteHeader& header, const Opened& temp) {
  PA_TRY(const Opened old, OpenOld(place));
  // Before anything is written: to be told that it is another file takes no room.
  PA_TRY_VOID(Check(place, header, old));
  if (old.fd && (old.status.st_mode & kAnybodyWrites) == 0) {
    return Failed("write to a read-only file", place.name, EACCES);
  }
  PA_TRY_VOID(Copy(temp.fd.get(), header.size, place.name));
  if (old.fd) {
    if (auto kept = KeepMetadata(old.fd.get(), old.status, temp.fd.get(), temp.status, place.name);
        !kept)
      return kept;
  }
  if (header.syncs != 0 && fsync(temp.fd.get()) != 0) return Failed("fsync", place.name);
  // Once more, so that as little as possible can happen between this and the new name.
  PA_TRY(const Opened now, OpenOld(place));
  PA_TRY_VOID(Check(place, header, now));
  PA_TRY_VOID(CheckSupervisor());
  return TakeName(place, header.replaces != 0);
}

}  // namespace

SysResult<void> WriteFile(const char* path, ToSync& to_sync) {
  WriteHeader header;
  PA_TRY_VOID(ReadStdin(&header, sizeof header));
  if (header.magic != kWriteMagic) return Failed("read", "stdin", EPROTO);
  PA_TRY(Target place, Find(path, header.makes_parents != 0));
  BlockFileSizeSignal();
  PA_TRY(const Opened temp, MakeTemp(place, header.replaces != 0 ? S_IRUSR | S_IWUSR : kNewMode));
  const SysResult<void> replaced = Replace(place, header, temp);
  if (!replaced) {
    unlinkat(place.directory.get(), place.temp, 0);
    return replaced;
  }
  if (header.syncs != 0) to_sync.first = std::move(place.directory);
  return {};
}

SysResult<void> RemoveTemp(const char* path) {
  const SysResult<Target> place = Find(path, false);
  if (!place && place.error().sys_errno == ENOENT) return {};
  if (!place) return std::unexpected(place.error());
  const SysResult<void> removed = RemoveLeft(*place, 0);
  if (!removed && removed.error().sys_errno == EWOULDBLOCK) return {};  // another one's
  return removed;
}

}  // namespace pa::worker
