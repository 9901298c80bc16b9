#include "supervisor/tools/grep.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/tools/empty_search.h"
#include "supervisor/tools/kept_result.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/result_page.h"
#include "supervisor/tools/ripgrep.h"
#include "supervisor/tools/ripgrep_event.h"
#include "supervisor/tools/search_hits.h"

namespace pa {
namespace {

constexpr std::array<std::string_view, 3> kModes = {"files", "content", "count"};
enum class Mode { kFiles, kContent, kCount };

constexpr Param kGrepParams[] = {
    {.name = "pattern",
     .kind = ParamKind::kString,
     .required = true,
     .description = "A regular expression of ripgrep's: linear time, no look-around.",
     .maximum = kMaxPattern},
    {.name = "path",
     .kind = ParamKind::kString,
     .description = "Where to look, relative to the project root, or the uri of a kept result. "
                    "Default: the root."},
    {.name = "glob",
     .kind = ParamKind::kString,
     .description = "Only files that match, as in .gitignore: `*.py`, `!test_*`.",
     .maximum = kMaxPattern},
    {.name = "literal",
     .kind = ParamKind::kBoolean,
     .description = "Take the pattern as plain text."},
    {.name = "ignore_case", .kind = ParamKind::kBoolean},
    {.name = "multiline", .kind = ParamKind::kBoolean, .description = "A match may span lines."},
    {.name = "mode",
     .kind = ParamKind::kString,
     .description = "files (default): names of files; content: matching lines; count: matches in "
                    "each file.",
     .one_of = kModes},
    {.name = "context",
     .kind = ParamKind::kInteger,
     .description = "Lines of context around each match, with mode content.",
     .maximum = 20},
    {.name = "limit",
     .kind = ParamKind::kInteger,
     .description = "How many files, or with mode content how many matches.",
     .minimum = 1,
     .maximum = 2000,
     .default_integer = 250},
    kOffsetParam,
    kResultParam,
};

constexpr ResultField kCounts[] = {
    {.name = "path", .required = true},
    {.name = "count", .kind = FieldKind::kInteger, .required = true},
};

constexpr ResultField kMatches[] = {
    {.name = "path", .description = "of a kept result, absent"},
    {.name = "line", .kind = FieldKind::kInteger, .required = true},
    {.name = "text", .required = true},
    {.name = "before", .kind = FieldKind::kStringArray},
    {.name = "after", .kind = FieldKind::kStringArray},
};

constexpr std::string_view kGrepItems[] = {"matches", "files", "counts"};

constexpr ResultField kGrepData[] = {
    {.name = "mode", .required = true, .one_of = kModes},
    {.name = "files", .kind = FieldKind::kStringArray},
    {.name = "counts", .kind = FieldKind::kObjectArray, .fields = kCounts},
    {.name = "matches", .kind = FieldKind::kObjectArray, .fields = kMatches},
    {.name = "total_files", .kind = FieldKind::kInteger, .required = true},
    {.name = "total_matches", .kind = FieldKind::kInteger},
    {.name = "offset", .kind = FieldKind::kInteger, .required = true},
    {.name = "next_offset",
     .kind = FieldKind::kInteger,
     .description = "absent if nothing follows"},
};

// A line of a minified file is of no use to anybody.
constexpr std::size_t kMaxLine = 2000;
// A page ends before its text has more bytes, but for a first match that has more by itself. As
// JSON it can be twice as long, and Claude Code shows a model an error in place of a result of more
// than 25,000 tokens.
constexpr std::size_t kMaxPageBytes = 32U << 10;

std::string Shown(std::string_view line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.remove_suffix(1);
  if (line.size() <= kMaxLine) return RepairUtf8(line, false);
  return fmt::format("{}... ({} more bytes)", RepairUtf8(line.substr(0, kMaxLine), true),
                     line.size() - kMaxLine);
}

// Which files count, by their names beneath the directory that is searched.
struct FileFilter {
  std::string prefix;               // of that directory
  std::string alone;                // the name of what is searched in place of files; "" = files
  std::unique_ptr<NameSink> among;  // null, or who else has to know a file
  bool without_hidden = false;
  HiddenFiles denied;

  bool Takes(std::string_view name, const std::string& path) {
    if (!alone.empty()) return true;
    const bool is_hidden = name.starts_with('.') || name.contains("/.");
    return !(without_hidden && is_hidden) && (among == nullptr || among->Has(path)) &&
           !denied.Hides(path);
  }
};

class HitSink final : public RecordSink {
 public:
  HitSink(Mode mode, FileFilter filter, std::int64_t context, std::uint64_t wanted)
      : RecordSink(mode == Mode::kFiles     ? std::string(1, '\0')
                   : mode == Mode::kContent ? std::string(1, '\n')
                                            : std::string("\0\n", 2)),
        mode_(mode),
        filter_(std::move(filter)),
        context_(context),
        hits_(wanted) {}

