#include "supervisor/state/edit_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/json_bytes.h"
#include "base/try.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

constexpr std::size_t kMaxJournalBytes = 96U << 20;  // edit takes no more

constexpr std::string_view kPrefix = "journal-";
constexpr std::string_view kNewPrefix = "new-";    // not all there, so nothing was changed yet
constexpr std::string_view kKeptPrefix = "kept-";  // set aside
// The first line: then a mark for each file, so that they can be changed in place, by one small
// write.
constexpr std::string_view kMagic = "project-actions edit 1 ";
constexpr char kChanged = 'c';    // or it may be
constexpr char kUnchanged = '-';  // not to be touched

// Then a line of JSON that says what is in it; the contents follow, one after the other.
std::string HeaderOf(std::span<const JournalEntry> entries) {
  JsonWriter w;
  w.BeginArray();
  for (const JournalEntry& entry : entries) {
    w.BeginObject();
    WriteBytes(w, "root", entry.root);
    WriteBytes(w, "file", entry.file);
    w.Field("after", Hex(entry.after)).Field("size", entry.content.size()).EndObject();
  }
  return std::string(kMagic) + std::string(entries.size(), kChanged) + "\n" +
         std::move(w.EndArray()).Take() + "\n";
}

Result<void> WriteMarks(int fd, const std::string& path, const std::string& marks) {
  const auto done = pwrite(fd, marks.data(), marks.size(), kMagic.size());
  if (done != static_cast<ssize_t>(marks.size())) {
    return std::unexpected(Error("write", path, done < 0 ? errno : EIO));
  }
  if (fsync(fd) != 0) return std::unexpected(Error("fsync", path, errno));
  return {};
}

std::string Parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

// It is gone, and does not come back with a crash of the machine; or else it says that there is
// nothing to do, and why it stays is returned.
Result<std::string> Neutralise(int fd, const std::string& path, std::size_t count, bool sync) {
  Result<void> gone;
  if (unlink(path.c_str()) != 0) gone = std::unexpected(Error("unlink", path, errno));
  if (gone && sync) gone = SyncPath(Parent(path));
  if (gone) return "";
  PA_TRY_VOID(WriteMarks(fd, path, std::string(count, kUnchanged)));
  return "an obsolete journal remains: " + gone.error().Message();
}

Result<void> WriteEntries(int fd, const std::string& path, std::span<const JournalEntry> entries) {
  Result<void> written = WriteAll(fd, HeaderOf(entries));
  for (const JournalEntry& entry : entries) {
    if (written) written = WriteAll(fd, entry.content);
  }
  if (!written) return std::unexpected(Error("write", path, written.error().sys_errno));
  return written;
}

std::optional<JournalEntry> EntryOf(const JsonValue& json, std::string_view& contents) {
  std::optional<std::string> root = ReadBytes(json, "root");
  std::optional<std::string> file = ReadBytes(json, "file");
  const JsonValue* after = json.Find("after");
  const JsonValue* size = json.Find("size");
  if (!root || !file || size == nullptr) return std::nullopt;
  if (after == nullptr || !after->IsString()) return std::nullopt;
  const auto digest = FromHex(after->AsString());
  const auto bytes = size->AsInteger();
  if (!digest || !bytes || *bytes < 0) return std::nullopt;
  const auto length = static_cast<std::size_t>(*bytes);
  if (length > contents.size()) return std::nullopt;
  JournalEntry entry{*std::move(root), *std::move(file), *digest,
                     std::string(contents.substr(0, length))};
  contents.remove_prefix(length);
  return entry;
}

struct Parsed {
  std::vector<JournalEntry> entries;  // those with a mark
  std::size_t count = 0;              // of all
};

struct Header {
  std::string_view marks;
  JsonValue files;
  std::string_view contents;
};

