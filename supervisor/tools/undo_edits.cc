#include "supervisor/tools/undo_edits.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "policy/path.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/state_directory.h"
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
  std::optional<Work> work;  // unless kUnknown, as is the permission
  std::optional<policy::Permission> permission;
  std::string why = {};  // of kUnknown

  std::string Path() const { return journal->root + "/" + journal->file; }
};

// Others are for the servers of other projects.
bool IsOurs(const std::string& directory, const policy::Policy& policy) {
  return std::ranges::any_of(
      policy.roots, [&](const std::string& root) { return policy::IsBeneath(directory, root); });
}

// `known`: those before it, whose directory is this one's if their root is.
Task<Entry> Look(const JournalEntry& journal, const std::vector<Entry>& known, CallContext& call) {
  Entry entry{.journal = &journal, .state = State::kUnknown, .work = {}, .permission = {}};
  entry.why = "it is outside the policy's roots";
  if (!IsOurs(journal.root, *call.policy)) co_return entry;
  entry.why = "tools may not write there";
  auto directory = policy::ValidateWorkingDirectory(*call.policy, journal.root);
  if (!directory || !ReasonOfGit(journal.root, journal.file).empty()) co_return entry;
  const auto same = std::ranges::find_if(
      known, [&](const Entry& one) { return one.journal->root == journal.root; });
  if (same != known.end()) directory = same->work->directory;
  entry.work = Work{.tool = &kEdit, .operation = "", .directory = *std::move(directory)};
  auto permission = Permit(*entry.work, call, policy::Purpose::kWriteFile, {.path = entry.Path()});
  if (!permission) {
    entry.why = permission.error().message;
    co_return entry;
  }
  entry.permission = *std::move(permission);
  Task<std::expected<Digest, ToolError>> task =
      HashOfFile(*entry.work, *entry.permission, journal.file, call);
  const std::expected<Digest, ToolError> hash = co_await task;
  if (hash) {
    entry.state = *hash == journal.after               ? State::kAfter
                  : *hash == Sha256Of(journal.content) ? State::kBefore
                                                       : State::kChanged;
  } else if (hash.error().code == ErrorCode::kNotFound ||
             hash.error().code == ErrorCode::kBinaryFile) {
    entry.state = State::kChanged;
  } else {
    entry.why = hash.error().message;
  }
  co_return entry;
}

// Whether it is what it was.
Task<bool> RestoreEntry(const Entry& entry, CallContext& call) {
  const JournalEntry& journal = *entry.journal;
  PutOrder order{.file = journal.file,
                 .shown = entry.Path(),
                 .content = journal.content,
                 .old = journal.after,
                 .finishes = true};
  Task<Put> task = PutFile(*entry.work, *entry.permission, std::move(order), call);
  const Put put = co_await task;
  if (put.error) LogWarning("edit: not restored: " + put.error->message);
  if (!put.error) LogWarning("edit: restored after a crash: " + entry.Path());
  co_return !put.error;
}

// `edit` lives as long as whoever waits for them.
Task<std::string> KeptWarning(const UnfinishedEdit& edit, const Entry& changed, CallContext& call) {
  Task<Result<std::string>> task =
      InBackground<Result<std::string>>(call.runner.loop(), [&edit] { return edit.SetAside(); });
  const Result<std::string> kept = co_await task;
  const std::string path = kept ? *kept : edit.path;
  std::string warning = fmt::format(
      "a server died during an edit of {}, and {} was changed since, so nothing was restored; the "
      "old contents are kept in {}",
      Count(edit.count, "file"), changed.Path(), path);
  if (!kept) warning += ", which could not be renamed: " + kept.error().Message();
  co_return warning;
}

