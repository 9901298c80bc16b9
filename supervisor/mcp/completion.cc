#include "supervisor/mcp/completion.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/json_writer.h"
#include "base/try.h"
#include "base/words.h"
#include "supervisor/mcp/params.h"

namespace pa {
namespace {

constexpr std::size_t kMostValues = 100;

}  // namespace

std::string CompletionOrder::Known(std::string_view other) const {
  const JsonValue* given = known == nullptr ? nullptr : known->FindSet(other);
  return given != nullptr && given->IsString() ? given->AsString() : "";
}

std::expected<CompletionOrder, rpc::Failure> CompletionIn(const JsonValue& params) {
  CompletionOrder order;
  PA_TRY(const JsonValue* const ref, RequiredObject(params, "ref"));
  PA_TRY(const std::string type, RequiredString(*ref, "type", "params.ref."));
  if (type != "ref/prompt" && type != "ref/resource") {
    return InvalidParams("params.ref.type must be ref/prompt or ref/resource");
  }
  const bool prompt = type == "ref/prompt";
  order.of = prompt ? CompletionOrder::Of::kPrompt : CompletionOrder::Of::kTemplate;
  PA_TRY(order.name, RequiredString(*ref, prompt ? "name" : "uri", "params.ref."));
  PA_TRY(const JsonValue* const argument, RequiredObject(params, "argument"));
  PA_TRY(order.argument, RequiredString(*argument, "name", "params.argument."));
  PA_TRY(order.value, RequiredString(*argument, "value", "params.argument."));
  if (const JsonValue* context = params.FindSet("context")) {
    order.known = context->FindSet("arguments");
  }
  return order;
}

std::string CompleteResult(Revision revision, const Identity& identity,
                           std::span<const std::string> all, std::string_view value) {
  const std::string wanted = Lowered(value);
  std::vector<const std::string*> values;
  for (const bool at_the_start : {true, false}) {
    for (const std::string& one : all) {
      const std::size_t found = Lowered(one).find(wanted);
      if (found != std::string::npos && (found == 0) == at_the_start) values.push_back(&one);
    }
  }
  JsonWriter writer;
  writer.BeginObject().Key("completion").BeginObject().Key("values").BeginArray();
  for (std::size_t at = 0; at < std::min(values.size(), kMostValues); ++at) {
    writer.String(*values[at]);
  }
  writer.EndArray().Field("total", std::uint64_t{values.size()});
  writer.Field("hasMore", values.size() > kMostValues).EndObject();
  WriteResultFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

}  // namespace pa