// Nothing: something is missing, or it is another version's.
std::optional<Header> ParseHeader(std::string_view text) {
  if (!text.starts_with(kMagic)) return std::nullopt;
  text.remove_prefix(kMagic.size());
  const std::size_t line = text.find('\n');
  const std::size_t end = text.find('\n', std::min(line, text.size() - 1) + 1);
  if (line == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  const std::string_view marks = text.substr(0, line);
  Result<JsonValue> json = ParseJson(text.substr(line + 1, end - line - 1));
  if (!json || !json->IsArray() || json->Items().size() != marks.size()) return std::nullopt;
  return Header{.marks = marks, .files = *std::move(json), .contents = text.substr(end + 1)};
}

std::optional<Parsed> Parse(std::string_view text) {
  std::optional<Header> header = ParseHeader(text);
  if (!header) return std::nullopt;
  Parsed parsed{.entries = {}, .count = header->marks.size()};
  for (std::size_t i = 0; i < header->marks.size(); ++i) {
    std::optional<JournalEntry> entry = EntryOf(header->files.Items()[i], header->contents);
    const char mark = header->marks[i];
    if (!entry || (mark != kChanged && mark != kUnchanged)) return std::nullopt;
    if (mark == kChanged) parsed.entries.push_back(*std::move(entry));
  }
  if (!header->contents.empty()) return std::nullopt;
  return parsed;
}

// Up to the second line's end, or what there is.
std::string ReadHeader(int fd) {
  constexpr std::size_t kPiece = 64U << 10;
  std::string text;
  while (text.size() < kMaxJournalBytes && std::ranges::count(text, '\n') < 2) {
    const std::size_t had = text.size();
    text.resize(had + kPiece);
    const ssize_t got = pread(fd, text.data() + had, kPiece, static_cast<off_t>(had));
    text.resize(had + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got <= 0) break;
  }
  return text;
}

// Whether one of its files lies in a root of ours. What does not say is everybody's.
bool Concerns(int fd, const IsOurRoot& is_ours, bool& legible) {
  const std::string text = ReadHeader(fd);
  const std::optional<Header> header = ParseHeader(text);
  legible = header.has_value();
  return !header || std::ranges::any_of(header->files.Items(), [&](const JsonValue& file) {
    const std::optional<std::string> root = ReadBytes(file, "root");
    return !root || is_ours(*root);
  });
}

UniqueFd OpenJournal(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) fd.reset(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return fd;
}

bool IsNamed(int fd, const std::string& path) {
  struct stat held{};
  struct stat named{};
  return fstat(fd, &held) == 0 && lstat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino &&
         held.st_dev == named.st_dev;
}

bool TryLock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0; }

// Made by somebody who died before it had its name.
void RemoveNew(const std::string& path) {
  const UniqueFd fd = OpenJournal(path);
  if (fd && TryLock(fd.get()) && IsNamed(fd.get(), path)) unlink(path.c_str());
}

void TakeLocked(UnfinishedEdit edit, FoundEdits& found) {
  const Result<std::string> text = ReadFileFrom(edit.lock.get(), edit.path, kMaxJournalBytes);
  std::optional<Parsed> parsed = text ? Parse(*text) : std::nullopt;
  if (!parsed) {
    found.unreadable.push_back(edit.path);
  } else if (parsed->entries.empty()) {
    unlink(edit.path.c_str());
  } else {
    edit.entries = std::move(parsed->entries);
    edit.count = parsed->count;
    found.edits.push_back(std::move(edit));
  }
}

// Whose it is, is read before its lock is tried: nobody waits for who only looks.
void Take(const std::string& path, const IsOurRoot& is_ours, FoundEdits& found) {
  UniqueFd lock = OpenJournal(path);
  // Also for want of descriptors: it is there, and nobody has looked what is left half done.
  if (!lock && errno != ENOENT) found.unreadable.push_back(path);
  if (!lock) return;
  UnfinishedEdit edit{.entries = {}, .count = 0, .path = path, .lock = std::move(lock)};
  bool legible = false;
  if (!Concerns(edit.lock.get(), is_ours, legible)) return;
  const bool locked = TryLock(edit.lock.get());
  const bool busy = !locked && errno == EWOULDBLOCK;
  if (!IsNamed(edit.lock.get(), path)) return;  // its server has ended it meanwhile
  if (locked) TakeLocked(std::move(edit), found);
  if (busy && legible) found.busy.push_back(path);
}

// No directory, no journal.
Result<std::vector<std::string>> NamesIn(const std::string& directory) {
  Result<std::vector<std::string>> names = ReadNames(directory);
  if (!names && names.error().sys_errno == ENOENT) return std::vector<std::string>();
  return names;
}

