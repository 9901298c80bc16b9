#include "supervisor/tools/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/background.h"
#include "supervisor/loop/log.h"
#include "supervisor/loop/within_memory.h"
#include "supervisor/state/edit_journal.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/text/file_text.h"
#include "supervisor/text/line_diff.h"
#include "supervisor/text/text_edit.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/undo_edits.h"

namespace pa {
namespace {

constexpr std::size_t kMaxFileBytes = 16U << 20;
constexpr std::size_t kMaxTotalBytes = 64U << 20;  // of all files of a call
constexpr std::size_t kMaxDiffBytes = 128U << 10;
constexpr int kAttempts = 3;  // when others write the same files

constexpr Param kEditParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The file, relative to the project root."},
    {.name = "old",
     .kind = ParamKind::kString,
     .required = true,
     .description = "What is replaced, exactly, without line numbers; it must be there once."},
    {.name = "new", .kind = ParamKind::kString, .required = true, .description = "By what."},
    {.name = "replace_all",
     .kind = ParamKind::kBoolean,
     .description = "Replace it wherever it is."},
    {.name = "expected_sha256",
     .kind = ParamKind::kString,
     .description = "Of the file before the first edit, from read or write.",
     .pattern = "^[0-9a-fA-F]{64}$"},
};

constexpr Param kParams[] = {
    {.name = "edits",
     .kind = ParamKind::kObjectArray,
     .required = true,
     .description = "In their order, each on what the ones before have left; all of them or none.",
     .minimum = 1,
     .maximum = 200,
     .fields = kEditParams},
    {.name = "dry_run",
     .kind = ParamKind::kBoolean,
     .description = "Change nothing: return the diff."},
};

constexpr std::string_view kDataSchema =
    R"({"type":"object","properties":{"files":{"type":"array","items":{"type":"object",)"
    R"("properties":{"path":{"type":"string"},"replaced":{"type":"integer"},)"
    R"("sha256":{"type":"string","description":"of the file with the edits"}},)"
    R"("required":["path","replaced","sha256"]}},)"
    R"("diff":{"type":"string","description":"unified"},)"
    R"("sha256":{"type":"string","description":"where there is one file"},)"
    R"("dry_run":{"type":"boolean"}},"required":["files","diff"]})";

// One file and all that is to be done to it. There may be more of them than descriptors, so nothing of its own is open.
struct FileEdit {
  Work work;        // of its root: one for all of its files
  FilePlace place;  // without `found`
  std::vector<std::pair<std::size_t, const Arguments*>> edits;  // with their places in the call
  std::string rule;
  FileText::Encoding encoding = FileText::Encoding::kUtf8;
  std::string before;
  Digest before_hash = {};
  std::string after;
  std::size_t replaced = 0;
};
using FileEdits = std::vector<FileEdit>;

ToolError InEdit(std::size_t index, ToolError error) {
  error.message = fmt::format("edits[{}]: {}", index, error.message);
  return error;
}

std::optional<ToolError> CheckEdit(const Arguments& edit) {
  if (edit.String("old")->empty()) {
    return InvalidArgument(
        "the argument 'old' is empty",
        "Pass the passage that is replaced; to write a whole file there is write.");
  }
  if (*edit.String("old") == *edit.String("new")) {
    return InvalidArgument("the arguments 'old' and 'new' are the same", "Leave this edit out.");
  }
  const std::string* expected = edit.String("expected_sha256");
  if (expected == nullptr || FromHex(*expected)) return std::nullopt;
  return InvalidArgument("the argument 'expected_sha256' must be 64 hexadecimal digits",
                         "Pass the sha256 that read, write or edit gave for this file.");
}

ToolError IsNotThere(const std::string& path) {
  return NotFound(fmt::format("cannot edit {}: it is not there", path),
                  "Pass a file that there is; glob finds names, write makes new files.");
}

std::optional<ToolError> AddEdit(FileEdits& files, std::size_t index, const Arguments& edit,
                                 const ToolRequest& request, const CallContext& call) {
  if (auto wrong = CheckEdit(edit)) return wrong;
  const std::string& path = *edit.String("path");
  auto work = StartWorkAt(request, call, path);
  if (!work) return work.error();
  auto place = FindPlace(*work, call, path, {"edit", "glob finds names, write makes new files."});
  if (!place) return place.error();
  if (!place->found) return IsNotThere(path);
  place->found.reset();
  const auto same = std::ranges::find_if(files, [&](const FileEdit& file) {
    return file.place.relative == place->relative &&
           file.work.directory.path() == work->directory.path();
  });
  const auto root = std::ranges::find_if(files, [&](const FileEdit& file) {
    return file.work.directory.path() == work->directory.path();
  });
  if (root != files.end()) work->directory = root->work.directory;
  if (same != files.end()) {
    same->edits.emplace_back(index, &edit);
  } else {
    files.push_back(
        {.work = *std::move(work), .place = *std::move(place), .edits = {{index, &edit}}});
  }
  return std::nullopt;
}

Permission PermissionFor(const Work& work, const std::string& relative) {
  return {.purpose = policy::Purpose::kWriteFile, .path = work.directory.path() + "/" + relative};
}

// Of all files before the first is read, so that the user is asked once.
std::optional<ToolError> PermitAll(const FileEdits& files, CallContext& call) {
  std::optional<ToolError> first;
  for (const FileEdit& file : files) {
    auto allow = Permit(file.work, call, PermissionFor(file.work, file.place.relative));
    if (!allow && !first) first = std::move(allow.error());
  }
  return first;
}

std::expected<FileEdits, ToolError> Collect(const ToolRequest& request, const CallContext& call) {
  FileEdits files;
  std::size_t index = 0;
  for (const Arguments& edit : *request.arguments().Objects("edits")) {
    if (auto wrong = AddEdit(files, index, edit, request, call)) {
      return std::unexpected(InEdit(index, *std::move(wrong)));
    }
    ++index;
  }
  return files;
}

// Its bytes, and what they are. `room` is what may still be kept.
Task<std::optional<ToolError>> ReadBytes(FileEdit& file, std::size_t& room, CallContext& call) {
  const std::size_t most = std::min(room, kMaxFileBytes);
  FileText text({.limit = 0});
  file.before.clear();
  FileSink sink([&](std::string_view bytes) {
    text.Feed(bytes);
    if (file.before.size() <= most) file.before += bytes;
  });
  const auto found = FindInRoot(file.work, call, file.place.relative, "edit", "Call again.");
  if (!found) co_return found.error();
  // A symlink may stand there by now, or on the way to it: it was asked about another file.
  const std::string name =
      found->relative.empty() ? found->name : found->relative + "/" + found->name;
  if (name != file.place.relative) co_return IsNotThere(file.place.shown);
  Task<Reading> task = ReadInto(sink, file.work, *found, call);
  Reading reading = co_await task;
  if (reading.error) co_return std::move(reading.error);
  text.End();
  if (text.encoding() == FileText::Encoding::kBinary) {
    co_return BinaryFile(file.place.shown, text.kind() ? text.kind()->name : "binary data",
                         text.size());
  }
  if (text.size() > most) co_return FileTooLarge(file.place.shown, text.size(), most);
  room -= file.before.size();
  file.rule = std::move(reading.rule);
  file.encoding = text.encoding();
  file.before_hash = FromHex(text.sha256()).value_or(Digest{});
  co_return std::nullopt;
}

std::optional<ToolError> Apply(FileEdit& file) {
  file.after = file.before;
  file.replaced = 0;
  for (const auto& [index, edit] : file.edits) {
    const std::string* expected = edit->String("expected_sha256");
    if (expected != nullptr && FromHex(*expected) != file.before_hash) {
      return InEdit(index, StaleFile(fmt::format("{} is not what was expected", file.place.shown),
                                     "It was changed since it was read; nothing was changed now. "
                                     "Read it again, and decide anew what to replace.",
                                     Hex(file.before_hash)));
    }
    const std::string& from = *edit->String("old");
    auto edited = ReplaceText(file.after, file.encoding,
                              {from, *edit->String("new"), edit->Boolean("replace_all")});
    if (!edited && edited.error().count == 0) {
      const std::string shown = ShownText(file.after, file.encoding);
      return NoMatch(index, file.place.shown, NearestPassage(shown, from));
    }
    if (!edited) {
      return AmbiguousMatch(index, file.place.shown, edited.error().count, edited.error().lines);
    }
    file.after = std::move(edited->bytes);
    file.replaced += edited->count;
  }
  return std::nullopt;
}

// What the file holds, or held before if `back`.
Task<Put> TryToPut(const FileEdit& file, bool back, CallContext& call) {
  PutOrder order{.file = file.place.relative,
                 .shown = file.place.shown,
                 .content = back ? file.before : file.after,
                 .old = back ? Sha256Of(file.after) : file.before_hash,
                 .finishes = back};
  Task<Put> task =
      PutFile(file.work, call, PermissionFor(file.work, file.place.relative), std::move(order));
  Put put = co_await task;
  co_return put;
}

// Where there is no memory for one, those before it are put back.
Task<Put> PutOne(const FileEdit& file, bool back, CallContext& call) {
  return WithinMemory(TryToPut(file, back, call), [] { return Put{.error = OutOfMemory()}; });
}

// What became of writing them all.
struct Written {
  std::optional<ToolError> error;
  bool stale = false;              // the error is that somebody else has written one of them
  bool undone = true;              // of those that were written, none is any more
  std::vector<bool> changed = {};  // else: which of them
};

// Whether it is not what the edit has made of it: never, any more, or somebody has changed it since. Where
// nothing can be written, nothing was: so what it holds decides, not whether it can be written once more.
Task<bool> PutBackOne(const FileEdit& file, CallContext& call) {
  Task<Put> task = PutOne(file, true, call);
  const Put put = co_await task;
  if (!put.error || put.stale || put.error->code == ErrorCode::kNotFound) co_return true;
  Task<std::expected<Digest, ToolError>> look = HashOfFile(file.work, file.place.relative, call);
  const std::expected<Digest, ToolError> hash = co_await look;
  if (hash && *hash == file.before_hash) co_return true;
  LogWarning("edit: not put back: " + put.error->message);
  co_return false;
}

// The first `count` files, back to what they were.
Task<bool> PutBack(const FileEdits& files, std::size_t count, Written& written, CallContext& call) {
  for (std::size_t i = count; i > 0; --i) {
    Task<bool> task = PutBackOne(files[i - 1], call);
    const bool back = co_await task;
    written.changed[i - 1] = !back;
    written.undone = written.undone && back;
  }
  co_return written.undone;
}

Task<Written> PutAll(const FileEdits& files, CallContext& call) {
  Written written{.changed = std::vector<bool>(files.size(), false)};
  for (std::size_t i = 0; i < files.size(); ++i) {
    Task<Put> task = PutOne(files[i], false, call);
    Put put = co_await task;
    if (!put.error) continue;
    written.stale = put.stale;
    written.error = std::move(put.error);
    // With this one, unless it was compared: a worker that was killed may have come to its end before.
    Task<bool> back = PutBack(files, written.stale ? i : i + 1, written, call);
    const bool all_back = co_await back;
    if (put.written && all_back) {
      written.error->message += "; so it was put back";
      written.error->ai_message =
          "The files hold what they held before. Tell the user what the message says.";
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
        const Result<std::string> directory =
            FindStateDirectory(*policy, state_home, kEditsDirectory);
        if (!directory) return std::unexpected(directory.error());
        return EditJournal::Begin(*directory, entries, policy->filesystem_sync);
      });
  Result<EditJournal> journal = co_await task;
  co_return journal;
}

// If not all is undone, whoever comes next tries again.
Task<Result<std::string>> EndJournal(EditJournal& journal, const Written& written,
                                     const CallContext& call) {
  const auto end = [&]() -> Result<std::string> {
    if (written.undone) return journal.End();
    const Result<void> left = journal.Leave(written.changed);
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
      "no journal of the edit can be kept, so nothing was changed: " + why.Message();
  if (auto shortage = Shortage(message, why.sys_errno)) return *std::move(shortage);
  ToolError error = FileIo(message);
  error.ai_message =
      "Edit one file in each call, which takes no journal. For several at once the user can set "
      "XDG_STATE_HOME to a directory outside of the project.";
  return error;
}

// What the journal says is not so, and cannot be made so: sooner or later it would be believed.
void AddNoEnd(const Error& why, Written& written) {
  const std::string problem =
      "the journal of the edit cannot be removed, nor marked as done: " + why.Message() +
      "; a later start may put back what it is about";
  if (written.error) {
    written.error->message += "; " + problem;
    return;
  }
  written.error = FileIo("the files have the edits, but " + problem, why.sys_errno);
  written.error->ai_message =
      "All of the edits are made: do not repeat them. Tell the user to remove that journal.";
}

// One file needs no journal: it is the old or the new one by itself.
Task<Written> WriteFiles(const FileEdits& files, CallContext& call) {
  if (files.size() == 1) {
    Task<Written> task = PutAll(files, call);
    Written written = co_await task;
    co_return written;
  }
  std::vector<JournalEntry> entries;
  for (const FileEdit& file : files) {
    entries.push_back(
        {file.work.directory.path(), file.place.relative, Sha256Of(file.after), file.before});
  }
  Task<Result<EditJournal>> beginning = BeginJournal(std::move(entries), call);
  Result<EditJournal> journal = co_await beginning;
  if (!journal) co_return Written{.error = NoJournal(journal.error())};
  Task<Written> task = PutAll(files, call);
  Written written = co_await task;
  Task<Result<std::string>> ending = EndJournal(*journal, written, call);
  const Result<std::string> ended = co_await ending;
  if (!written.undone) {
    written.error->message += "; files that had been edited before could not be put back";
    written.error->ai_message =
        "Read the files again: some have the edits. The server's log says which, and why.";
  }
  if (!ended) AddNoEnd(ended.error(), written);
  co_return written;
}

std::string DiffOf(const FileEdits& files) {
  std::string diff;
  for (const FileEdit& file : files) {
    diff += UnifiedDiff("a/" + file.place.shown, "b/" + file.place.shown,
                        ShownText(file.before, file.encoding), ShownText(file.after, file.encoding),
                        kMaxDiffBytes - std::min(diff.size(), kMaxDiffBytes));
  }
  return diff;
}

ToolResult RenderEdits(const FileEdits& files, bool dry_run, const std::string& diff) {
  ToolResult result;
  JsonWriter w;
  std::size_t replaced = 0;
  std::string list;
  w.BeginObject().Key("files").BeginArray();
  for (const FileEdit& file : files) {
    const std::string sha256 = Hex(Sha256Of(file.after));
    w.BeginObject().Field("path", file.place.shown).Field("replaced", file.replaced);
    w.Field("sha256", sha256).EndObject();
    list += fmt::format("{}: sha256 {}\n", file.place.shown, sha256);
    replaced += file.replaced;
  }
  w.EndArray().Field("diff", diff);
  if (files.size() == 1) w.Field("sha256", Hex(Sha256Of(files[0].after)));
  if (dry_run) w.Field("dry_run", true);
  result.data = std::move(w.EndObject()).Take();
  result.text = fmt::format("{} {} in {}\n{}{}", dry_run ? "would replace" : "replaced",
                            Count(replaced, "passage"), Count(files.size(), "file"), list, diff);
  result.decision = files[0].rule;
  return result;
}

// What is done is told, if not all of it can be shown.
ToolResult RenderEdits(const FileEdits& files, bool dry_run) {
  try {
    return RenderEdits(files, dry_run, DiffOf(files));
  } catch (const std::bad_alloc&) {
    ToolResult result = RenderEdits(files, dry_run, "");
    Warn(result, "there was not enough memory to show what has changed");
    return result;
  }
}

// Once through: read, edit, write.
Task<Written> EditOnce(FileEdits& files, bool dry_run, CallContext& call) {
  std::size_t room = kMaxTotalBytes;
  for (FileEdit& file : files) {
    Task<std::optional<ToolError>> task = ReadBytes(file, room, call);
    std::optional<ToolError> error = co_await task;
    if (!error) error = Apply(file);
    if (error) co_return Written{.error = std::move(error)};
  }
  if (dry_run) co_return Written{};
  Task<Written> task = WriteFiles(files, call);
  Written written = co_await task;
  co_return written;
}

Task<ToolResult> EditInTurn(FileEdits& files, bool dry_run, CallContext& call) {
  for (int attempt = 1;; ++attempt) {
    Task<Written> task = EditOnce(files, dry_run, call);
    Written written = co_await task;
    if (!written.error) co_return RenderEdits(files, dry_run);
    // Somebody was faster. What is to be replaced may be there all the same.
    if (!written.stale || !written.undone || attempt == kAttempts) {
      co_return RefusedCall(*std::move(written.error));
    }
  }
}

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  auto files = Collect(request, call);
  if (!files) co_return RefusedCall(std::move(files.error()));
  if (auto refused = PermitAll(*files, call)) co_return RefusedCall(*std::move(refused));
  std::vector<std::string> paths;
  for (const FileEdit& file : *files) {
    paths.push_back(file.work.directory.path() + "/" + file.place.relative);
  }
  // From the reading on: what the calls before leave is what this one edits. Nothing is waited for until here, so they
  // are those that came before.
  FileTurn turn(call.runner.file_turns(), std::move(paths));
  Task<std::optional<ToolError>> waiting = TakeTurn(turn, call);
  std::optional<ToolError> refused_turn = co_await waiting;
  if (refused_turn) co_return RefusedCall(*std::move(refused_turn));
  Task<UndoneEdits> first = UndoUnfinishedEdits(call);
  const UndoneEdits undone = co_await first;
  Task<ToolResult> task = EditInTurn(*files, request.arguments().Boolean("dry_run"), call);
  ToolResult result = co_await task;
  for (const std::string& warning : undone.warnings) Warn(result, warning);
  co_return result;
}

}  // namespace

const Tool kEdit = {
    .name = "edit",
    .title = "Edit files",
    .description =
        "Replace passages in one or several files: all of the edits are made, or none. Each `old` "
        "must "
        "be there exactly once, unless replace_all. Encoding, line ends and all else stay as "
        "they are. Returns a unified diff.",
    .annotations = {.destructive = true},
    .params = kParams,
    .data_schema = kDataSchema,
    .run = Run};

}  // namespace pa
