#include "tests/conformance/fixtures.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json_writer.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/client_input.h"
#include "supervisor/call/tool_request.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/pause.h"
#include "supervisor/mcp/params.h"
#include "supervisor/run/output_sink.h"
#include "supervisor/tools/registry.h"

namespace pa::conformance {
namespace {

using std::chrono::milliseconds;

// A red pixel, and a sound of no length.
constexpr std::string_view kPng =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5E"
    "rkJggg==";
constexpr std::string_view kWav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";

uv_loop_t* g_loop = nullptr;
ServerState* g_state = nullptr;

ToolResult Content(std::string content) {
  ToolResult result;
  result.data = "{}";
  result.content = std::move(content);
  return result;
}

std::string TextBlock(std::string_view text) {
  JsonWriter writer;
  writer.BeginObject().Field("type", "text").Field("text", text).EndObject();
  return std::move(writer).Take();
}

ToolResult Text(std::string_view text) { return Content("[" + TextBlock(text) + "]"); }

std::string Media(std::string_view type, std::string_view data, std::string_view mime) {
  return fmt::format(R"({{"type":"{}","data":"{}","mimeType":"{}"}})", type, data, mime);
}

std::string Embedded(std::string_view uri, std::string_view mime, std::string_view text) {
  JsonWriter writer;
  writer.BeginObject().Field("type", "resource").Key("resource").BeginObject();
  writer.Field("uri", uri).Field("mimeType", mime).Field("text", text);
  return std::move(writer.EndObject().EndObject()).Take();
}

std::string Image() { return Media("image", kPng, "image/png"); }

template <const char* kText>
Task<ToolResult> Says(ToolRequest, CallContext&) {
  co_return Text(kText);
}

Task<ToolResult> ImageContent(ToolRequest, CallContext&) { co_return Content("[" + Image() + "]"); }

Task<ToolResult> AudioContent(ToolRequest, CallContext&) {
  co_return Content("[" + Media("audio", kWav, "audio/wav") + "]");
}

Task<ToolResult> EmbeddedContent(ToolRequest, CallContext&) {
  co_return Content(
      "[" +
      Embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.") +
      "]");
}

Task<ToolResult> MixedContent(ToolRequest, CallContext&) {
  co_return Content("[" + TextBlock("Multiple content types test:") + "," + Image() + "," +
                    Embedded("test://mixed-content-resource", "application/json",
                             R"({"test":"data","value":123})") +
                    "]");
}

Task<ToolResult> Fails(ToolRequest, CallContext&) {
  ToolResult result = Text("This tool intentionally returns an error for testing");
  result.error = InternalError("this tool intentionally returns an error for testing");
  co_return result;
}

Task<ToolResult> Logs(ToolRequest, CallContext& call) {
  for (const char* text :
       {"Tool execution started", "Tool processing data", "Tool execution completed"}) {
    if (call.log) call.log(LogLevel::kInfo, "test_tool_with_logging", text);
    Task<bool> pause = Pause(g_loop, milliseconds(50));
    [[maybe_unused]] const bool over = co_await pause;
  }
  co_return Text("Tool with logging executed successfully");
}

// So gravely that it is told without being asked for, on a stream.
Task<ToolResult> Warns(ToolRequest, CallContext& call) {
  if (call.log) call.log(LogLevel::kWarning, "test_reconnection", "the stream has begun");
  Task<bool> pause = Pause(g_loop, milliseconds(50));
  [[maybe_unused]] const bool over = co_await pause;
  co_return Text("done");
}

// Its output, which is what our progress tells.
Task<ToolResult> Progresses(ToolRequest, CallContext& call) {
  for (const char* text : {"0 of 100\n", "50 of 100\n", "100 of 100\n"}) {
    if (call.sink != nullptr) call.sink->OnOutput(Stream::kStdout, text);
    Task<bool> pause = Pause(g_loop, milliseconds(120));
    [[maybe_unused]] const bool over = co_await pause;
  }
  co_return Text("Tool with progress executed successfully");
}

// What is asked, in JSON.

std::string Form(std::string_view message, std::string_view properties, std::string_view required) {
  JsonWriter writer;
  writer.BeginObject().Field("message", message).Key("requestedSchema").BeginObject();
  writer.Field("type", "object").Key("properties").Raw(properties);
  writer.Key("required").Raw(required);
  return std::move(writer.EndObject().EndObject()).Take();
}

std::string NameForm(std::string_view message) {
  return Form(message, R"({"name":{"type":"string"}})", R"(["name"])");
}

std::string Sampling(std::string_view prompt, int tokens) {
  JsonWriter writer;
  writer.BeginObject().Key("messages").BeginArray().BeginObject().Field("role", "user");
  writer.Key("content").Raw(TextBlock(prompt)).EndObject().EndArray();
  return std::move(writer.Field("maxTokens", tokens).EndObject()).Take();
}

const InputRequest kRootsRequest{.key = "client_roots", .kind = InputKind::kRoots, .params = "{}"};

// What is missing, for a client that cannot be asked.
std::optional<ToolResult> CannotAsk(const CallContext& call,
                                    const std::vector<InputRequest>& requests) {
  for (const InputRequest& request : requests) {
    if (call.client != nullptr && call.client->Has(request.kind)) continue;
    ToolResult result = RefusedCall({.code = ErrorCode::kApprovalDeclined,
                                     .message = "the client cannot be asked for this",
                                     .ai_message = "Use another client.",
                                     .details = {}});
    result.needs_input = request.kind;
    return result;
  }
  return std::nullopt;
}

// The text of what the client has answered, member by member.
std::string Answered(const std::vector<JsonValue>& answers) {
  std::string text;
  for (const JsonValue& answer : answers) text += answer.Dump() + " ";
  return text;
}

Task<ToolResult> Asks(std::vector<InputRequest> requests, std::string prefix, CallContext& call) {
  if (auto refused = CannotAsk(call, requests)) co_return *std::move(refused);
  Task<Inputs> asking = call.client->Ask(std::move(requests), call.cancel);
  const Inputs inputs = co_await asking;
  if (!inputs) co_return RefusedCall(Cancelled("the call"));
  co_return Text(prefix + Answered(*inputs));
}

std::vector<InputRequest> One(std::string key, InputKind kind, std::string params) {
  std::vector<InputRequest> requests;
  requests.push_back({.key = std::move(key), .kind = kind, .params = std::move(params)});
  return requests;
}

Task<ToolResult> AsksForName(ToolRequest, CallContext& call) {
  return Asks(One("user_name", InputKind::kElicitation, NameForm("What is your name?")), "Hello, ",
              call);
}

Task<ToolResult> AsksForContext(ToolRequest, CallContext& call) {
  return Asks(One("user_context", InputKind::kElicitation,
                  Form("What context should the prompt use?", R"({"context":{"type":"string"}})",
                       R"(["context"])")),
              "Use this context: ", call);
}

Task<ToolResult> AsksForCapital(ToolRequest, CallContext& call) {
  return Asks(One("capital_question", InputKind::kSampling,
                  Sampling("What is the capital of France?", 100)),
              "", call);
}

Task<ToolResult> AsksForRoots(ToolRequest, CallContext& call) {
  return Asks({kRootsRequest}, "Roots: ", call);
}

Task<ToolResult> AsksToConfirm(ToolRequest, CallContext& call) {
  return Asks(One("confirm", InputKind::kElicitation,
                  Form("Please confirm", R"({"ok":{"type":"boolean"}})", R"(["ok"])")),
              "state-ok ", call);
}

std::vector<InputRequest> AllKinds() {
  auto requests = One("user_name", InputKind::kElicitation, NameForm("What is your name?"));
  requests.push_back({.key = "greeting",
                      .kind = InputKind::kSampling,
                      .params = Sampling("Generate a greeting", 50)});
  requests.push_back(kRootsRequest);
  return requests;
}

Task<ToolResult> AsksForAll(ToolRequest, CallContext& call) { return Asks(AllKinds(), "", call); }

Task<ToolResult> AsksForWhatTheClientHas(ToolRequest, CallContext& call) {
  std::vector<InputRequest> requests = AllKinds();
  std::erase_if(requests, [&](const InputRequest& request) {
    return call.client == nullptr || !call.client->Has(request.kind);
  });
  if (requests.empty()) co_return Text("the client can be asked for nothing");
  Task<ToolResult> asking = Asks(std::move(requests), "", call);
  ToolResult result = co_await asking;
  co_return result;
}

Task<ToolResult> AsksTwice(ToolRequest, CallContext& call) {
  Task<ToolResult> first =
      Asks(One("step1", InputKind::kElicitation, NameForm("Step 1: What is your name?")), "", call);
  ToolResult name = co_await first;
  if (name.error) co_return name;
  Task<ToolResult> second = Asks(One("step2", InputKind::kElicitation,
                                     Form("Step 2: What is your favorite color?",
                                          R"({"color":{"type":"string"}})", R"(["color"])")),
                                 "", call);
  ToolResult color = co_await second;
  co_return color;
}

Task<ToolResult> Elicits(ToolRequest request, CallContext& call) {
  const std::string* message = request.arguments().String("message");
  return Asks(One("user", InputKind::kElicitation,
                  Form(message != nullptr ? *message : "Who are you?",
                       R"({"username":{"type":"string","description":"User's response"},)"
                       R"("email":{"type":"string","description":"User's email address"}})",
                       R"(["username","email"])")),
              "User response: ", call);
}

Task<ToolResult> Samples(ToolRequest request, CallContext& call) {
  return Asks(
      One("sample", InputKind::kSampling, Sampling(*request.arguments().String("prompt"), 100)),
      "LLM response: ", call);
}

Task<ToolResult> AsksWithDefaults(ToolRequest, CallContext& call) {
  return Asks(One("form", InputKind::kElicitation,
                  Form("Please review",
                       R"({"name":{"type":"string","default":"John Doe"},)"
                       R"("age":{"type":"integer","default":30},)"
                       R"("score":{"type":"number","default":95.5},)"
                       R"("status":{"type":"string","enum":["active","inactive","pending"],)"
                       R"("default":"active"},)"
                       R"("verified":{"type":"boolean","default":true}})",
                       "[]")),
              "Elicitation completed: ", call);
}

Task<ToolResult> AsksToChoose(ToolRequest, CallContext& call) {
  constexpr std::string_view kProperties =
      R"({"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},)"
      R"("titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},)"
      R"({"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},)"
      R"("legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],)"
      R"("enumNames":["Option One","Option Two","Option Three"]},)"
      R"("untitledMulti":{"type":"array","items":{"type":"string",)"
      R"("enum":["option1","option2","option3"]}},)"
      R"("titledMulti":{"type":"array","items":{"anyOf":[)"
      R"({"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},)"
      R"({"const":"value3","title":"Third Choice"}]}}})";
  return Asks(One("form", InputKind::kElicitation, Form("Please choose", kProperties, "[]")),
              "Elicitation completed: ", call);
}

