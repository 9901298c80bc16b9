#include "supervisor/tools/ripgrep.h"

#include <algorithm>
#include <cerrno>
#include <string>
#include <thread>
#include <utility>

#include "base/try.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// More than ripgrep starts by itself (one for each processor, twelve at most), where that is few:
// on two processors a search of 78,000 files took two to four percent less time so (docs/adr/0026),
// on one it took more.
void AppendThreads(std::vector<std::string>& argv) {
  const unsigned processors = std::thread::hardware_concurrency();
  if (processors > 1) argv.push_back("--threads=" + std::to_string(std::min(2 * processors, 12U)));
}

std::vector<std::string> Argv(const SearchStart& place, RipgrepOrder order) {
  // Nobody's configuration, no complaints about single files, the ignore files of the project alone
  // and also where there is no repository.
  std::vector<std::string> argv = {"rg",
                                   "--no-config",
                                   "--no-messages",
                                   "--color=never",
                                   "--no-ignore-global",
                                   "--no-require-git"};
  const bool one_file = !place.file.empty();  // who names a file means it
  AppendThreads(argv);
  if (order.include_hidden || one_file) argv.emplace_back("--hidden");
  if (order.include_ignored || one_file) argv.emplace_back("--no-ignore");
  std::ranges::move(order.options, std::back_inserter(argv));
  if (order.text) {
    argv.insert(argv.end(), {"--text", "-"});  // as text, whatever bytes a command has printed
  } else if (one_file) {
    // By a glob and not as an argument: ripgrep follows a symlink that it is told of.
    argv.insert(argv.end(), {"--max-depth=1", "--glob=/" + EscapeGlob(place.file)});
  } else if (!order.sink_drops_hidden) {
    // The last glob that matches counts. A file of a type (ApplyGlob) is shown although it is
    // hidden.
    argv.emplace_back(order.include_hidden ? "--glob=!.git" : "--glob=!.*");
  }
  return argv;
}

constexpr int kNothingFound = 1;
// If it went wrong with one file, that is not said (--no-messages).
constexpr int kSomethingWrong = 2;

std::optional<ToolError> ErrorOfRun(const Execution& run, const RecordSink& sink) {
  const bool done = run.outcome == Outcome::kExited && run.exit_code <= kSomethingWrong;
  if (!done) return ErrorOf({.what = "the search", .argv = {}, .working_dir = ""}, run);
  if (run.exit_code < kSomethingWrong || sink.complaints().empty()) return std::nullopt;
  std::string words = sink.complaints();
  while (words.ends_with('\n')) words.pop_back();
  if (words.contains("error parsing glob ")) {
    return InvalidArgument("ripgrep refuses the glob: " + words,
                           "Mend the glob: it is one as in .gitignore, with *, **, ?, [abc] and "
                           "{a,b}; a backslash takes the meaning from the next character.");
  }
  return InvalidArgument("ripgrep refuses the pattern: " + words,
                         "Mend the pattern: it is a regular expression of ripgrep's (no "
                         "look-around, no back-references), or with `literal` plain text. To match "
                         "across lines set `multiline`.");
}

// The files that `search` would look into, without a look into any.
RipgrepOrder ListingOf(const RipgrepOrder& search) {
  RipgrepOrder listing = search;
  std::erase_if(listing.options, [](const std::string& option) {
    return !option.starts_with("--glob=") && !option.starts_with("--type") &&
           !option.starts_with("--max-depth=");
  });
  listing.options.insert(listing.options.end(), {"--files", "--quiet"});
  return listing;
}

bool LooksIntoFiles(const RipgrepOrder& order) {
  return std::ranges::any_of(order.options,
                             [](const std::string& o) { return o.starts_with("--regexp="); });
}

}  // namespace

std::expected<SearchStart, ToolError> FindPlace(const Work& work, const CallContext& call,
                                                const std::string* path) {
  PA_TRY(auto found,
         FindInRoot(work, call, path == nullptr ? "" : *path, "search",
                    "Pass a directory or file of the project, relative to its root, or leave "
                    "path out to search all of it."));
  std::string prefix = PrefixOf(work, call, found);
  return SearchStart{std::move(found.directory), std::move(found.name), std::move(prefix)};
}

void NameSink::OnRecord(std::string_view record, std::size_t /*which*/) {
  bytes_ += record.size() + sizeof(std::string);
  if (!full()) names_.insert(prefix_ + std::string(record));
}

