#include "supervisor/tools/write.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/text/line_ends.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

constexpr Param kWriteParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The file, relative to the project root."},
    {.name = "content",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The whole content, as UTF-8."},
    {.name = "create_parents",
     .kind = ParamKind::kBoolean,
     .description = "Create missing parent directories."},
    {.name = "expected_sha256",
     .kind = ParamKind::kString,
     .description = "sha256 of the file to replace, from read or write. Without it no existing "
                    "file is replaced.",
     .pattern = "^[0-9a-fA-F]{64}$"},
    kWholeResultParam,
};

constexpr ResultField kWriteData[] = {
    {.name = "path", .required = true},
    {.name = "created",
     .kind = FieldKind::kBoolean,
     .required = true,
     .description = "false if the file was replaced"},
    {.name = "size", .kind = FieldKind::kInteger, .required = true},
    {.name = "sha256", .required = true},
};

std::expected<std::optional<Digest>, ToolError> Expected(const Arguments& arguments) {
  const std::string* text = arguments.String("expected_sha256");
  if (text == nullptr) return std::nullopt;
  std::optional<Digest> digest = FromHex(*text);
  if (digest) return digest;
  return std::unexpected(InvalidArgument(
      fmt::format("the argument 'expected_sha256' must be 64 hexadecimal digits, not '{}'", *text),
      "Pass the sha256 that read or write gave for this file; leave it out for a new file."));
}

// How the lines end of the file that is replaced. kNone also if it cannot be read or is another
// one by now: then nothing is written.
Task<LineEnds> LineEndsOfOld(const Work& work, const policy::Permission& permission,
                             const FileTarget& place, const Digest& expected, CallContext& call) {
  const auto found = FindInRoot(work, call, place.relative, "write", "");
  if (!found || found->Path() != place.relative) co_return LineEnds::kNone;
  LineEndCounter counter;
  Sha256 hash;
  FileSink sink([&](std::string_view bytes) {
    counter.Feed(bytes);
    hash.Update(bytes);
  });
  Task<Reading> task = ReadInto(sink, work, permission, *found, call);
  const Reading reading = co_await task;
  co_return reading.error || hash.Finish() != expected ? LineEnds::kNone : counter.ends();
}

// "" or what to warn of. `content` becomes what is to be written: whoever passes \n alone has not
// seen that the file has \r\n.
std::string KeepLineEnds(LineEnds old, std::string& content) {
  const LineEnds given = LineEndsOf(content);
  if (old == LineEnds::kNone || given == LineEnds::kNone || old == given) return "";
  if (old == LineEnds::kCrLf && given == LineEnds::kLf) {
    content = WithCrLf(content);
    return "the lines of the file ended in \\r\\n, so those of content were written with \\r\\n";
  }
  return fmt::format("the line ends of the file changed from {} to {}", LineEndsName(old),
                     LineEndsName(given));
}

Task<ToolResult> RunWrite(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const auto work = StartWorkAt(request, call);
  if (!work) co_return RefusedCall(work.error());
  const auto expected = Expected(arguments);
  if (!expected) co_return RefusedCall(expected.error());
  const bool create_parents = arguments.Boolean("create_parents");
  const auto place =
      FindPlace(*work, call, *arguments.String("path"),
                {"write",
                 "Pass create_parents: true to create it, or another path; glob lists existing "
                 "files.",
                 create_parents});
  if (!place) co_return RefusedCall(place.error());
  const std::string path = work->Absolute(place->relative);
  auto permission = Permit(*work, call, policy::Purpose::kWriteFile, {.path = path});
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  FileTurn turn(call.runner.file_turns(), std::vector(1, path));
  Task<std::optional<ToolError>> waiting = TakeTurn(turn, call);
  std::optional<ToolError> refused = co_await waiting;
  if (refused) co_return RefusedCall(*std::move(refused));
  std::string content = *arguments.String("content");
  std::string ends_warning;
  if (*expected && content.contains('\n')) {
    Task<LineEnds> looking = LineEndsOfOld(*work, *permission, *place, **expected, call);
    const LineEnds old = co_await looking;
    ends_warning = KeepLineEnds(old, content);
  }
  PutOrder order{.file = place->relative,
                 .shown = place->shown,
                 .content = content,
                 .old = *expected,
                 .makes_parents = create_parents};
  Task<Put> task = PutFile(*work, *permission, std::move(order), call);
  Put put = co_await task;
  if (put.error) co_return RefusedCall(std::move(*put.error));
  const std::string sha256 = Hex(Sha256Of(content));
  ToolResult result;
  JsonWriter w;
  w.BeginObject().Field("path", place->shown).Field("created", !expected->has_value());
  w.Field("size", static_cast<std::uint64_t>(content.size())).Field("sha256", sha256).EndObject();
  result.data = std::move(w).Take();
  result.text =
      fmt::format("{} {}: {}, sha256 {}\n", expected->has_value() ? "replaced" : "created",
                  place->shown, Count(content.size(), "byte"), sha256);
  result.decision = permission->rule();
  if (!ends_warning.empty()) Warn(result, std::move(ends_warning));
  co_return result;
}

}  // namespace

const Tool kWrite = {
    .name = "write",
    .title = "Write file",
    .description =
        "Write a whole text file: a new one, or in place of the file whose sha256 is passed as "
        "expected_sha256, so that nobody's change is lost. Mode, owner, attributes and "
        "\\r\\n at the ends of lines are kept.",
    .annotations = {.destructive = true},
    .params = kWriteParams,
    .data = kWriteData,
    .run = RunWrite};

}  // namespace pa
