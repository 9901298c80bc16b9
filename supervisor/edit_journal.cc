#include "supervisor/edit_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/json_bytes.h"
#include "supervisor/state_directory.h"

namespace pa {
namespace {

constexpr std::size_t kMaxJournalBytes = 96U << 20;  // edit takes no more

constexpr std::string_view kPrefix = "journal-";

// One line of JSON that says what is in it; the contents follow, one after the other.
std::string Header(std::span<const JournalEntry> entries) {
  JsonWriter w;
  w.BeginArray();
  for (const JournalEntry& entry : entries) {
    w.BeginObject();
    WriteBytes(w, "root", entry.root);
    WriteBytes(w, "file", entry.file);
    w.Field("after", Hex(entry.after)).Field("size", entry.content.size()).EndObject();
  }
  return std::move(w.EndArray()).Take() + "\n";
}

Result<void> WriteEntries(int fd, std::span<const JournalEntry> entries) {
  Result<void> written = WriteAll(fd, Header(entries));
  for (const JournalEntry& entry : entries) {
    if (written) written = WriteAll(fd, entry.content);
  }
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

// Empty: it is not all there, or it is none.
std::vector<JournalEntry> Parse(std::string_view text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return {};
  const Result<JsonValue> json = ParseJson(text.substr(0, end));
  if (!json || !json->IsArray()) return {};
  std::string_view contents = text.substr(end + 1);
  std::vector<JournalEntry> entries;
  for (const JsonValue& item : json->Items()) {
    std::optional<JournalEntry> entry = EntryOf(item, contents);
    if (!entry) return {};
    entries.push_back(*std::move(entry));
  }
  return entries;
}

Result<void> SyncDirectory(const std::string& path) {
  const UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || fsync(directory.get()) != 0) {
    return std::unexpected(Error("fsync", path, errno));
  }
  return {};
}

}  // namespace

Result<EditJournal> EditJournal::Begin(const std::string& directory,
                                       std::span<const JournalEntry> entries, bool sync) {
  const Result<void> made = MakeStateDirectory(directory);
  if (!made) return std::unexpected(made.error());
  std::string path = directory + "/" + std::string(kPrefix) + "XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return std::unexpected(Error("mkostemp", path, errno));
  EditJournal journal(std::move(path), std::move(fd));
  if (flock(journal.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(Error("flock", journal.path_, errno));
  }
  Result<void> written = WriteEntries(journal.fd_.get(), entries);
  if (written && sync && fsync(journal.fd_.get()) != 0) {
    written = std::unexpected(Error("fsync", journal.path_, errno));
  }
  if (written && sync) written = SyncDirectory(directory);
  if (written) return journal;
  journal.End();
  return std::unexpected(written.error());
}

void EditJournal::End() {
  unlink(path_.c_str());
  fd_.reset();
}

void UnfinishedEdit::Forget() const { unlink(path.c_str()); }

std::vector<UnfinishedEdit> FindUnfinished(const std::string& directory) {
  std::vector<UnfinishedEdit> found;
  std::error_code ignored;  // no directory, no journal
  for (const auto& entry : std::filesystem::directory_iterator(directory, ignored)) {
    if (!entry.path().filename().string().starts_with(kPrefix)) continue;
    UnfinishedEdit edit{.entries = {}, .path = entry.path().string(), .lock = {}};
    edit.lock.reset(open(edit.path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!edit.lock || flock(edit.lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    const Result<std::string> text = ReadFileFrom(edit.lock.get(), edit.path, kMaxJournalBytes);
    if (!text) continue;
    edit.entries = Parse(*text);
    if (edit.entries.empty()) {
      edit.Forget();
    } else {
      found.push_back(std::move(edit));
    }
  }
  return found;
}

}  // namespace pa