Task<RipgrepRun> RunRipgrep(const Work& work, const SearchStart& place, RipgrepOrder order,
                            RecordSink& sink, CallContext& call) {
  RipgrepRun result;
  const std::string where = place.directory.path() + (place.file.empty() ? "" : "/" + place.file);
  auto permission = Permit(work, call, policy::Purpose::kSearch, {.path = where});
  if (!permission) {
    result.error = std::move(permission.error());
    co_return result;
  }
  auto rg = Require("rg", work, call);
  if (!rg) {
    result.error = std::move(rg.error());
    co_return result;
  }
  result.decision = permission->rule();
  const RunOptions options{.name = "rg",
                           .sink = &sink,
                           .cancel = &call.cancel,
                           .capture = false,
                           .delivery = Delivery::kInBulk,
                           .record = &call.record.run};
  CommandPlan plan{.executable = std::move(*rg),
                   .argv = Argv(place, order),
                   .env = WorkEnvironment(call),
                   .directory = place.directory,
                   .stdin_file = order.text};
  policy::Allow allow = permission->For({.purpose = policy::Purpose::kSearch});
  Task<Execution> task = call.runner.Run(std::move(plan), std::move(allow), call.policy, options);
  const Execution run = co_await task;
  result.error = ErrorOfRun(run, sink);
  result.incomplete = !result.error && run.exit_code == kSomethingWrong;
  result.nothing = !result.error && run.exit_code == kNothingFound;
  // That there was no file to look into is an error, too, to ripgrep.
  if (result.incomplete && LooksIntoFiles(order)) {
    NameSink none("");
    Task<RipgrepRun> listing = RunRipgrep(work, place, ListingOf(order), none, call);
    const RipgrepRun listed = co_await listing;
    result.incomplete = !listed.nothing;
  }
  co_return result;
}

Task<GlobbedSearch> ApplyGlob(const Work& work, const SearchStart& place, const GlobPlan& glob,
                              RipgrepOrder order, CallContext& call) {
  GlobbedSearch search;
  order.include_hidden = order.include_hidden || glob.hidden;
  Result<policy::FoundBeneath> found = policy::FindBeneath(place.directory, glob.directory);
  if (!found || !found->name.empty()) co_return search;
  if (!glob.exact.empty()) {
    search.among = std::make_unique<NameSink>(place.prefix);
    const RipgrepOrder names{.options = {"--files", "--null", "--glob=" + glob.exact},
                             .include_hidden = order.include_hidden,
                             .include_ignored = order.include_ignored};
    Task<RipgrepRun> task = RunRipgrep(work, place, names, *search.among, call);
    RipgrepRun run = co_await task;
    search.error = std::move(run.error);
    if (!search.error && search.among->full()) {
      search.error = InvalidArgument("the glob names too many files: " + glob.exact,
                                     "Use a narrower glob, or path.");
    }
  }
  // ripgrep takes a name that ends with a dot for none, which is of no type, not even of this one.
  const bool all = glob.name == "*";
  if (!all) order.options.insert(order.options.end(), {"--type-add=pa:" + glob.name, "--type=pa"});
  if (glob.shallow) order.options.emplace_back("--max-depth=1");
  search.order = std::move(order);
  const std::string prefix = found->relative.empty() ? "" : found->relative + "/";
  search.place = SearchStart{std::move(found->directory), "", place.prefix + prefix};
  co_return search;
}

Task<RipgrepRun> RunGlobbed(const Work& work, GlobbedSearch search, RecordSink& sink,
                            CallContext& call) {
  RipgrepRun run;
  run.error = std::move(search.error);
  if (run.error) co_return run;
  if (search.place) {
    Task<RipgrepRun> task = RunRipgrep(work, *search.place, std::move(search.order), sink, call);
    run = co_await task;
    co_return run;
  }
  // Who may not search is not told either that there would be nothing to find.
  auto permission = Permit(work, call, policy::Purpose::kSearch, {.path = work.directory.path()});
  if (!permission) run.error = std::move(permission.error());
  co_return run;
}

void WarnOfGaps(const RipgrepRun& run, const RecordSink& sink, const HiddenFiles& hidden,
                ToolResult& result) {
  if (hidden.hidden() > 0) {
    Warn(result, "files that the policy denies to this tool are left out");
  }
  if (run.incomplete) Warn(result, "some files or directories could not be read");
  if (sink.dropped() > 0) {
    Warn(result, Count(sink.dropped(), "line") + " longer than 1 MiB left out");
  }
}

}  // namespace pa