// Between its making and its lock it looks like a dead server's, and whoever clears those away may
// take it: then another is made. Once we have the lock and it has its name, nobody takes it.
Result<UniqueFd> MakeLocked(const std::string& pattern, std::string& path) {
  constexpr int kAttempts = 100;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    path = pattern;
    UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
    if (!fd) return std::unexpected(Error("mkostemp", path, errno));
    const bool locked = TryLock(fd.get());
    if (!locked && errno != EWOULDBLOCK) {
      const Error error("flock", path, errno);
      unlink(path.c_str());
      return std::unexpected(error);
    }
    if (locked && IsNamed(fd.get(), path)) return fd;
  }
  return std::unexpected(Error("flock", path, EAGAIN));
}

}  // namespace

Result<EditJournal> EditJournal::Begin(const std::string& directory,
                                       std::span<const JournalEntry> entries, bool sync) {
  PA_TRY_VOID(MakeStateDirectory(directory));
  std::string path;
  PA_TRY(UniqueFd fd, MakeLocked(directory + "/" + std::string(kNewPrefix) + "XXXXXX", path));
  Result<void> written = WriteEntries(fd.get(), path, entries);
  if (written && sync && fsync(fd.get()) != 0) {
    written = std::unexpected(Error("fsync", path, errno));
  }
  const std::string name = directory + "/" + std::string(kPrefix) + path.substr(path.size() - 6);
  if (written && rename(path.c_str(), name.c_str()) != 0) {
    written = std::unexpected(Error("rename", path, errno));
  }
  if (!written) {
    unlink(path.c_str());
    return std::unexpected(written.error());
  }
  EditJournal journal(name, std::move(fd), entries.size(), sync);
  if (sync) written = SyncPath(directory);
  if (written) return journal;
  (void)journal.End();
  return std::unexpected(written.error());
}

Result<std::string> EditJournal::End() { return Neutralise(fd_.get(), path_, count_, sync_); }

Result<void> EditJournal::Leave(const std::vector<bool>& changed) {
  std::string marks;
  for (const bool one : changed) marks += one ? kChanged : kUnchanged;
  return WriteMarks(fd_.get(), path_, marks);
}

Result<std::string> UnfinishedEdit::Forget() const {
  return Neutralise(lock.get(), path, count, true);
}

Result<std::string> UnfinishedEdit::SetAside() const {
  const std::string name = path.substr(path.rfind('/') + 1).substr(kPrefix.size());
  std::string kept = Parent(path) + "/" + std::string(kKeptPrefix) + name;
  if (rename(path.c_str(), kept.c_str()) != 0) {
    return std::unexpected(Error("rename", path, errno));
  }
  PA_TRY_VOID(SyncPath(Parent(path)));
  return kept;
}

FoundEdits FindAmong(std::span<const std::string> paths, const IsOurRoot& is_ours) {
  FoundEdits found;
  for (const std::string& path : paths) Take(path, is_ours, found);
  return found;
}

Result<FoundEdits> FindUnfinished(const std::string& directory, const IsOurRoot& is_ours) {
  PA_TRY(const std::vector<std::string> names, NamesIn(directory));
  std::vector<std::string> journals;
  for (const std::string& name : names) {
    if (name.starts_with(kPrefix)) journals.push_back(directory + "/" + name);
    if (name.starts_with(kNewPrefix)) RemoveNew(directory + "/" + name);
  }
  return FindAmong(journals, is_ours);
}

bool MayHoldEdits(const std::string& directory) {
  const Result<std::vector<std::string>> names = ReadNames(directory, 0, 1);
  return names ? !names->empty() : names.error().sys_errno != ENOENT;
}

Result<std::vector<std::string>> KeptEdits(const std::string& directory, const IsOurRoot& is_ours) {
  PA_TRY(FoundEdits found, FindUnfinished(directory, [](const std::string&) { return true; }));
  PA_TRY(const std::vector<std::string> names, NamesIn(directory));
  std::vector<std::string> kept = std::move(found.unreadable);
  const auto ours = [&](const JournalEntry& entry) { return is_ours(entry.root); };
  for (const UnfinishedEdit& edit : found.edits) {
    const auto count = std::ranges::count_if(edit.entries, ours);
    if (count != 0 && count != std::ssize(edit.entries)) kept.push_back(edit.path);
  }
  for (const std::string& name : names) {
    if (name.starts_with(kKeptPrefix)) kept.push_back(directory + "/" + name);
  }
  return kept;
}

}  // namespace pa
