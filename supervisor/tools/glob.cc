#include "supervisor/tools/glob.h"

#include <fmt/format.h>

#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/empty_search.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/result_page.h"
#include "supervisor/tools/ripgrep.h"

namespace pa {
namespace {

constexpr Param kGlobParams[] = {
    {.name = "pattern",
     .kind = ParamKind::kString,
     .required = true,
     .description = "As in .gitignore: `*.h` at any depth, `/*.h` at the top, `src/**/*.{cc,h}`.",
     .maximum = kMaxPattern},
    {.name = "path",
     .kind = ParamKind::kString,
     .description = "Where to look, relative to the project root. Default: the root."},
    {.name = "include_ignored",
     .kind = ParamKind::kBoolean,
     .description = "Include files that .gitignore excludes."},
    {.name = "include_hidden",
     .kind = ParamKind::kBoolean,
     .description = "Include names that begin with a dot, except .git."},
    {.name = "limit",
     .kind = ParamKind::kInteger,
     .minimum = 1,
     .maximum = 1000,
     .default_integer = 100},
    kOffsetParam,
    kResultParam,
};

constexpr std::string_view kGlobItems[] = {"files"};

constexpr ResultField kGlobData[] = {
    {.name = "files", .kind = FieldKind::kStringArray, .required = true},
    {.name = "total", .kind = FieldKind::kInteger, .required = true},
    {.name = "offset", .kind = FieldKind::kInteger, .required = true},
    {.name = "next_offset",
     .kind = FieldKind::kInteger,
     .description = "absent if nothing follows"},
};

class GlobSink final : public RecordSink {
 public:
  // `among`: null, or who else has to know a file.
  GlobSink(std::string prefix, const NameSink* among, HiddenFiles hidden, std::uint64_t offset,
           std::uint64_t limit)
      : RecordSink(std::string(1, '\0')),
        prefix_(std::move(prefix)),
        among_(among),
        hidden_(std::move(hidden)),
        offset_(offset),
        limit_(limit) {}

  std::uint64_t total() const { return total_; }
  const std::vector<std::string>& files() const { return files_; }
  const HiddenFiles& hidden() const { return hidden_; }

 private:
  void OnRecord(std::string_view record, std::size_t /*which*/) override {
    std::string name = prefix_ + std::string(record);
    if ((among_ != nullptr && !among_->Has(name)) || hidden_.Hides(name)) return;
    const std::uint64_t index = total_++;
    full_ = full_ || (index >= offset_ && bytes_ + name.size() > kMostFilteredBytes);
    if (index < offset_ || files_.size() >= limit_ || full_) return;
    bytes_ += name.size();
    files_.push_back(std::move(name));
  }

  std::string prefix_;
  const NameSink* among_;
  HiddenFiles hidden_;
  std::uint64_t offset_, limit_;
  std::uint64_t total_ = 0;
  std::size_t bytes_ = 0;
  bool full_ = false;
  std::vector<std::string> files_;
};

ToolResult Render(const GlobSink& sink, std::uint64_t offset) {
  const std::uint64_t next = offset + sink.files().size();
  JsonWriter w;
  w.BeginObject().Key("files").BeginArray();
  for (const std::string& file : sink.files()) w.String(file);
  w.EndArray().Field("total", sink.total()).Field("offset", offset);
  ToolResult result;
  result.text = Count(sink.total(), "file") + ", newest first";
  if (!sink.files().empty() && (offset > 0 || next < sink.total())) {
    result.text += fmt::format("; shown are {} to {}", offset + 1, next);
  }
  if (!sink.files().empty() && next < sink.total()) {
    w.Field("next_offset", next);
    result.truncated = true;
    result.text += fmt::format(", the next begin at offset {}", next);
  }
  result.text += '\n';
  for (const std::string& file : sink.files()) result.text.append(file).append("\n");
  result.data = std::move(w.EndObject()).Take();
  return result;
}

Task<ToolResult> RunGlob(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const std::string& pattern = *arguments.String("pattern");
  if (pattern.empty()) {
    co_return RefusedCall(InvalidArgument("the argument 'pattern' is empty: expected a glob",
                                          "Pass a glob such as `*.py`, or `*` for every file."));
  }
  const auto work = StartWorkAt(request, call);
  if (!work) co_return RefusedCall(work.error());
  const std::string* path = arguments.String("path");
  const auto place = FindPlace(*work, call, path);
  if (!place) co_return RefusedCall(place.error());
  if (!place->file.empty()) {
    co_return RefusedCall(InvalidArgument("the argument 'path' is a file: " + *path,
                                          "Pass a directory, or leave path out."));
  }
  const auto offset = static_cast<std::uint64_t>(arguments.Integer("offset").value_or(0));
  const auto limit = FiltersAll(arguments)
                         ? kMostFiltered
                         : static_cast<std::uint64_t>(arguments.Integer("limit").value_or(0));
  const bool include_hidden = arguments.Boolean("include_hidden");
  const bool include_ignored = arguments.Boolean("include_ignored");
  RipgrepOrder order{.options = {"--files", "--null", "--sortr=modified"},
                     .include_hidden = include_hidden,
                     .include_ignored = include_ignored};
  const GlobPlan glob = PlanGlob(pattern);
  Task<GlobbedSearch> globbed = ApplyGlob(*work, *place, glob, std::move(order), call);
  GlobbedSearch search = co_await globbed;
  const std::unique_ptr<NameSink> among = std::move(search.among);
  GlobSink sink(search.place ? search.place->prefix : "", among.get(), HiddenFiles(*work, call),
                offset, limit);
  Task<RipgrepRun> task = RunGlobbed(*work, std::move(search), sink, call);
  const RipgrepRun run = co_await task;
  if (run.error) co_return RefusedCall(*run.error);
  ToolResult result = Render(sink, offset);
  result.decision = run.decision;
  WarnOfGaps(run, sink, sink.hidden(), result);
  if (sink.total() > 0) co_return result;
  std::vector<std::string> why = WhyNothing(*work, *place, pattern, call);
  if (why.empty()) {
    Task<std::string> below = DirectoryBelow(
        *work, *place, pattern,
        {.options = {}, .include_hidden = include_hidden, .include_ignored = include_ignored},
        call);
    std::string directory = co_await below;
    if (!directory.empty()) why.push_back(std::move(directory));
  }
  for (std::string& one : why) Warn(result, std::move(one));
  co_return result;
}

}  // namespace

const Tool kGlob = {.name = "glob",
                    .title = "Find files",
                    .description =
                        "Find files by a glob, newest first. Files that .gitignore excludes and "
                        "hidden files are left out unless asked for.",
                    .annotations = {.read_only = true, .idempotent = true},
                    .params = kGlobParams,
                    .data = kGlobData,
                    .items = kGlobItems,
                    .run = RunGlob,
                    .purpose = policy::Purpose::kSearch};

}  // namespace pa
