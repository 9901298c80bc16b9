#include "supervisor/tools/delete.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/file.h"
#include "base/json_writer.h"
#include "base/path_stamp.h"
#include "base/try.h"
#include "base/utf8.h"
#include "policy/path.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/janitor/file_chores.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/trash.h"
#include "supervisor/tools/hidden_files.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/render.h"
#include "worker/file_header.h"

namespace pa {
namespace {

constexpr std::size_t kMaxNamed = 200;  // in a result

constexpr Param kDeleteParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description =
         "The file or directory, relative to the project root. Deleting a symlink deletes the "
         "link, not its target."},
    {.name = "recursive",
     .kind = ParamKind::kBoolean,
     .description = "Delete a directory with its contents."},
    {.name = "dry_run",
     .kind = ParamKind::kBoolean,
     .description = "Change nothing: return what would be deleted."},
    kWholeResultParam,
};

constexpr ResultField kDeleteData[] = {
    {.name = "path", .required = true},
    {.name = "kind", .required = true},
    {.name = "files", .kind = FieldKind::kInteger, .description = "files in the directory"},
    {.name = "directories", .kind = FieldKind::kInteger},
    {.name = "names",
     .kind = FieldKind::kStringArray,
     .description = "first names in the directory"},
    {.name = "trash_id", .description = "the id for `project-actions trash restore`"},
    {.name = "dry_run", .kind = FieldKind::kBoolean},
};

// What a worker says of what it shall delete.
class LookSink final : public OutputSink {
 public:
  void OnOutput(Stream stream, std::string_view bytes) override {
    if (stream == Stream::kStdout) bytes_ += bytes;
  }
  bool Understand() {
    if (bytes_.size() < sizeof reply) return false;
    std::memcpy(&reply, bytes_.data() + bytes_.size() - sizeof reply, sizeof reply);
    bytes_.resize(bytes_.size() - sizeof reply);
    return reply.magic == worker::kDeleteMagic;
  }
  // Each to `use`; those of directories come before what is in them.
  template <typename Use>
  void ForEachName(Use use) const {
    for (std::string_view left = bytes_; !left.empty();) {
      const std::size_t end = std::min(left.find('\0'), left.size());
      use(std::string(left.substr(0, end)));
      left.remove_prefix(std::min(end + 1, left.size()));
    }
  }

  worker::DeleteReply reply;

 private:
  std::string bytes_;
};

struct Victim {
  Work work;
  policy::Permission permission;
  std::string relative;
  std::string shown;
  bool recursive = false;

  std::string Absolute() const { return work.Absolute(relative); }
};

const char* KindOfMode(std::uint32_t mode) {
  if (S_ISDIR(mode)) return "directory";
  if (S_ISLNK(mode)) return "symlink";
  return S_ISREG(mode) ? "file" : "special file";
}

// What must not go, whoever asks.
std::optional<ToolError> CheckPlace(const Work& work, const FileTarget& place,
                                    const CallContext& call) {
  const std::string absolute = work.Absolute(place.relative);
  const auto holds = [&](const std::string& path) {
    return !path.empty() && policy::IsBeneath(path, absolute);
  };
  if (auto why = ReasonOfGit(work.directory.path(), place.relative); !why.empty()) {
    return ProtectedFile(place.shown, why);
  }
  if (std::ranges::any_of(call.policy->roots, holds)) {
    return ProtectedFile(place.shown, "it is, or holds, a root of the policy");
  }
  const std::string log = call.policy->audit.Directory();
  if (holds(log) || (!log.empty() && policy::IsBeneath(absolute, log))) {
    return ProtectedFile(place.shown, "the audit log lies there");
  }
  const std::string project_trash = work.Absolute(kProjectTrash);
  if (holds(project_trash) || policy::IsBeneath(absolute, project_trash)) {
    return ProtectedFile(place.shown, "the trash lies there");
  }
  return std::nullopt;
}

std::expected<Victim, ToolError> FindVictim(const ToolRequest& request, CallContext& call) {
  std::string path = *request.arguments().String("path");
  while (path.ends_with('/')) path.pop_back();  // as directories are often written
  PA_TRY(auto work, StartWorkAt(request, call));
  PA_TRY(auto place, FindName(work, call, path, {"delete", "glob finds names."}));
  if (auto refused = CheckPlace(work, place, call)) return std::unexpected(*std::move(refused));
  PA_TRY(auto permission,
         Permit(work, call, policy::Purpose::kWriteFile, {.path = work.Absolute(place.relative)}));
  return Victim{.work = std::move(work),
                .permission = std::move(permission),
                .relative = std::move(place.relative),
                .shown = std::move(place.shown),
                .recursive = request.arguments().Boolean("recursive")};
}