Task<ToolResult> NeedsSampling(ToolRequest, CallContext& call) {
  return Asks(One("sample", InputKind::kSampling, Sampling("Anything?", 10)), "", call);
}

// Ends early if the call is cancelled: false.
Task<bool> Works(milliseconds time, CallContext& call) {
  if (call.begins) call.begins("a fixture");
  Completion<bool> over;
  TimerHandle timer(g_loop);
  timer.Start(time, [&over] { over.Set(true); });
  call.cancel.OnCancel([&over, &timer] {
    timer.Stop();
    over.Set(false);
  });
  const bool whole = co_await over;
  call.cancel.Forget();
  co_return whole;
}

Task<ToolResult> Greets(ToolRequest request, CallContext&) {
  co_return Text("Hello, " + *request.arguments().String("name") + "!");
}

Task<ToolResult> Computes(ToolRequest request, CallContext& call) {
  const std::int64_t seconds = request.arguments().Integer("seconds").value_or(0);
  Task<bool> working = Works(std::chrono::seconds(seconds), call);
  const bool whole = co_await working;
  if (!whole) co_return RefusedCall(Cancelled("slow_compute"));
  co_return Text("computed");
}

Task<ToolResult> FailsLater(ToolRequest, CallContext& call) {
  Task<bool> working = Works(std::chrono::seconds(1), call);
  [[maybe_unused]] const bool whole = co_await working;
  ToolResult result = Text("this job intentionally fails");
  result.error = InvalidArgument("this job intentionally fails", "");
  co_return result;
}

