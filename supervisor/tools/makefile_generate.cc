#include "supervisor/tools/makefile_generate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/text/quote_command.h"
#include "supervisor/tools/dry_run.h"
#include "supervisor/tools/makefile_text.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/put_file.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

constexpr Param kMakefileGenerateParams[] = {kLanguageParam, kPlaceParam, kDryRunParam,
                                             kWholeResultParam};

constexpr ResultField kMakefileGenerateData[] = {
    {.name = "makefile"},
    {.name = "language"},
    {.name = "content"},
    {.name = "targets", .kind = FieldKind::kStringArray},
    {.name = "stdout"},
    {.name = "stderr"},
    {.name = "exit_code", .kind = FieldKind::kInteger},
    {.name = "outcome"},
    {.name = "duration_ms", .kind = FieldKind::kInteger},
    {.name = "command", .required = true},
    {.name = "working_dir", .required = true},
    {.name = "argv", .kind = FieldKind::kStringArray},
    {.name = "would_print"},
    {.name = "confinement", .kind = FieldKind::kObject},
};

struct Recipe {
  std::string_view target;
  std::string_view description;
  std::string_view command;
};

constexpr Recipe kPython[] = {
    {"fix", "Fix what the linter can fix", "ruff check --fix ."},
    {"format", "Format the code", "black ."},
    {"lint", "Check the code", "ruff check ."},
    {"test", "Run the tests", "python -m pytest"},
};

constexpr Recipe kRust[] = {
    {"fix", "Fix what the linter can fix", "cargo clippy --fix"},
    {"format", "Format the code", "cargo fmt"},
    {"lint", "Check the code", "cargo clippy"},
    {"test", "Run the tests", "cargo test"},
    {"build", "Build the project", "cargo build"},
};

constexpr Recipe kGo[] = {
    {"fix", "Fix what the formatter can fix", "go fmt ./..."},
    {"format", "Format the code", "go fmt ./..."},
    {"lint", "Check the code", "golangci-lint run"},
    {"test", "Run the tests", "go test ./..."},
    {"build", "Build the project", "go build ./..."},
};

constexpr Recipe kNodejs[] = {
    {"fix", "Fix what the linter can fix", "npm run lint:fix"},
    {"format", "Format the code", "npm run format"},
    {"lint", "Check the code", "npm run lint"},
    {"test", "Run the tests", "npm test"},
};

std::span<const Recipe> RecipesFor(std::string_view language) {
  if (language == "python") return kPython;
  if (language == "rust") return kRust;
  if (language == "go") return kGo;
  return kNodejs;
}

struct Marker {
  std::string_view file;
  std::string_view language;
};
constexpr Marker kMarkers[] = {
    {"pyproject.toml", "python"}, {"setup.py", "python"}, {"requirements.txt", "python"},
    {"Cargo.toml", "rust"},       {"go.mod", "go"},       {"package.json", "nodejs"},
};

std::expected<std::string, ToolError> DetectLanguage(const Work& work) {
  std::vector<std::string> found;
  std::vector<std::string> languages;
  for (const Marker& marker : kMarkers) {
    if (!StampOf(work.directory.fd(), std::string(marker.file))) continue;
    found.emplace_back(marker.file);
    if (languages.empty() || languages.back() != marker.language) {
      languages.emplace_back(marker.language);
    }
  }
  if (languages.size() == 1) return languages.front();
  const std::string message =
      languages.empty()
          ? fmt::format(
                "language: cannot be told in {}: none of pyproject.toml, setup.py, "
                "requirements.txt, Cargo.toml, go.mod, package.json is there",
                work.directory.path())
          : fmt::format("language: {} in {} tell different languages: {}", fmt::join(found, ", "),
                        work.directory.path(), fmt::join(languages, ", "));
  return std::unexpected(
      InvalidArgument(message, fmt::format("Pass language: one of {}. Or: {}",
                                           fmt::join(kLanguages, ", "), kWriteItYourself)));
}

