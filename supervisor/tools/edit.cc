#include "supervisor/tools/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/text/file_text.h"
#include "supervisor/text/line_diff.h"
#include "supervisor/text/near_match.h"
#include "supervisor/text/text_edit.h"
#include "supervisor/tools/file_transaction.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/undo_edits.h"

namespace pa {
namespace {

constexpr std::size_t kMaxFileBytes = 16U << 20;
constexpr std::size_t kMaxTotalBytes = 64U << 20;  // of all files of a call
// Claude Code shows a model an error in place of a result of more than 25,000 tokens.
constexpr std::size_t kMaxDiffBytes = 48U << 10;
constexpr int kAttempts = 3;  // when others write the same files

constexpr Param kEditsItemParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The file, relative to the project root."},
    {.name = "old",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The text to replace, exactly, without line numbers; it must occur once."},
    {.name = "new",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The replacement text."},
    {.name = "replace_all",
     .kind = ParamKind::kBoolean,
     .description = "Replace every occurrence."},
    {.name = "expected_sha256",
     .kind = ParamKind::kString,
     .description = "sha256 of the file before the first edit, from read.",
     .pattern = "^[0-9a-fA-F]{64}$"},
};

constexpr Param kEditParams[] = {
    {.name = "edits",
     .kind = ParamKind::kObjectArray,
     .required = true,
     .description = "Applied in order, each to the result of the previous one; all or none.",
     .minimum = 1,
     .maximum = 200,
     .fields = kEditsItemParams},
    {.name = "dry_run",
     .kind = ParamKind::kBoolean,
     .description = "Change nothing: return the diff."},
    kResultParam,
};

constexpr ResultField kFiles[] = {
    {.name = "path", .required = true},
    {.name = "replaced", .kind = FieldKind::kInteger, .required = true},
    {.name = "sha256", .description = "of the edited file, if there are several"},
};

constexpr std::string_view kEditItems[] = {"files"};

constexpr ResultField kEditData[] = {
    {.name = "files", .kind = FieldKind::kObjectArray, .required = true, .fields = kFiles},
    {.name = "diff", .required = true, .description = "unified diff"},
    {.name = "sha256", .description = "of the edited file, if there is one only"},
    {.name = "dry_run", .kind = FieldKind::kBoolean},
};

// One file and all that is to be done to it. There may be more of them than descriptors, so nothing
// of its own is open.
struct FileEdit {
  Work work;                                          // of its root: one for all of its files
  FileTarget place;                                   // without `found`
  std::optional<policy::Permission> permission = {};  // from PermitAll
  std::vector<std::pair<std::size_t, const Arguments*>> edits;  // with their places in the call
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

std::optional<ToolError> CheckEdit(const Arguments& edit, const CallContext& call) {
  if (edit.String("old")->empty()) {
    return InvalidArgument("the argument 'old' is empty",
                           "Pass the passage to replace" +
                               Offer(call, "write", "; the tool write writes a whole file") + ".");
  }
  if (*edit.String("old") == *edit.String("new")) {
    return InvalidArgument("the arguments 'old' and 'new' are the same", "Leave this edit out.");
  }
  const std::string* expected = edit.String("expected_sha256");
  if (expected == nullptr || FromHex(*expected)) return std::nullopt;
  return InvalidArgument("the argument 'expected_sha256' must be 64 hexadecimal digits",
                         "Pass the sha256 that read gives for this file.");
}

std::string WhereFilesAre(const CallContext& call) {
  return "glob finds names" + Offer(call, "write", ", write makes new files") + ".";
}

ToolError IsNotThere(const std::string& path, const CallContext& call) {
  return NotFound(fmt::format("cannot edit {}: no such file", path),
                  "Pass an existing file; " + WhereFilesAre(call));
}

std::optional<ToolError> AddEdit(FileEdits& files, std::size_t index, const Arguments& edit,
                                 const ToolRequest& request, const CallContext& call) {
  if (auto wrong = CheckEdit(edit, call)) return wrong;
  const std::string& path = *edit.String("path");
  auto work = StartWorkAt(request, call, path);
  if (!work) return work.error();
  const std::string advice = WhereFilesAre(call);
  auto place = FindPlace(*work, call, path, {"edit", advice});
  if (!place) return place.error();
  if (!place->found) return IsNotThere(path, call);
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

// Of all files before the first is read, so that the user is asked once.
std::optional<ToolError> PermitAll(FileEdits& files, CallContext& call) {
  std::optional<ToolError> first;
  for (FileEdit& file : files) {
    auto permission = Permit(file.work, call, policy::Purpose::kWriteFile,
                             {.path = file.work.Absolute(file.place.relative)});
    if (permission) {
      file.permission = *std::move(permission);
    } else if (!first) {
      first = std::move(permission.error());
    }
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
  if (found->Path() != file.place.relative) co_return IsNotThere(file.place.shown, call);
  Task<Reading> task = ReadInto(sink, file.work, *file.permission, *found, call);
  Reading reading = co_await task;
  if (reading.error) co_return std::move(reading.error);
  text.End();
  if (text.encoding() == FileText::Encoding::kBinary) {
    co_return BinaryFile(file.place.shown, text.kind() ? text.kind()->name : "binary data",
                         text.size());
  }
  if (text.size() > most) co_return FileTooLarge(file.place.shown, text.size(), most);
  room -= file.before.size();
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
      return InEdit(index,
                    StaleFile(fmt::format("{} does not have expected_sha256", file.place.shown),
                              "The file was changed since it was read. This call changed nothing. "
                              "Read the file again and decide anew what to replace.",
                              Hex(file.before_hash)));
    }
    const std::string& from = *edit->String("old");
    auto edited = ReplaceText(file.after, file.encoding,
                              {from, *edit->String("new"), edit->Boolean("replace_all")});
    if (!edited && edited.error().count == 0) {
      const std::string shown = ShownText(file.after, file.encoding);
      return NoMatch(index, file.place.shown, FindNearMatch(shown, from),
                     NearestPassage(shown, from));
    }
    if (!edited) {
      return AmbiguousMatch(index, file.place.shown, edited.error().count, edited.error().lines);
    }
    file.after = std::move(edited->bytes);
    file.replaced += edited->count;
  }
  return std::nullopt;
}

// Borrows from `files`.
std::vector<FileChange> ChangesOf(const FileEdits& files) {
  std::vector<FileChange> changes;
  for (const FileEdit& file : files) {
    changes.push_back({.work = file.work,
                       .permission = *file.permission,
                       .relative = file.place.relative,
                       .shown = file.place.shown,
                       .before = file.before,
                       .before_hash = file.before_hash,
                       .after = file.after});
  }
  return changes;
}

struct Diff {
  std::string text;
  bool cut = false;
};

Diff DiffOf(const FileEdits& files) {
  Diff diff;
  for (const FileEdit& file : files) {
    diff.text +=
        UnifiedDiff("a/" + file.place.shown, "b/" + file.place.shown,
                    ShownText(file.before, file.encoding), ShownText(file.after, file.encoding),
                    kMaxDiffBytes - std::min(diff.text.size(), kMaxDiffBytes), &diff.cut);
  }
  return diff;
}

ToolResult RenderEdits(const FileEdits& files, bool dry_run, const Diff& diff) {
  ToolResult result;
  JsonWriter w;
  std::size_t replaced = 0;
  std::string list;
  std::string sha256;
  // Nothing stands twice: a single file's hash stands where write and read have theirs.
  const bool single = files.size() == 1;
  w.BeginObject().Key("files").BeginArray();
  for (const FileEdit& file : files) {
    sha256 = Hex(Sha256Of(file.after));
    w.BeginObject().Field("path", file.place.shown).Field("replaced", file.replaced);
    if (!single) w.Field("sha256", sha256);
    w.EndObject();
    list += fmt::format("{}: sha256 {}\n", file.place.shown, sha256);
    replaced += file.replaced;
  }
  w.EndArray().Field("diff", diff.text);
  if (single) w.Field("sha256", sha256);
  if (dry_run) w.Field("dry_run", true);
  result.data = std::move(w.EndObject()).Take();
  result.text =
      fmt::format("{} {} in {}\n{}{}", dry_run ? "would replace" : "replaced",
                  Count(replaced, "passage"), Count(files.size(), "file"), list, diff.text);
  result.truncated = diff.cut;
  result.decision = files[0].permission->rule();
  return result;
}

// What is done is told, if not all of it can be shown.
ToolResult RenderEdits(const FileEdits& files, bool dry_run) {
  try {
    return RenderEdits(files, dry_run, DiffOf(files));
  } catch (const std::bad_alloc&) {
    ToolResult result = RenderEdits(files, dry_run, Diff{.cut = true});
    Warn(result, "there was not enough memory to show the diff");
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
  const std::vector<FileChange> changes = ChangesOf(files);
  Task<Written> task = WriteAll(changes, call);
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

Task<ToolResult> RunEdit(ToolRequest request, CallContext& call) {
  auto files = Collect(request, call);
  if (!files) co_return RefusedCall(std::move(files.error()));
  if (auto refused = PermitAll(*files, call)) co_return RefusedCall(*std::move(refused));
  std::vector<std::string> paths;
  for (const FileEdit& file : *files) {
    paths.push_back(file.work.Absolute(file.place.relative));
  }
  // From the reading on: what the calls before leave is what this one edits. Nothing is waited for
  // until here, so they are those that came before.
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
        "Replace passages in one or several files: all edits are made, or none. Each `old` must "
        "occur exactly once, unless replace_all. Encoding and line ends stay as they are. Returns "
        "a unified diff.",
    .annotations = {.destructive = true},
    .params = kEditParams,
    .data = kEditData,
    .items = kEditItems,
    .run = RunEdit};

}  // namespace pa