Task<ToolResult> AsksLater(std::vector<InputRequest> requests, CallContext& call) {
  Task<bool> working = Works(2 * kUntilTask, call);
  const bool whole = co_await working;
  if (!whole) co_return RefusedCall(Cancelled("the call"));
  Task<ToolResult> asking = Asks(std::move(requests), "answered: ", call);
  ToolResult result = co_await asking;
  co_return result;
}

Task<ToolResult> ConfirmsLater(ToolRequest, CallContext& call) {
  return AsksLater(One("confirm", InputKind::kElicitation,
                       Form("Delete it?", R"({"confirm":{"type":"boolean"}})", R"(["confirm"])")),
                   call);
}

Task<ToolResult> AsksSeveralLater(ToolRequest, CallContext& call) {
  auto requests = One("first", InputKind::kElicitation, NameForm("The first name?"));
  requests.push_back({.key = "second", .params = NameForm("The second name?")});
  return AsksLater(std::move(requests), call);
}

Task<ToolResult> AsksAndWorks(ToolRequest request, CallContext& call) {
  Task<ToolResult> asking = AsksForName(std::move(request), call);
  ToolResult result = co_await asking;
  if (result.error) co_return result;
  Task<bool> working = Works(4 * kUntilTask, call);
  [[maybe_unused]] const bool whole = co_await working;
  co_return result;
}