ToolError ExistsAlready(std::string_view name) {
  return MakefileInvalid(
      fmt::format("a Makefile exists already: {}", name),
      "It is never replaced. Call make_targets to see its targets, or change it, so "
      "that it has what is missing.");
}

std::string DataOf(const CommandReport& report, std::string_view language, std::string_view content,
                   std::chrono::microseconds took) {
  JsonWriter writer;
  writer.BeginObject().Field("command", QuoteCommand(report.argv));
  writer.Field("working_dir", report.working_dir).Field("makefile", "Makefile");
  writer.Field("language", language).Field("content", content);
  writer.Key("targets").BeginArray().String("default");
  for (const Recipe& recipe : RecipesFor(language)) writer.String(recipe.target);
  writer.EndArray();
  // As of any command: project_actions promises them for each of its operations.
  writer.Field("stdout", "").Field("stderr", "").Field("exit_code", 0).Field("outcome", "exited");
  writer.Field("duration_ms", static_cast<std::int64_t>(took.count() / 1000)).EndObject();
  return std::move(writer).Take();
}

ToolResult RenderCreated(const CommandReport& report, const std::string& language,
                         const std::string& content, Put put) {
  if (put.was_there) return RefusedCall(ExistsAlready("Makefile"));
  if (put.error) return RefusedCall(std::move(*put.error));
  ToolResult result;
  result.data = DataOf(report, language, content, put.duration);
  result.text = fmt::format("wrote {}/Makefile for {}:\n{}", report.working_dir, language, content);
  result.decision = report.decision;
  return result;
}

Task<ToolResult> RunMakefileGenerate(ToolRequest request, CallContext& call) {
  auto work = StartWork(request, "", call);
  if (!work) co_return RefusedCall(std::move(work.error()));
  const std::string* asked = request.arguments().String("language");
  std::string language = asked == nullptr ? "" : *asked;
  Task<ToolResult> task = GenerateMakefile(std::move(*work), std::move(language), call);
  ToolResult result = co_await task;
  co_return result;
}

}  // namespace

std::string MakefileFor(std::string_view language) {
  std::string text =
      ".PHONY: default\ndefault: ## Say that there is no default\n\t@echo \"No default action\"\n";
  for (const Recipe& recipe : RecipesFor(language)) {
    text += fmt::format("\n.PHONY: {0}\n{0}: ## {1}\n\t{2}\n", recipe.target, recipe.description,
                        recipe.command);
  }
  return text;
}

Task<ToolResult> GenerateMakefile(Work work, std::string language, CallContext& call) {
  auto permission = Permit(work, call, policy::Purpose::kWriteFile);
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  if (const auto existing = FindMakefile(work.directory.fd())) {
    co_return RefusedCall(ExistsAlready(existing->name));
  }
  if (language.empty()) {
    auto detected = DetectLanguage(work);
    if (!detected) co_return RefusedCall(std::move(detected.error()));
    language = std::move(*detected);
  }
  const std::string content = MakefileFor(language);
  const CommandReport report{.what = "makefile_generate",
                             .argv = {"create", "Makefile"},
                             .working_dir = work.directory.path(),
                             .decision = permission->rule()};
  if (work.dry_run) {
    const policy::Allow allow = permission->For({.purpose = policy::Purpose::kWriteFile});
    co_return RenderDryRun(report, allow, call.runner.Kernel(), content);
  }
  PutOrder order{.file = "Makefile", .shown = "Makefile", .content = content};
  Task<Put> task = PutFile(work, *permission, std::move(order), call);
  Put put = co_await task;
  co_return RenderCreated(report, language, content, std::move(put));
}

const Tool kMakefileGenerate = {
    .name = "makefile_generate",
    .title = "Generate Makefile",
    .description =
        "Write a starter Makefile (default, fix, format, lint, test; build for rust and "
        "go). Never replaces one that exists.",
    .params = kMakefileGenerateParams,
    .data = kMakefileGenerateData,
    .run = RunMakefileGenerate};

}  // namespace pa