ToolError NotDeleted(const Victim& victim, const Execution& run) {
  switch (run.failed_errno) {
    case ENOENT:
    case ENOTDIR:
    case ELOOP:
      return NotFound(fmt::format("cannot delete {}: no such file", victim.shown),
                      "glob finds names.");
    case ENOTEMPTY:
      return InvalidArgument(fmt::format("{} is a directory that is not empty", victim.shown),
                             "Pass recursive: true to delete it with its contents; dry_run lists "
                             "them.");
    default:
      return FileIo(fmt::format("cannot delete {}: {}", victim.shown, run.failure),
                    run.failed_errno);
  }
}

std::optional<ToolError> ErrorOfDelete(const Victim& victim, const Execution& run) {
  if (!run.protection.empty()) return ProtectedFile(victim.shown, run.protection);
  const bool ours =
      run.failed_step == worker::Step::kDeleteFile || run.failed_step == worker::Step::kSyncFile;
  if (run.outcome == Outcome::kSetupFailed && ours) {
    return NotDeleted(victim, run);
  }
  return ErrorOf({.what = "delete", .argv = {}, .working_dir = ""}, run);
}

struct Step {
  std::optional<ToolError> error;
  int failed_errno = 0;
};

// Where it goes.
struct Goal {
  std::string directory;  // absolute, and there; or relative to the root, to be made; "" = nowhere
  std::string info;       // of one that is to be made
  std::string grant;      // what must be open for that; "" = the root is enough
};

// Looks, if there is no goal, or moves; then only of a directory that must be empty is anything
// said.
Task<Step> RunWorker(const Victim& victim, const Goal& goal, LookSink& sink, CallContext& call) {
  policy::Needs needs{.purpose = policy::Purpose::kWriteFile};
  if (!goal.grant.empty()) needs.extra = {{goal.grant, sandbox::kReadWrite, "trash"}};
  Step step;
  const worker::DeleteHeader header{.recursive = victim.recursive,
                                    .looks = goal.directory.empty(),
                                    .syncs = call.policy->filesystem_sync,
                                    .path_size = static_cast<std::uint32_t>(goal.directory.size()),
                                    .info_size = static_cast<std::uint32_t>(goal.info.size())};
  std::string order(sizeof header, '\0');
  std::memcpy(order.data(), &header, sizeof header);
  CommandPlan plan{.action = worker::Action::kDeleteFile,
                   .directory = victim.work.directory,
                   .stdin_data = order + goal.directory + goal.info,
                   .file = victim.relative};
  const RunOptions options{.name = "delete",
                           .sink = &sink,
                           .cancel = &call.cancel,
                           .capture = false,
                           .delivery = Delivery::kAtEnd,
                           .record = &call.record.run};
  Task<Execution> task =
      call.runner.Run(std::move(plan), victim.permission.For(needs), call.policy, options);
  const Execution run = co_await task;
  step.error = ErrorOfDelete(victim, run);
  step.failed_errno = run.failed_errno;
  if (header.looks != 0 && !step.error && !sink.Understand()) {
    step.error = InternalError("delete: the worker did not report on " + victim.shown);
  }
  co_return step;
}

// A rule about what is in a directory holds for the directory, too.
std::optional<ToolError> CheckRules(const Victim& victim, const LookSink& look, CallContext& call) {
  HiddenFiles rules(victim.work, call);
  std::string refused;
  look.ForEachName([&](const std::string& name) {
    if (refused.empty() && rules.Hides(victim.Absolute() + "/" + name)) refused = name;
  });
  if (!refused.empty() && rules.rule()->verdict == policy::Verdict::kAsk) {
    Question question{.rule = rules.rule()->where,
                      .reason = rules.rule()->reason,
                      .call = "delete " + victim.Absolute()};
    call.approvals.Want(question);
    return NotApproved(Answer::kUnavailable, {&question, 1});
  }
  if (!refused.empty()) {
    auto permission = Permit(victim.work, call, policy::Purpose::kWriteFile,
                             {.path = victim.Absolute() + "/" + refused});
    return permission ? InternalError("delete: a rule hides what it allows")
                      : std::move(permission.error());
  }
  if (!rules.any() || look.reply.more == 0) return std::nullopt;
  return FileIo(
      fmt::format("cannot delete {}: it holds too much to check all of it against the policy's "
                  "rules by path",
                  victim.shown));
}