template <ListKind kKind>
Task<ToolResult> Changes(ToolRequest, CallContext&) {
  g_state->open.ListChanged(kKind);
  co_return Text("the list has changed");
}

constexpr char kSimple[] = "This is a simple text response for testing.";
constexpr char kOther[] = "done";

constexpr std::string_view kSchema2020 =
    R"({"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",)"
    R"("$defs":{"address":{"$anchor":"addressDef","type":"object","properties":{)"
    R"("street":{"type":"string"},"city":{"type":"string"}}}},"properties":{)"
    R"("name":{"type":"string"},"address":{"$ref":"#/$defs/address"},)"
    R"("contactMethod":{"type":"string","enum":["phone","email"]},"phone":{"type":"string"},)"
    R"("email":{"type":"string"}},"allOf":[{"anyOf":[{"required":["phone"]},)"
    R"({"required":["email"]}]}],"if":{"properties":{"contactMethod":{"const":"phone"}},)"
    R"("required":["contactMethod"]},"then":{"required":["phone"]},)"
    R"("else":{"required":["email"]},"additionalProperties":false})";

constexpr Param kName[] = {{.name = "name", .required = true, .description = "whom to greet"}};
constexpr Param kSeconds[] = {
    {.name = "seconds", .kind = ParamKind::kInteger, .description = "how long it takes"},
    {.name = "label", .description = "what it is called"}};
constexpr Param kFile[] = {{.name = "filename", .description = "what to delete"}};
constexpr Param kMessage[] = {{.name = "message", .description = "what the user reads"}};
constexpr Param kPromptText[] = {
    {.name = "prompt", .required = true, .description = "what the model reads"}};