  const SearchHits& hits() const { return hits_; }
  const HiddenFiles& denied() const { return filter_.denied; }

 private:
  void OnRecord(std::string_view record, std::size_t which) override {
    if (mode_ == Mode::kContent) return OnEvent(record);
    if (which == 0) Begin(record);
    if (which == 0 && mode_ == Mode::kCount) return;  // how many comes next
    std::uint64_t count = 0;
    if (which == 1) std::from_chars(record.data(), record.data() + record.size(), count);
    if (counts_) hits_.AddFile(path_, count);
  }

  void OnEvent(std::string_view line) {
    std::optional<RipgrepEvent> event = ParseRipgrepEvent(line);
    if (!event) return;
    if (event->path != name_) Begin(event->path);
    if (!counts_) return;
    if (!event->match) return OnContext(*event);
    last_ = event->line + std::max<std::int64_t>(0, std::ranges::count(event->text, '\n') - 1);
    hits_.AddMatch(path_, {.line = event->line,
                           .text = Shown(event->text),
                           .before = std::exchange(before_, {}),
                           .after = {}});
  }

  void OnContext(const RipgrepEvent& event) {
    if (last_ > 0 && event.line <= last_ + context_) {
      hits_.AddAfter(path_, Shown(event.text));
    } else {
      before_.push_back(Shown(event.text));
    }
  }

  void Begin(std::string_view name) {
    name_ = name;
    path_ = filter_.alone.empty() ? filter_.prefix + name_ : filter_.alone;
    counts_ = filter_.Takes(name_, path_);
    before_.clear();
    last_ = 0;
  }

