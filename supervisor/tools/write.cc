#include "supervisor/tools/write.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

constexpr Param kParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The file, relative to the project root."},
    {.name = "content",
     .kind = ParamKind::kString,
     .required = true,
     .description = "All of it, as UTF-8."},
    {.name = "create_parents",
     .kind = ParamKind::kBoolean,
     .description = "Make directories on the way that are missing."},
    {.name = "expected_sha256",
     .kind = ParamKind::kString,
     .description = "Of the file that is replaced, from read or write; without it nothing is "
                    "replaced.",
     .pattern = "^[0-9a-fA-F]{64}$"},
};

constexpr std::string_view kDataSchema =
    R"({"type":"object","properties":{"path":{"type":"string"},"created":{"type":"boolean",)"
    R"("description":"false: it was replaced"},"size":{"type":"integer"},)"
    R"("sha256":{"type":"string"}},"required":["path","created","size","sha256"]})";

std::expected<std::optional<Digest>, ToolError> Expected(const Arguments& arguments) {
  const std::string* text = arguments.String("expected_sha256");
  if (text == nullptr) return std::nullopt;
  std::optional<Digest> digest = FromHex(*text);
  if (digest) return digest;
  return std::unexpected(InvalidArgument(
      fmt::format("the argument 'expected_sha256' must be 64 hexadecimal digits, not '{}'", *text),
      "Pass the sha256 that read or write gave for this file; leave it out for a new file."));
}

Task<ToolResult> Run(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const auto work = StartWorkAt(request, call);
  if (!work) co_return RefusedCall(work.error());
  const auto expected = Expected(arguments);
  if (!expected) co_return RefusedCall(expected.error());
  const bool create_parents = arguments.Boolean("create_parents");
  const auto place =
      FindPlace(*work, call, *arguments.String("path"),
                {"write",
                 "Pass create_parents: true to make it, or another path; glob lists what "
                 "there is.",
                 create_parents});
  if (!place) co_return RefusedCall(place.error());
  const std::string& content = *arguments.String("content");
  PutOrder order{.file = place->relative,
                 .shown = place->shown,
                 .content = content,
                 .old = *expected,
                 .makes_parents = create_parents};
  Permission permission{.purpose = policy::Purpose::kWriteFile,
                        .path = work->directory.path() + "/" + place->relative};
  FileTurn turn(call.runner.file_turns(), std::vector(1, permission.path));
  Task<std::optional<ToolError>> waiting = TakeTurn(turn, call);
  std::optional<ToolError> refused = co_await waiting;
  if (refused) co_return RefusedCall(*std::move(refused));
  Task<Put> task = PutFile(*work, call, std::move(permission), std::move(order));
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
  result.decision = std::move(put.rule);
  co_return result;
}

}  // namespace

const Tool kWrite = {
    .name = "write",
    .title = "Write file",
    .description =
        "Write a whole text file: a new one, or in place of one whose sha256 is passed as "
        "expected_sha256, so that nobody's change is lost. Mode, owner and attributes are kept.",
    .annotations = {.destructive = true},
    .params = kParams,
    .data_schema = kDataSchema,
    .run = Run};

}  // namespace pa