std::int64_t Now() {
  using std::chrono::system_clock;
  return std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count();
}

bool Holds(const TrashEntry& entry) { return LookAt(entry.Content()).exists; }

struct Deleted {
  std::optional<ToolError> error;
  std::string id;
  bool there_is_none = false;  // no such trash, or none that could take it
  bool expires = false;        // after kTrashKeptDays
};

// All projects have one trash, so it may hold many; and an hour is nothing to a month.
Task<bool> DiscardExpired(const std::string& base, CallContext& call) {
  if (!call.runner.OnceAnHour()) co_return false;
  Task<Result<std::vector<std::string>>> task = InBackground<Result<std::vector<std::string>>>(
      call.runner.loop(), [base] { return ExpiredTrash(base, Now()); });
  const Result<std::vector<std::string>> expired = co_await task;
  if (!expired) LogWarning("trash: " + expired.error().Message());
  for (const std::string& directory : expired.value_or(std::vector<std::string>())) {
    LogInfo("trash: " + directory + " has expired");
    call.runner.Discard(directory);
  }
  co_return true;
}

// A worker that was killed, or could not sync, has moved it all the same. First where it is now, as
// the worker does.
Task<Result<void>> SyncMoved(const TrashEntry& entry, CallContext& call) {
  const std::vector<std::string> places = {entry.directory,
                                           entry.path.substr(0, entry.path.rfind('/'))};
  Task<Result<void>> task = SyncPaths(call.runner.janitor(), places);
  Result<void> synced = co_await task;
  co_return synced;
}

// What has arrived is deleted, however the worker ended.
Task<Deleted> MoveTo(const Goal& goal, const TrashEntry& entry, const Victim& victim,
                     CallContext& call) {
  LookSink sink;
  Task<Step> task = RunWorker(victim, goal, sink, call);
  Step step = co_await task;
  // EXDEV: another file system; or Linux before 5.19, where Landlock lets nothing leave its
  // directory.
  Deleted deleted{
      .error = std::move(step.error), .id = entry.id, .there_is_none = step.failed_errno == EXDEV};
  if (!deleted.error || !Holds(entry)) co_return deleted;
  deleted.error.reset();
  deleted.there_is_none = false;
  if (!call.policy->filesystem_sync) co_return deleted;
  Task<Result<void>> syncing = SyncMoved(entry, call);
  const Result<void> synced = co_await syncing;
  if (!synced) {
    deleted.error = NotOnDisk(
        fmt::format("{} is in the trash as {}, but a power failure could still undo it: {}",
                    victim.shown, entry.id, synced.error().Message()));
  }
  co_return deleted;
}

Task<Deleted> MoveToState(const std::string& base, const Victim& victim, CallContext& call) {
  Task<bool> discarding = DiscardExpired(base, call);
  [[maybe_unused]] const bool looked = co_await discarding;
  Task<Result<TrashEntry>> beginning = InBackground<Result<TrashEntry>>(
      call.runner.loop(), [base, path = victim.Absolute(), sync = call.policy->filesystem_sync] {
        return BeginTrash(base, path, Now(), sync);
      });
  const Result<TrashEntry> entry = co_await beginning;
  if (!entry) {
    LogWarning("trash: " + entry.error().Message());
    co_return Deleted{
        .error = FileIo("there is no trash: " + entry.error().Message(), entry.error().sys_errno),
        .there_is_none = true};
  }
  const Goal goal{.directory = entry->directory, .info = "", .grant = base};
  Task<Deleted> task = MoveTo(goal, *entry, victim, call);
  Deleted deleted = co_await task;
  deleted.expires = true;
  if (!deleted.error || Holds(*entry)) co_return deleted;
  Task<bool> abandoning = InBackground<bool>(call.runner.loop(), [entry = *entry] {
    AbandonTrash(entry);
    return true;
  });
  [[maybe_unused]] const bool abandoned = co_await abandoning;
  co_return deleted;
}