Task<bool> Forget(const UnfinishedEdit& edit, UndoneEdits& undone, CallContext& call) {
  Task<Result<std::string>> task =
      InBackground<Result<std::string>>(call.runner.loop(), [&edit] { return edit.Forget(); });
  const Result<std::string> forgotten = co_await task;
  if (forgotten && !forgotten->empty()) LogWarning("edit: " + *forgotten);
  if (forgotten) co_return true;
  undone.warnings.push_back(fmt::format(
      "remove {}: it is the journal of an edit that has ended, and could be neither removed nor "
      "marked as done: {}",
      edit.path, forgotten.error().Message()));
  co_return false;
}

Task<bool> UndoOne(const UnfinishedEdit& edit, UndoneEdits& undone, CallContext& call) {
  std::vector<Entry> entries;
  for (const JournalEntry& journal : edit.entries) {
    Task<Entry> task = Look(journal, entries, call);
    Entry entry = co_await task;
    if (entry.state == State::kUnknown) {
      undone.warnings.push_back(fmt::format(
          "a server died during an edit of {}; nothing was restored, because {} could not be "
          "compared: {}; the old contents are kept in {}",
          Count(edit.count, "file"), entry.Path(), entry.why, edit.path));
      co_return false;
    }
    entries.push_back(std::move(entry));
  }
  const auto changed = std::ranges::find(entries, State::kChanged, &Entry::state);
  if (changed != entries.end()) {
    Task<std::string> keeping = KeptWarning(edit, *changed, call);
    std::string warning = co_await keeping;
    undone.warnings.push_back(std::move(warning));
    co_return false;
  }
  // All of its files have it: it lacked nothing but its end.
  const bool complete =
      entries.size() == edit.count && std::ranges::count(entries, State::kAfter, &Entry::state) ==
                                          static_cast<std::ptrdiff_t>(entries.size());
  bool all = true;
  for (const Entry& entry : entries) {
    if (complete || entry.state != State::kAfter) continue;
    Task<bool> task = RestoreEntry(entry, call);
    const bool back = co_await task;
    all = all && back;
  }
  if (!all) co_return false;
  Task<bool> forgetting = Forget(edit, undone, call);
  [[maybe_unused]] const bool forgotten = co_await forgetting;
  co_return true;
}

}  // namespace

Task<Result<FoundEdits>> FindEdits(std::vector<std::string> among, const CallContext& call) {
  // Before nearly every edit there is nothing to find, which is no work for a thread.
  if (among.empty() && !MayHoldEdits(PathInState(call.runner.state_home(), kEditsDirectory))) {
    co_return FoundEdits();
  }
  Task<Result<FoundEdits>> task = InBackground<Result<FoundEdits>>(
      call.runner.loop(),
      [among = std::move(among), policy = call.policy,
       state_home = call.runner.state_home()]() -> Result<FoundEdits> {
        const auto is_ours = [&](const std::string& root) { return IsOurs(root, *policy); };
        if (!among.empty()) return FindAmong(among, is_ours);
        const Result<std::string> directory =
            FindStateDirectory(*policy, state_home, kEditsDirectory);
        return directory ? FindUnfinished(*directory, is_ours) : FoundEdits();
      });
  Result<FoundEdits> found = co_await task;
  co_return found;
}

Task<UndoneEdits> UndoFoundEdits(Result<FoundEdits> listed, CallContext& call) {
  UndoneEdits undone;
  if (!listed) {
    undone.warnings.push_back("an edit may be unfinished: " + listed.error().Message());
  }
  const FoundEdits found = std::move(listed).value_or(FoundEdits());
  for (const std::string& path : found.unreadable) {
    undone.warnings.push_back(
        path +
        " is the journal of an unfinished edit and cannot be read: it is damaged, another "
        "version's, or could not be opened (ulimit -n). If its files are as they should be, remove "
        "it");
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

Task<UndoneEdits> UndoUnfinishedEdits(CallContext& call) {
  std::vector<std::string> all;
  Task<Result<FoundEdits>> finding = FindEdits(std::move(all), call);
  Result<FoundEdits> found = co_await finding;
  Task<UndoneEdits> task = UndoFoundEdits(std::move(found), call);
  UndoneEdits undone = co_await task;
  co_return undone;
}

}  // namespace pa