struct Fixture {
  std::string_view name;
  Task<ToolResult> (*run)(ToolRequest, CallContext&);
  bool asks = false;
  std::span<const Param> params = {};
  std::string_view schema = {};
};
constexpr Fixture kFixtures[] = {
    {"test_simple_text", Says<kSimple>},
    {"test_image_content", ImageContent},
    {"test_audio_content", AudioContent},
    {"test_embedded_resource", EmbeddedContent},
    {"test_multiple_content_types", MixedContent},
    {"test_error_handling", Fails},
    {"test_tool_with_logging", Logs},
    {"test_logging_tool", Logs},
    {"test_tool_with_progress", Progresses},
    {"test_sampling", Samples, true, kPromptText},
    {"test_elicitation", Elicits, true, kMessage},
    {"test_elicitation_sep1034_defaults", AsksWithDefaults, true},
    {"test_elicitation_sep1330_enums", AsksToChoose, true},
    {"test_streaming_elicitation", AsksForName, true},
    {"test_missing_capability", NeedsSampling, true},
    {"test_input_required_result_elicitation", AsksForName, true},
    {"test_input_required_result_sampling", AsksForCapital, true},
    {"test_input_required_result_list_roots", AsksForRoots, true},
    {"test_input_required_result_request_state", AsksToConfirm, true},
    {"test_input_required_result_multiple_inputs", AsksForAll, true},
    {"test_input_required_result_multi_round", AsksTwice, true},
    {"test_input_required_result_tampered_state", AsksToConfirm, true},
    {"test_input_required_result_capabilities", AsksForWhatTheClientHas, true},
    {"test_input_required_result_prompt_context", AsksForContext, true},
    {"json_schema_2020_12_tool", Says<kOther>, false, {}, kSchema2020},
    {"test_reconnection", Warns},
    {"greet", Greets, false, kName},
    {"slow_compute", Computes, false, kSeconds},
    {"failing_job", FailsLater},
    {"confirm_delete", ConfirmsLater, true, kFile},
    {"multi_input", AsksSeveralLater, true},
    {"test_tool_with_task", AsksAndWorks, true},
    {"test_trigger_tool_change", Changes<ListKind::kTools>},
    {"test_trigger_prompt_change", Changes<ListKind::kPrompts>},
};

Prepared Message(const PromptClient& client, std::string_view messages) {
  return GetPromptResult(client.revision, client.identity, "A prompt for testing", messages);
}

std::string UserMessage(std::string_view block) {
  return fmt::format(R"({{"role":"user","content":{}}})", block);
}

std::string ArgumentOf(const JsonValue* arguments, std::string_view name) {
  const JsonValue* value = arguments == nullptr ? nullptr : arguments->Find(name);
  return value == nullptr ? "" : value->AsString();
}

class TestPrompts final : public PromptSource {
 public:
  Prepared List(const PromptClient& client) const override {
    const auto prompt = [](std::string name, std::vector<PromptArgument> arguments) {
      return Prompt{.name = std::move(name),
                    .title = "A prompt",
                    .description = "A prompt for testing",
                    .arguments = std::move(arguments)};
    };
    const Prompt prompts[] = {
        prompt("test_simple_prompt", {}),
        prompt("test_prompt_with_arguments",
               {{"arg1", "First test argument", true}, {"arg2", "Second test argument", true}}),
        prompt("test_prompt_with_embedded_resource",
               {{"resourceUri", "URI of the resource to embed", true}}),
        prompt("test_prompt_with_image", {}),
        prompt("test_input_required_result_prompt", {}),
    };
    return ListPromptsResult(client.revision, client.identity, prompts);
  }

  Prepared Get(const std::string& name, const JsonValue* arguments,
               const PromptClient& client) const override {
    if (name == "test_simple_prompt") {
      return Message(client,
                     "[" + UserMessage(TextBlock("This is a simple prompt for testing.")) + "]");
    }
    if (name == "test_prompt_with_arguments") {
      const std::string text =
          fmt::format("Prompt with arguments: arg1='{}', arg2='{}'", ArgumentOf(arguments, "arg1"),
                      ArgumentOf(arguments, "arg2"));
      return Message(client, "[" + UserMessage(TextBlock(text)) + "]");
    }
    if (name == "test_prompt_with_embedded_resource") {
      return Message(
          client, "[" +
                      UserMessage(Embedded(ArgumentOf(arguments, "resourceUri"), "text/plain",
                                           "Embedded resource content for testing.")) +
                      "," + UserMessage(TextBlock("Please process the embedded resource above.")) +
                      "]");
    }
    if (name == "test_prompt_with_image") {
      return Message(client, "[" + UserMessage(Image()) + "," +
                                 UserMessage(TextBlock("Please analyze the image above.")) + "]");
    }
    if (name != "test_input_required_result_prompt") return UnknownPrompt(name);
    return AnswerOfCall{
        .tool = "test_input_required_result_prompt_context",
        .answer = [revision = client.revision, &identity = client.identity](
                      const ToolResult& result) -> std::expected<std::string, rpc::Failure> {
          if (result.error) return FailedWith(rpc::kInternalError, result.error->message);
          const Result<JsonValue> content = ParseJson(result.content);
          const std::string block = content->Items().front().Dump();
          return GetPromptResult(revision, identity, "A prompt for testing",
                                 "[" + UserMessage(block) + "]");
        }};
  }