Task<Deleted> MoveToProject(const Victim& victim, CallContext& call) {
  const std::int64_t now = Now();
  const std::string id = NewTrashId(now);
  const std::string directory = std::string(kProjectTrash) + "/" + id;
  const TrashEntry entry{.directory = victim.work.directory.path() + "/" + directory,
                         .id = id,
                         .path = victim.Absolute(),
                         .deleted_at = now};
  const Goal goal{.directory = directory, .info = TrashInfo(entry.path, now), .grant = ""};
  Task<Deleted> task = MoveTo(goal, entry, victim, call);
  Deleted deleted = co_await task;
  co_return deleted;
}

Task<Deleted> Move(const Victim& victim, CallContext& call) {
  const Result<std::string> base =
      FindStateDirectory(*call.policy, call.runner.state_home(), kTrashDirectory);
  if (base) {
    Task<Deleted> task = MoveToState(*base, victim, call);
    Deleted deleted = co_await task;
    if (!deleted.error || !deleted.there_is_none) co_return deleted;
  }
  Task<Deleted> task = MoveToProject(victim, call);
  Deleted deleted = co_await task;
  co_return deleted;
}

ToolResult Render(const Victim& victim, const LookSink& look, const Deleted& deleted) {
  const std::string& id = deleted.id;
  const bool directory = S_ISDIR(look.reply.mode);
  const bool dry_run = id.empty();
  std::string list;
  std::size_t named = 0;
  JsonWriter w;
  w.BeginObject().Field("path", victim.shown).Field("kind", KindOfMode(look.reply.mode));
  if (directory) {
    w.Field("files", look.reply.files).Field("directories", look.reply.directories);
    w.Key("names").BeginArray();
    look.ForEachName([&](const std::string& name) {
      if (++named > kMaxNamed) return;
      w.String(RepairUtf8(name));
      if (dry_run) list += "  " + RepairUtf8(name, true) + "\n";
    });
    w.EndArray();
    if (dry_run && named > kMaxNamed) list += fmt::format("  and {} more\n", named - kMaxNamed);
  }
  if (!dry_run) w.Field("trash_id", id);
  if (dry_run) w.Field("dry_run", true);
  ToolResult result;
  result.data = std::move(w.EndObject()).Take();
  result.truncated = named > kMaxNamed || look.reply.more != 0;
  result.text = fmt::format("{} {}", dry_run ? "would delete" : "deleted", victim.shown);
  if (directory) {
    result.text += fmt::format(", a directory with {} and {}{}", Count(look.reply.files, "file"),
                               look.reply.directories == 1
                                   ? std::string("1 directory")
                                   : fmt::format("{} directories", look.reply.directories),
                               look.reply.more != 0 ? " or more" : "");
  }
  if (!dry_run) result.text += "; to restore it: `project-actions trash restore " + id + "`";
  if (deleted.expires) result.text += fmt::format(", for {} days", kTrashKeptDays);
  result.text += "\n" + list;
  return result;
}

Task<ToolResult> RunDelete(ToolRequest request, CallContext& call) {
  const auto victim = FindVictim(request, call);
  if (!victim) co_return RefusedCall(victim.error());
  LookSink look;
  const Goal nowhere;
  Task<Step> looking = RunWorker(*victim, nowhere, look, call);
  Step looked = co_await looking;
  if (looked.error) co_return RefusedCall(std::move(*looked.error));
  if (auto refused = CheckRules(*victim, look, call)) co_return RefusedCall(*std::move(refused));
  FileTurn turn(call.runner.file_turns(), std::vector(1, victim->Absolute()));
  Task<std::optional<ToolError>> waiting = TakeTurn(turn, call);
  std::optional<ToolError> refused_turn = co_await waiting;
  if (refused_turn) co_return RefusedCall(*std::move(refused_turn));
  Deleted deleted;
  if (!victim->work.dry_run) {
    Task<Deleted> moving = Move(*victim, call);
    deleted = co_await moving;
  }
  if (deleted.error) co_return RefusedCall(*std::move(deleted.error));
  ToolResult result = Render(*victim, look, deleted);
  result.decision = victim->permission.rule();
  co_return result;
}

}  // namespace

const Tool kDelete = {
    .name = "delete",
    .title = "Delete file",
    .description =
        "Move a file, or with recursive a directory, to a trash from which the user can restore "
        "it. dry_run lists what would be deleted.",
    .annotations = {.destructive = true},
    .params = kDeleteParams,
    .data = kDeleteData,
    .run = RunDelete};

}  // namespace pa
