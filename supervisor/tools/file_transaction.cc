#include "supervisor/tools/file_transaction.h"

#include <vector>

#include "base/try.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/state/edit_journal.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// The new content, or the old one if `back`.
Task<Put> TryToPut(const FileChange& file, bool back, CallContext& call) {
  PutOrder order{.file = file.relative,
                 .shown = file.shown,
                 .content = back ? file.before : file.after,
                 .old = back ? Sha256Of(file.after) : file.before_hash,
                 .finishes = back};
  Task<Put> task = PutFile(file.work, file.permission, std::move(order), call);
  Put put = co_await task;
  co_return put;
}

// Where there is no memory for one, those before it are put back.
Task<Put> PutOne(const FileChange& file, bool back, CallContext& call) {
  return WithinMemory(TryToPut(file, back, call), [] { return Put{.error = OutOfMemory()}; });
}

// Whether the file does not have its new content: never, any more, or somebody has changed it
// since. If nothing can be written, nothing was: so its content decides, not whether it can be
// written once more.
Task<bool> RestoreOne(const FileChange& file, CallContext& call) {
  Task<Put> task = PutOne(file, true, call);
  const Put put = co_await task;
  if (!put.error || put.stale || put.error->code == ErrorCode::kNotFound) co_return true;
  Task<std::expected<Digest, ToolError>> look =
      HashOfFile(file.work, file.permission, file.relative, call);
  const std::expected<Digest, ToolError> hash = co_await look;
  if (hash && *hash == file.before_hash) co_return true;
  LogWarning("edit: not restored: " + put.error->message);
  co_return false;
}

using Files = std::span<const FileChange>;

// For each file, whether it has its new content.
using Changed = std::vector<bool>;

// `files` are the first ones, which are put back, the last one first.
Task<bool> RestoreAll(Files files, Changed& changed, CallContext& call) {
  bool all = true;
  for (std::size_t i = files.size(); i > 0; --i) {
    Task<bool> task = RestoreOne(files[i - 1], call);
    const bool back = co_await task;
    changed[i - 1] = !back;
    all = all && back;
  }
  co_return all;
}

Task<Written> PutAll(Files files, Changed& changed, CallContext& call) {
  Written written;
  for (std::size_t i = 0; i < files.size(); ++i) {
    Task<Put> task = PutOne(files[i], false, call);
    Put put = co_await task;
    if (!put.error) continue;
    written.stale = put.stale;
    written.error = std::move(put.error);
    // With this one, unless it was compared: a worker that was killed may have come to its end
    // before.
    Task<bool> back = RestoreAll(files.first(written.stale ? i : i + 1), changed, call);
    written.undone = co_await back;
    if (put.written && written.undone) {
      written.error->message += "; so the old contents were restored";
      written.error->ai_message =
          "The files have their old contents. Tell the user what the message says.";
    }
    break;
  }
  co_return written;
}

Task<Result<EditJournal>> BeginJournal(std::vector<JournalEntry> entries, const CallContext& call) {
  Task<Result<EditJournal>> task = InBackground<Result<EditJournal>>(
      call.runner.loop(),
      [entries = std::move(entries), policy = call.policy,
       state_home = call.runner.state_home()]() -> Result<EditJournal> {
        PA_TRY(const std::string directory,
               FindStateDirectory(*policy, state_home, kEditsDirectory));
        return EditJournal::Begin(directory, entries, policy->filesystem_sync);
      });
  Result<EditJournal> journal = co_await task;
  co_return journal;
}

// If not all is undone, the next server or edit tries again.
Task<Result<std::string>> EndJournal(EditJournal& journal, bool undone, const Changed& changed,
                                     const CallContext& call) {
  const auto end = [&]() -> Result<std::string> {
    if (undone) return journal.End();
    const Result<void> left = journal.Leave(changed);
    return left ? Result<std::string>("") : std::unexpected(left.error());
  };
  Task<Result<std::string>> task =
      WithinMemory(InBackground<Result<std::string>>(call.runner.loop(), end), end);
  Result<std::string> ended = co_await task;
  if (ended && !ended->empty()) LogWarning("edit: " + *ended);
  co_return ended;
}

ToolError NoJournal(const Error& why) {
  const std::string message =
      "no journal of the edit could be written, so nothing was changed: " + why.Message();
  if (auto shortage = Shortage(message, why.sys_errno)) return *std::move(shortage);
  ToolError error = FileIo(message);
  error.ai_message =
      "Edit one file in each call, which needs no journal. For several at once the user can set "
      "XDG_STATE_HOME to a directory outside the project.";
  return error;
}

// What the journal says is not so, and cannot be made so: sooner or later it would be believed.
void AddNoEnd(const Error& why, Written& written) {
  const std::string problem =
      "the journal of the edit can be neither removed nor marked as done: " + why.Message() +
      "; a later start may restore the old contents";
  if (written.error) {
    written.error->message += "; " + problem;
    return;
  }
  written.error = FileIo("the files have the edits, but " + problem, why.sys_errno);
  written.error->ai_message =
      "All edits are made: do not repeat them. Tell the user to remove that journal.";
}

}  // namespace

Task<Written> WriteAll(std::span<const FileChange> changes, CallContext& call) {
  Changed changed(changes.size(), false);
  if (changes.size() == 1) {
    Task<Written> task = PutAll(changes, changed, call);
    Written written = co_await task;
    co_return written;
  }
  std::vector<JournalEntry> entries;
  for (const FileChange& file : changes) {
    entries.push_back(
        {file.work.directory.path(), file.relative, Sha256Of(file.after), file.before});
  }
  Task<Result<EditJournal>> beginning = BeginJournal(std::move(entries), call);
  Result<EditJournal> journal = co_await beginning;
  if (!journal) co_return Written{.error = NoJournal(journal.error())};
  Task<Written> task = PutAll(changes, changed, call);
  Written written = co_await task;
  Task<Result<std::string>> ending = EndJournal(*journal, written.undone, changed, call);
  const Result<std::string> ended = co_await ending;
  if (!written.undone) {
    written.error->message += "; files that were already edited could not be restored";
    written.error->ai_message =
        "Read the files again: some have the edits. The server's log says which, and why.";
  }
  if (!ended) AddNoEnd(ended.error(), written);
  co_return written;
}

}  // namespace pa
