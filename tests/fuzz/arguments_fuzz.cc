// A tool's arguments: what the validator lets through obeys its table, as it stands and as it is
// meant, and every refusal can be sent. What fits already means what it says.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/json.h"
#include "base/utf8.h"
#include "supervisor/call/arguments.h"
#include "supervisor/call/as_meant.h"
#include "tests/fuzz/check.h"

namespace pa {
namespace {

constexpr std::string_view kLanguages[] = {"python", "rust", "go"};
constexpr Param kFields[] = {
    {.name = "path", .required = true},
    {.name = "old"},
    {.name = "replace_all", .kind = ParamKind::kBoolean},
};
constexpr Param kParams[] = {
    {.name = "target", .required = true},
    {.name = "language", .one_of = kLanguages},
    {.name = "timeout_ms", .kind = ParamKind::kInteger, .minimum = 1, .maximum = 600000},
    {.name = "offset", .kind = ParamKind::kInteger, .default_integer = 5},
    {.name = "dry_run", .kind = ParamKind::kBoolean},
    {.name = "paths", .kind = ParamKind::kStringArray, .minimum = 1, .maximum = 3},
    {.name = "edits", .kind = ParamKind::kObjectArray, .maximum = 3, .fields = kFields},
};

void CheckString(const std::string& text) {
  Check(IsValidUtf8(text));
  Check(text.find('\0') == std::string::npos);
}

void CheckAccepted(const Arguments& arguments) {
  Check(arguments.String("target") != nullptr);
  CheckString(*arguments.String("target"));
  const std::string* language = arguments.String("language");
  Check(language == nullptr || std::ranges::find(kLanguages, *language) != std::end(kLanguages));
  const std::int64_t timeout = arguments.Integer("timeout_ms").value_or(1);
  Check(timeout >= 1 && timeout <= 600000);
  Check(arguments.Integer("offset").value_or(-1) >= 0);
  if (const std::vector<std::string>* paths = arguments.Strings("paths")) {
    Check(!paths->empty() && paths->size() <= 3);
    std::ranges::for_each(*paths, CheckString);
  }
}

void CheckRefused(const ToolError& error) {
  Check(error.code == ErrorCode::kInvalidArgument);
  Check(IsValidUtf8(error.message) && error.message.size() < 1000);
  Check(error.details.empty() || ParseJson(error.details).has_value());
}

void CheckMeaning(const JsonValue& arguments, bool fits) {
  const auto meant = AsMeant(kParams, &arguments);
  if (!meant) return CheckRefused(meant.error());
  Check(!(fits && *meant));
  if (!*meant) return;
  const auto valid = ValidateArguments(kParams, &**meant);
  valid ? CheckAccepted(*valid) : CheckRefused(valid.error());
  const auto again = AsMeant(kParams, &**meant);
  Check(again && !*again);
}

}  // namespace
}  // namespace pa

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = pa::ParseJson({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  const auto arguments = pa::ValidateArguments(pa::kParams, &*document);
  if (arguments) {
    pa::CheckAccepted(*arguments);
  } else {
    pa::CheckRefused(arguments.error());
  }
  pa::CheckMeaning(*document, arguments.has_value());
  return 0;
}
