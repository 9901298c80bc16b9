#include "supervisor/edit_journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"

namespace pa {
namespace {

constexpr std::size_t kMaxJournalBytes = 96U << 20;  // edit takes no more

std::string DirectoryOf(const std::string& state_home) {
  return state_home + "/project-actions/edits";
}

// One line of JSON that says what is in it, then the contents, one after the other.
std::string Format(std::span<const JournalEntry> entries) {
  JsonWriter w;
  w.BeginArray();
  for (const JournalEntry& entry : entries) {
    w.BeginObject().Field("root", entry.root).Field("file", entry.file);
    w.Field("after", Hex(entry.after)).Field("size", entry.content.size()).EndObject();
  }
  std::string text = std::move(w.EndArray()).Take() + "\n";
  for (const JournalEntry& entry : entries) text += entry.content;
  return text;
}

std::optional<JournalEntry> EntryOf(const JsonValue& json, std::string_view& contents) {
  const JsonValue* root = json.Find("root");
  const JsonValue* file = json.Find("file");
  const JsonValue* after = json.Find("after");
  const JsonValue* size = json.Find("size");
  if (size == nullptr) return std::nullopt;
  for (const JsonValue* text : {root, file, after}) {
    if (text == nullptr || !text->IsString()) return std::nullopt;
  }
  const auto digest = FromHex(after->AsString());
  const auto bytes = size->AsInteger();
  if (!digest || !bytes || *bytes < 0) return std::nullopt;
  const auto length = static_cast<std::size_t>(*bytes);
  if (length > contents.size()) return std::nullopt;
  JournalEntry entry{root->AsString(), file->AsString(), *digest,
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

Result<void> MakeDirectory(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) fs::permissions(path, fs::perms::owner_all, error);
  if (error) return std::unexpected(Error("mkdir", path, error.value()));
  return {};
}

}  // namespace

Result<EditJournal> EditJournal::Begin(const std::string& state_home,
                                       std::span<const JournalEntry> entries, bool sync) {
  if (state_home.empty()) return std::unexpected(Error("state directory", "", ENOENT));
  const std::string directory = DirectoryOf(state_home);
  if (Result<void> made = MakeDirectory(directory); !made) return std::unexpected(made.error());
  std::string path = directory + "/XXXXXX";
  UniqueFd fd(mkostemp(path.data(), O_CLOEXEC));
  if (!fd) return std::unexpected(Error("mkostemp", path, errno));
  EditJournal journal(std::move(path), std::move(fd));
  if (flock(journal.fd_.get(), LOCK_EX | LOCK_NB) != 0) {
    return std::unexpected(Error("flock", journal.path_, errno));
  }
  Result<void> written = WriteAll(journal.fd_.get(), Format(entries));
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

std::vector<UnfinishedEdit> FindUnfinished(const std::string& state_home) {
  std::vector<UnfinishedEdit> found;
  std::error_code ignored;  // no directory, no journal
  for (const auto& entry : std::filesystem::directory_iterator(DirectoryOf(state_home), ignored)) {
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
