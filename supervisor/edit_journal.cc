#include "supervisor/edit_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/json_bytes.h"
#include "supervisor/log.h"
#include "supervisor/state_directory.h"

namespace pa {
namespace {

constexpr std::size_t kMaxJournalBytes = 96U << 20;  // edit takes no more

constexpr std::string_view kPrefix = "journal-";
constexpr std::string_view kNewPrefix = "new-";    // not all there, so nothing was changed yet
constexpr std::string_view kKeptPrefix = "kept-";  // set aside
// The first line: then a mark for each file, so that they can be changed in place, by one small write.
constexpr std::string_view kMagic = "project-actions edit 1 ";
constexpr char kChanged = 'c';    // or it may be
constexpr char kUnchanged = '-';  // not to be touched

// Then a line of JSON that says what is in it; the contents follow, one after the other.
std::string Header(std::span<const JournalEntry> entries) {
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

// It is gone, and does not come back with a crash of the machine; or else it says that there is nothing to do.
Result<void> Neutralise(int fd, const std::string& path, std::size_t count, bool sync) {
  Result<void> gone;
  if (unlink(path.c_str()) != 0) gone = std::unexpected(Error("unlink", path, errno));
  if (gone && sync) gone = SyncPath(Parent(path));
  if (gone) return gone;
  const Result<void> marked = WriteMarks(fd, path, std::string(count, kUnchanged));
  if (!marked) return marked;
  LogWarning("edit: a journal that is of no use any more stays: " + gone.error().Message());
  return {};
}

Result<void> WriteEntries(int fd, const std::string& path, std::span<const JournalEntry> entries) {
  Result<void> written = WriteAll(fd, Header(entries));
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

// Nothing: something is missing, or it is another version's.
std::optional<Parsed> Parse(std::string_view text) {
  if (!text.starts_with(kMagic)) return std::nullopt;
  text.remove_prefix(kMagic.size());
  const std::size_t line = text.find('\n');
  const std::size_t end = text.find('\n', std::min(line, text.size() - 1) + 1);
  if (line == std::string_view::npos || end == std::string_view::npos) return std::nullopt;
  const std::string_view marks = text.substr(0, line);
  const Result<JsonValue> json = ParseJson(text.substr(line + 1, end - line - 1));
  if (!json || !json->IsArray() || json->Items().size() != marks.size()) return std::nullopt;
  std::string_view contents = text.substr(end + 1);
  Parsed parsed{.entries = {}, .count = marks.size()};
  for (std::size_t i = 0; i < marks.size(); ++i) {
    std::optional<JournalEntry> entry = EntryOf(json->Items()[i], contents);
    if (!entry || (marks[i] != kChanged && marks[i] != kUnchanged)) return std::nullopt;
    if (marks[i] == kChanged) parsed.entries.push_back(*std::move(entry));
  }
  if (!contents.empty()) return std::nullopt;
  return parsed;
}

// Nothing: it is not there any more, or somebody is at work with it.
UniqueFd Lock(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!fd) fd.reset(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (fd && flock(fd.get(), LOCK_EX | LOCK_NB) != 0) fd.reset();
  struct stat held{};
  struct stat named{};
  const bool same = fd && fstat(fd.get(), &held) == 0 && lstat(path.c_str(), &named) == 0 &&
                    held.st_ino == named.st_ino && held.st_dev == named.st_dev;
  if (!same) fd.reset();
  return fd;
}

void Take(const std::string& path, FoundEdits& found) {
  UnfinishedEdit edit{.entries = {}, .count = 0, .path = path, .lock = Lock(path)};
  if (!edit.lock) {
    if (access(path.c_str(), R_OK) != 0 && errno != ENOENT) found.unreadable.push_back(path);
    return;
  }
  const Result<std::string> text = ReadFileFrom(edit.lock.get(), path, kMaxJournalBytes);
  std::optional<Parsed> parsed = text ? Parse(*text) : std::nullopt;
  if (!parsed) {
    found.unreadable.push_back(path);
  } else if (parsed->entries.empty()) {
    unlink(path.c_str());
  } else {
    edit.entries = std::move(parsed->entries);
    edit.count = parsed->count;
    found.edits.push_back(std::move(edit));
  }
}

// Between its making and its lock a new journal looks like a dead one's.
UniqueFd LockDirectory(const std::string& directory, int how) {
  UniqueFd fd(open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd && flock(fd.get(), how) != 0) fd.reset();
  return fd;
}

// No directory, no journal.
Result<std::vector<std::string>> NamesIn(const std::string& directory) {
  Result<std::vector<std::string>> names = ReadNames(directory);
  if (!names && names.error().sys_errno == ENOENT) return std::vector<std::string>();
  return names;
}

}  // namespace

Result<EditJournal> EditJournal::Begin(const std::string& directory,
                                       std::span<const JournalEntry> entries, bool sync) {
  const Result<void> made = MakeStateDirectory(directory);
  if (!made) return std::unexpected(made.error());
  const UniqueFd begins = LockDirectory(directory, LOCK_SH);
  std::string path = directory + "/" + std::string(kNewPrefix) + "XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return std::unexpected(Error("mkostemp", path, errno));
  Result<void> written;
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    written = std::unexpected(Error("flock", path, errno));
  }
  if (written) written = WriteEntries(fd.get(), path, entries);
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

Result<void> EditJournal::End() { return Neutralise(fd_.get(), path_, count_, sync_); }

Result<void> EditJournal::Leave(const std::vector<bool>& changed) {
  std::string marks;
  for (const bool one : changed) marks += one ? kChanged : kUnchanged;
  return WriteMarks(fd_.get(), path_, marks);
}

Result<void> UnfinishedEdit::Forget() const { return Neutralise(lock.get(), path, count, true); }

Result<std::string> UnfinishedEdit::SetAside() const {
  const std::string name = path.substr(path.rfind('/') + 1).substr(kPrefix.size());
  std::string kept = Parent(path) + "/" + std::string(kKeptPrefix) + name;
  if (rename(path.c_str(), kept.c_str()) != 0) {
    return std::unexpected(Error("rename", path, errno));
  }
  if (auto synced = SyncPath(Parent(path)); !synced) return std::unexpected(synced.error());
  return kept;
}

Result<FoundEdits> FindUnfinished(const std::string& directory) {
  const UniqueFd nobody_begins = LockDirectory(directory, LOCK_EX | LOCK_NB);
  const Result<std::vector<std::string>> names = NamesIn(directory);
  if (!names) return std::unexpected(names.error());
  FoundEdits found;
  for (const std::string& name : *names) {
    const std::string path = directory + "/" + name;
    if (name.starts_with(kPrefix)) Take(path, found);
    if (name.starts_with(kNewPrefix) && nobody_begins && Lock(path)) unlink(path.c_str());
  }
  return found;
}

Result<std::vector<std::string>> KeptEdits(const std::string& directory) {
  Result<FoundEdits> found = FindUnfinished(directory);
  if (!found) return std::unexpected(found.error());
  const Result<std::vector<std::string>> names = NamesIn(directory);
  if (!names) return std::unexpected(names.error());
  std::vector<std::string> kept = std::move(found->unreadable);
  for (const std::string& name : *names) {
    if (name.starts_with(kKeptPrefix)) kept.push_back(directory + "/" + name);
  }
  return kept;
}

}  // namespace pa