  Mode mode_;
  FileFilter filter_;
  std::int64_t context_;
  SearchHits hits_;
  std::string name_;
  std::string path_;  // with the prefix
  bool counts_ = false;
  std::int64_t last_ = 0;  // line of the last match in this file; 0 = none yet
  std::vector<std::string> before_;
};

struct Page {
  std::uint64_t offset = 0;
  std::uint64_t limit = 0;
  std::size_t bytes = kMaxPageBytes;
  std::uint64_t shown = 0;
  bool full = false;   // `bytes` ended it
  bool alone = false;  // it is of a kept result
};

void WriteLines(JsonWriter& w, std::string_view key, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  w.Key(key).BeginArray();
  for (const std::string& line : lines) w.String(line);
  w.EndArray();
}

// How many bytes of text WriteMatch adds, but for the numbers of lines and what joins them.
std::size_t TextBytes(const std::string& path, const SearchMatch& match) {
  std::size_t bytes = path.size() + match.text.size();
  for (const auto* lines : {&match.before, &match.after}) {
    for (const std::string& line : *lines) bytes += path.size() + line.size();
  }
  return bytes;
}

// `path`: "" where there is one text only, whose name would be most of what is shown.
void WriteMatch(JsonWriter& w, std::string& text, const std::string& path,
                const SearchMatch& match) {
  w.BeginObject();
  if (!path.empty()) w.Field("path", path);
  w.Field("line", match.line).Field("text", match.text);
  WriteLines(w, "before", match.before);
  WriteLines(w, "after", match.after);
  w.EndObject();
  std::int64_t number = match.line - static_cast<std::int64_t>(match.before.size());
  for (const std::string& line : match.before) {
    text += fmt::format("{}{}{}-{}\n", path, path.empty() ? "" : "-", number++, line);
  }
  text += fmt::format("{}{}{}:{}\n", path, path.empty() ? "" : ":", match.line, match.text);
  number = match.line + std::ranges::count(match.text, '\n');
  for (const std::string& line : match.after) {
    text += fmt::format("{}{}{}-{}\n", path, path.empty() ? "" : "-", ++number, line);
  }
  if (!match.before.empty() || !match.after.empty()) text += "--\n";
}

// The entries of the page, in `w` and for people.
std::string WriteEntries(JsonWriter& w, Mode mode, const SearchHits& hits, Page& page) {
  static const std::string kNone;
  std::string text;
  std::uint64_t index = 0;
  const auto in_page = [&](std::size_t bytes) {
    const bool asked_for = index >= page.offset && page.shown < page.limit;
    page.full = page.full || (asked_for && page.shown > 0 && text.size() + bytes > page.bytes);
    const bool in = asked_for && !page.full;
    ++index;
    page.shown += in ? 1 : 0;
    return in;
  };
  for (const auto& [path, file] : hits.files()) {
    for (const SearchMatch& match : file.matches) {
      const std::string& named = page.alone ? kNone : path;
      if (in_page(TextBytes(named, match))) WriteMatch(w, text, named, match);
    }
    if (mode == Mode::kContent || !in_page(path.size())) continue;
    text += path;
    if (mode == Mode::kFiles) w.String(path);
    if (mode == Mode::kCount) {
      w.BeginObject().Field("path", path).Field("count", file.count).EndObject();
      text += fmt::format(": {}", file.count);
    }
    text += '\n';
  }
  return text;
}

std::string Headline(Mode mode, const SearchHits& hits, const Page& page, bool more) {
  const std::string files = Count(hits.total_files(), "file");
  std::string line = mode == Mode::kFiles
                         ? "found in " + files
                         : Count(hits.total_matches(), "matching line") + " in " + files;
  if (page.shown > 0 && (page.offset > 0 || more)) {
    line += fmt::format("; shown are {} to {}", page.offset + 1, page.offset + page.shown);
  }
  if (more) line += fmt::format(", the next begin at offset {}", page.offset + page.shown);
  return line + '\n';
}

ToolResult Render(Mode mode, const HitSink& sink, Page page) {
  constexpr std::array<std::string_view, 3> kKeys = {"files", "matches", "counts"};
  const SearchHits& hits = sink.hits();
  JsonWriter w;
  w.BeginObject().Field("mode", kModes.at(static_cast<std::size_t>(mode)));
  w.Key(kKeys.at(static_cast<std::size_t>(mode))).BeginArray();
  const std::string entries = WriteEntries(w, mode, hits, page);
  w.EndArray().Field("total_files", hits.total_files());
  if (mode != Mode::kFiles) w.Field("total_matches", hits.total_matches());
  const std::uint64_t total = mode == Mode::kContent ? hits.total_matches() : hits.total_files();
  // What comes after a page that was not filled was not kept (SearchHits::kMaxKept).
  const bool rest = page.offset + page.shown < total;
  const bool more = rest && (page.shown == page.limit || page.full);
  w.Field("offset", page.offset);
  if (more) w.Field("next_offset", page.offset + page.shown);
  ToolResult result;
  result.data = std::move(w.EndObject()).Take();
  result.text = Headline(mode, hits, page, more) + entries;
  result.truncated = rest;
  if (rest && !more) {
    Warn(result, "more matches follow than can be shown: narrow path, glob or pattern");
  }
  return result;
}

Mode ModeOf(const Arguments& arguments) {
  const std::string* mode = arguments.String("mode");
  const auto found = std::ranges::find(kModes, mode == nullptr ? "files" : *mode);
  return static_cast<Mode>(found - kModes.begin());
}

// Whether `$` may match before \r\n. With that ripgrep takes no \r in a pattern, and whoever writes
// one means it.
bool EndsLinesBeforeCr(const Arguments& arguments) {
  const std::string& pattern = *arguments.String("pattern");
  constexpr std::string_view kCr[] = {"\r",    "\\r",   "\\x0d", "\\x0D",
                                      "\\x{d", "\\x{D", "\\x{0", "\\u"};
  return !arguments.Boolean("literal") && pattern.contains('$') &&
         std::ranges::none_of(kCr, [&](std::string_view cr) { return pattern.contains(cr); });
}

std::vector<std::string> Options(const Arguments& arguments, Mode mode, std::int64_t context) {
  std::vector<std::string> options;
  if (mode == Mode::kFiles) options = {"--files-with-matches", "--null"};
  if (mode == Mode::kCount) options = {"--count", "--with-filename", "--null"};
  if (mode == Mode::kContent) options = {"--json", fmt::format("--context={}", context)};
  if (arguments.Boolean("literal")) options.emplace_back("--fixed-strings");
  if (arguments.Boolean("ignore_case")) options.emplace_back("--ignore-case");
  if (arguments.Boolean("multiline")) options.emplace_back("--multiline");
  if (EndsLinesBeforeCr(arguments)) options.emplace_back("--crlf");
  options.push_back("--regexp=" + *arguments.String("pattern"));
  return options;
}

// To the files that `glob` names. What it excludes, ripgrep excludes by itself; who names a file
// has narrowed enough.
Task<GlobbedSearch> Narrow(const Work& work, const SearchStart& place, const Arguments& arguments,
                           RipgrepOrder order, CallContext& call) {
  const std::string* glob = arguments.String("glob");
  GlobbedSearch search;
  if (glob == nullptr || glob->empty() || glob->starts_with('!') || !place.file.empty()) {
    if (glob != nullptr && glob->starts_with('!')) order.options.push_back("--glob=" + *glob);
    order.sink_drops_hidden = place.file.empty();
    search.place = place;
    search.order = std::move(order);
    co_return search;
  }
  const GlobPlan plan = PlanGlob(*glob);
  Task<GlobbedSearch> task = ApplyGlob(work, place, plan, std::move(order), call);
  search = co_await task;
  co_return search;
}

Page PageOf(const Arguments& arguments) {
  Page page{.offset = static_cast<std::uint64_t>(arguments.Integer("offset").value_or(0)),
            .limit = static_cast<std::uint64_t>(arguments.Integer("limit").value_or(0))};
  if (FiltersAll(arguments)) {
    page.limit = kMostFiltered;
    page.bytes = kMostFilteredBytes;
  }
  return page;
}

// In a kept result, which is one text.
Task<ToolResult> GrepKept(const ToolRequest& request, StoredBytes stored, CallContext& call) {
  const Arguments& arguments = request.arguments();
  if (const std::string* glob = arguments.String("glob"); glob != nullptr && !glob->empty()) {
    co_return RefusedCall(
        InvalidArgument("argument 'glob': a kept result is one text, no files", "Leave glob out."));
  }
  const auto work = StartWorkAt(request, call, "");
  if (!work) co_return RefusedCall(work.error());
  const auto place = FindPlace(*work, call, nullptr);
  if (!place) co_return RefusedCall(place.error());
  auto text = AsStdin(stored);
  if (!text) co_return RefusedCall(std::move(text.error()));
  const Mode mode = ModeOf(arguments);
  const std::int64_t context = arguments.Integer("context").value_or(0);
  Page page = PageOf(arguments);
  page.alone = true;
  HitSink sink(mode,
               {.prefix = "",
                .alone = *arguments.String("path"),
                .among = nullptr,
                .denied = HiddenFiles(*work, call)},
               context, page.offset + page.limit);
  RipgrepOrder order{.options = Options(arguments, mode, context), .text = *std::move(text)};
  Task<RipgrepRun> task = RunRipgrep(*work, *place, std::move(order), sink, call);
  const RipgrepRun run = co_await task;
  if (run.error) co_return RefusedCall(*run.error);
  ToolResult result = Render(mode, sink, page);
  result.decision = run.decision;
  WarnOfGaps(run, sink, sink.denied(), result);
  co_return result;
}

Task<ToolResult> RunGrep(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  if (arguments.String("pattern")->empty()) {
    co_return RefusedCall(
        InvalidArgument("the argument 'pattern' is empty: expected a regular expression",
                        "To list files, use glob."));
  }
  if (const std::string* path = arguments.String("path")) {
    if (auto kept = FindKept(call, *path)) {
      if (!*kept) co_return RefusedCall(std::move(kept->error()));
      Task<ToolResult> task = GrepKept(request, *std::move(*kept), call);
      ToolResult result = co_await task;
      co_return result;
    }
  }
  const auto work = StartWorkAt(request, call);
  if (!work) co_return RefusedCall(work.error());
  const auto place = FindPlace(*work, call, arguments.String("path"));
  if (!place) co_return RefusedCall(place.error());
  const Mode mode = ModeOf(arguments);
  const std::int64_t context = arguments.Integer("context").value_or(0);
  const Page page = PageOf(arguments);
  RipgrepOrder order{.options = Options(arguments, mode, context)};
  Task<GlobbedSearch> globbed = Narrow(*work, *place, arguments, std::move(order), call);
  GlobbedSearch search = co_await globbed;
  HitSink sink(mode,
               {.prefix = search.place ? search.place->prefix : "",
                .among = std::move(search.among),
                .without_hidden = search.order.sink_drops_hidden,
                .denied = HiddenFiles(*work, call)},
               context, page.offset + page.limit);
  Task<RipgrepRun> task = RunGlobbed(*work, std::move(search), sink, call);
  const RipgrepRun run = co_await task;
  if (run.error) co_return RefusedCall(*run.error);
  ToolResult result = Render(mode, sink, page);
  result.decision = run.decision;
  WarnOfGaps(run, sink, sink.denied(), result);
  const std::string* glob = arguments.String("glob");
  if (sink.hits().total_files() == 0 && glob != nullptr && !glob->starts_with('!')) {
    for (std::string& why : WhyNothing(*work, *place, *glob, call)) Warn(result, std::move(why));
  }
  co_return result;
}

}  // namespace

const Tool kGrep = {.name = "grep",
                    .title = "Search text",
                    .description =
                        "Search file contents by a regular expression. Files that .gitignore "
                        "excludes, hidden and binary files are left out; path may name one file.",
                    .annotations = {.read_only = true, .idempotent = true},
                    .params = kGrepParams,
                    .data = kGrepData,
                    .items = kGrepItems,
                    .run = RunGrep,
                    .purpose = policy::Purpose::kSearch};

}  // namespace pa