  Prepared Complete(const CompletionOrder& order, const PromptClient& client) const override {
    if (order.name != "test_prompt_with_arguments") return UnknownPrompt(order.name);
    const std::string places[] = {"paris", "park", "party", "test1", "test2"};
    return CompleteResult(client.revision, client.identity, places, order.value);
  }
};

constexpr std::string_view kTemplatePrefix = "test://template/";
constexpr std::string_view kTemplateSuffix = "/data";

// Beside our own.
class TestResources final : public ResourceSource {
 public:
  std::vector<Resource> List(const ResultStore& store) const override {
    std::vector<Resource> resources = ResultResources().List(store);
    resources.push_back({.uri = "test://static-text",
                         .name = "Static text",
                         .description = "A text for testing",
                         .mime_type = "text/plain"});
    resources.push_back({.uri = "test://static-binary",
                         .name = "Static image",
                         .description = "An image for testing",
                         .mime_type = "image/png"});
    resources.push_back({.uri = "test://watched-resource",
                         .name = "Watched",
                         .description = "A resource to subscribe to",
                         .mime_type = "text/plain"});
    return resources;
  }
  std::vector<ResourceTemplate> Templates() const override {
    std::vector<ResourceTemplate> templates = ResultResources().Templates();
    templates.push_back({.uri = "test://template/{id}/data",
                         .name = "Data",
                         .description = "Data of an id",
                         .mime_type = "application/json"});
    return templates;
  }
  std::optional<std::expected<ResourceContents, rpc::Failure>> Read(
      const std::string& uri, ResultStore& store) const override {
    if (uri == "test://static-text") {
      return ResourceContents{.mime_type = "text/plain",
                              .bytes = "This is the content of the static text resource."};
    }
    if (uri == "test://watched-resource") {
      return ResourceContents{.mime_type = "text/plain", .bytes = "Watched."};
    }
    if (uri == "test://static-binary") {
      return ResourceContents{.mime_type = "image/png", .bytes = *FromBase64(kPng)};
    }
    if (uri.starts_with(kTemplatePrefix) && uri.ends_with(kTemplateSuffix)) {
      const std::string id = uri.substr(
          kTemplatePrefix.size(), uri.size() - kTemplatePrefix.size() - kTemplateSuffix.size());
      return ResourceContents{
          .mime_type = "application/json",
          .bytes =
              fmt::format(R"({{"id":"{0}","templateTest":true,"data":"Data for ID: {0}"}})", id)};
    }
    return ResultResources().Read(uri, store);
  }
  bool Has(std::string_view uri, const ResultStore& store) const override {
    return uri.starts_with("test://") || ResultResources().Has(uri, store);
  }
  std::expected<std::vector<std::string>, rpc::Failure> Values(
      const CompletionOrder& order, const ResultStore& store) const override {
    return ResultResources().Values(order, store);
  }
};

}  // namespace

std::span<const Tool* const> Tools(uv_loop_t* loop, ServerState& state) {
  g_loop = loop;
  g_state = &state;
  static std::vector<Tool> fixtures;
  static std::vector<const Tool*> all;
  all.assign(AllTools().begin(), AllTools().end());
  fixtures.reserve(std::size(kFixtures));
  for (const Fixture& fixture : kFixtures) {
    fixtures.push_back({.name = fixture.name,
                        .title = "A tool for testing",
                        .description = "A tool for testing",
                        .annotations = {.read_only = true},
                        .params = fixture.params,
                        .data = {},
                        .run = fixture.run,
                        .purpose = std::nullopt,
                        .has_output_schema = false,
                        .asks_client = fixture.asks,
                        .input_schema = fixture.schema});
    all.push_back(&fixtures.back());
  }
  return all;
}

const PromptSource& Prompts() {
  static const TestPrompts prompts;
  return prompts;
}

const ResourceSource& Resources() {
  static const TestResources resources;
  return resources;
}

}  // namespace pa::conformance
