#include "supervisor/tools/undo_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/path.h"
#include "supervisor/edit_journal.h"
#include "supervisor/log.h"
#include "supervisor/state_directory.h"
#include "supervisor/tool_output.h"
#include "supervisor/tools/edit.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// What a file of a journal is now.
enum class State {
  kBefore,   // as the edit found it
  kAfter,    // as the edit left it
  kChanged,  // by somebody else, since
  kUnknown   // another server's to say, or nobody's: not beneath a root, denied, unreadable
};

struct Entry {
  const JournalEntry* journal = nullptr;
  State state = State::kUnknown;
  std::optional<Work> work;  // unless kUnknown

  std::string Path() const { return journal->root + "/" + journal->file; }
};

// Others are for the servers of other projects.
bool IsOurs(const JournalEntry& entry, const policy::Policy& policy) {
  return std::ranges::any_of(
      policy.roots, [&](const std::string& root) { return policy::IsBeneath(entry.root, root); });
}

// `known`: those before it, whose directory is this one's if their root is.
Task<Entry> Look(const JournalEntry& journal, const std::vector<Entry>& known, CallContext& call) {
  Entry entry{.journal = &journal, .state = State::kUnknown, .work = {}};
  if (!IsOurs(journal, *call.policy)) co_return entry;
  auto directory = policy::ValidateWorkingDirectory(*call.policy, journal.root);
  if (!directory || !ReasonOfGit(journal.root, journal.file).empty()) {
    LogWarning("edit: not put back, because nothing is written there: " + entry.Path());
    co_return entry;
  }
  const auto same = std::ranges::find_if(
      known, [&](const Entry& one) { return one.journal->root == journal.root; });
  if (same != known.end()) directory = same->work->directory;
  entry.work = Work{.tool = &kEdit, .operation = "", .directory = *std::move(directory)};
  Task<std::expected<Digest, ToolError>> task = HashOfFile(*entry.work, journal.file, call);
  const std::expected<Digest, ToolError> hash = co_await task;
  if (hash) {
    entry.state = *hash == journal.after               ? State::kAfter
                  : *hash == Sha256Of(journal.content) ? State::kBefore
                                                       : State::kChanged;
  } else if (hash.error().code == "NOT_FOUND" || hash.error().code == "BINARY_FILE") {
    entry.state = State::kChanged;
  } else {
    LogWarning("edit: not put back: " + hash.error().message);
  }
  co_return entry;
}

// Whether it is what it was.
Task<bool> PutBack(const Entry& entry, CallContext& call) {
  const JournalEntry& journal = *entry.journal;
  Permission permission{.purpose = policy::Purpose::kWriteFile, .path = entry.Path()};
  PutOrder order{.file = journal.file,
                 .shown = entry.Path(),
                 .content = journal.content,
                 .old = journal.after,
                 .finishes = true};
  Task<Put> task = PutFile(*entry.work, call, std::move(permission), std::move(order));
  const Put put = co_await task;
  if (put.error) LogWarning("edit: not put back: " + put.error->message);
  if (!put.error) LogWarning("edit: put back what a crash had left half done: " + entry.Path());
  co_return !put.error;
}

std::string KeptWarning(const UnfinishedEdit& edit, const Entry& changed) {
  const Result<std::string> kept = edit.SetAside();
  const std::string path = kept ? *kept : edit.path;
  std::string warning = fmt::format(
      "a server died in the middle of an edit of {}, and {} was changed since, so nothing was put "
      "back; what they held before is kept in {}",
      Count(edit.count, "file"), changed.Path(), path);
  if (!kept) warning += ", which could not be renamed: " + kept.error().Message();
  return warning;
}

void Forget(const UnfinishedEdit& edit, UndoneEdits& undone) {
  const Result<void> forgotten = edit.Forget();
  if (forgotten) return;
  undone.warnings.push_back(fmt::format(
      "remove {}: the edit that it is about has ended, and it could neither be removed nor marked "
      "as done: {}",
      edit.path, forgotten.error().Message()));
}

Task<bool> UndoOne(const UnfinishedEdit& edit, UndoneEdits& undone, CallContext& call) {
  std::vector<Entry> entries;
  for (const JournalEntry& journal : edit.entries) {
    Task<Entry> task = Look(journal, entries, call);
    Entry entry = co_await task;
    if (entry.state == State::kUnknown) co_return false;
    entries.push_back(std::move(entry));
  }
  const auto changed = std::ranges::find(entries, State::kChanged, &Entry::state);
  if (changed != entries.end()) {
    undone.warnings.push_back(KeptWarning(edit, *changed));
    co_return false;
  }
  // All of its files have it: it lacked nothing but its end.
  const bool complete =
      entries.size() == edit.count && std::ranges::count(entries, State::kAfter, &Entry::state) ==
                                          static_cast<std::ptrdiff_t>(entries.size());
  bool all = true;
  for (const Entry& entry : entries) {
    if (complete || entry.state != State::kAfter) continue;
    Task<bool> task = PutBack(entry, call);
    const bool back = co_await task;
    all = all && back;
  }
  if (all) Forget(edit, undone);
  co_return all;
}

Result<std::string> JournalDirectory(const CallContext& call) {
  return FindStateDirectory(*call.policy, call.runner.state_home(), kEditsDirectory);
}

}  // namespace

Task<std::expected<Digest, ToolError>> HashOfFile(const Work& work, std::string file,
                                                  CallContext& call) {
  const auto place = FindInRoot(work, call, file, "read", "");
  if (!place) co_return std::unexpected(place.error());
  if (place->name.empty()) co_return std::unexpected(NotFound(file + " is a directory", ""));
  Sha256 hash;
  FileSink sink([&](std::string_view bytes) { hash.Update(bytes); });
  Task<Reading> task = ReadInto(sink, work, *place, call, true);
  Reading reading = co_await task;
  if (reading.error) co_return std::unexpected(*std::move(reading.error));
  co_return hash.Finish();
}

bool AnyUnfinishedEdits(const CallContext& call) {
  const Result<std::string> directory = JournalDirectory(call);
  if (!directory) return false;
  const Result<FoundEdits> found = FindUnfinished(*directory);
  return !found || !found->edits.empty() || !found->unreadable.empty();
}

Task<UndoneEdits> UndoUnfinishedEdits(CallContext& call) {
  UndoneEdits undone;
  const Result<std::string> directory = JournalDirectory(call);
  if (!directory) co_return undone;
  Result<FoundEdits> listed = FindUnfinished(*directory);
  if (!listed) {
    undone.warnings.push_back("an edit may not have been brought to its end: " +
                              listed.error().Message());
  }
  const FoundEdits found = std::move(listed).value_or(FoundEdits());
  for (const std::string& path : found.unreadable) {
    undone.warnings.push_back(
        path +
        " is a journal of an edit that was not brought to its end, and cannot be read: it "
        "is damaged, or another version's. If its files are as they should be, remove it");
  }
  Approvals own = std::exchange(call.approvals, {});
  call.approvals.GrantAll();  // whoever approved the edit did not approve half of it
  for (const UnfinishedEdit& edit : found.edits) {
    Task<bool> task = UndoOne(edit, undone, call);
    const bool done = co_await task;
    if (done) ++undone.edits;
  }
  call.approvals = std::move(own);
  for (const std::string& warning : undone.warnings) LogWarning("edit: " + warning);
  co_return undone;
}

}  // namespace pa
