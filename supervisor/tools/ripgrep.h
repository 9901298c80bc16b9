// Runs ripgrep for the tools that search: where, how, and what its complaints mean.
//
//    auto place = FindPlace(*work, call, arguments.String("path"));
//    Task<RipgrepRun> task = RunRipgrep(*work, *place, {.options = {"--files"}}, sink, call);
//
// It runs like any command that only looks: in the sandbox, with the project read-only and without
// a network. The project decides what it prints, so that is hostile.
#pragma once

#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "supervisor/tools/glob_plan.h"
#include "supervisor/tools/hidden_files.h"
#include "supervisor/tools/record_sink.h"
#include "supervisor/tools/work.h"

namespace pa {

struct SearchStart {
  policy::WorkingDirectory directory;
  std::string file;    // the only one to search, in that directory; "" = all
  std::string prefix;  // put before the names that ripgrep prints: `src/`
};

// As FindInRoot (work.h); a null `path` is the root.
std::expected<SearchStart, ToolError> FindPlace(const Work& work, const CallContext& call,
                                                const std::string* path);

// Collects names that end with a NUL, up to kMaxBytes.
class NameSink final : public RecordSink {
 public:
  explicit NameSink(std::string prefix)
      : RecordSink(std::string(1, '\0')), prefix_(std::move(prefix)) {}
  bool Has(const std::string& name) const { return names_.contains(name); }
  bool full() const { return bytes_ > kMaxBytes; }

 private:
  static constexpr std::size_t kMaxBytes = 8U << 20;
  void OnRecord(std::string_view record, std::size_t which) override;

  std::string prefix_;
  std::unordered_set<std::string> names_;
  std::size_t bytes_ = 0;
};

struct RipgrepRun {
  std::optional<ToolError> error;  // a bad pattern is INVALID_ARGUMENT, with ripgrep's message
  std::string decision;            // the rule that allowed it
  bool incomplete = false;         // something could not be read, and is left out
  bool nothing = false;            // nothing was found, and all could be read
};

struct RipgrepOrder {
  std::vector<std::string> options;  // without those that every run has
  bool include_hidden = false;
  bool include_ignored = false;
  // The sink leaves out hidden files, which only an ignore file can have brought in (`!.github`). A
  // glob for that, which ripgrep tries on every file, would take a tenth of a search's time.
  bool sink_drops_hidden = false;
  // What is searched in place of files; ripgrep calls it kStdinName.
  std::shared_ptr<const UniqueFd> text = {};
};

inline constexpr std::string_view kStdinName = "<stdin>";

// A search that is restricted by a glob (supervisor/tools/glob_plan.h).
struct GlobbedSearch {
  std::optional<SearchStart> place;  // nothing: there is no such directory, so nothing to find
  RipgrepOrder order;
  std::unique_ptr<NameSink> among;  // the names that may be found; null = all
  std::optional<ToolError> error;
};
// `order`: the search without the glob.
Task<GlobbedSearch> ApplyGlob(const Work& work, const SearchStart& place, const GlobPlan& glob,
                              RipgrepOrder order, CallContext& call);

Task<RipgrepRun> RunRipgrep(const Work& work, const SearchStart& place, RipgrepOrder order,
                            RecordSink& sink, CallContext& call);

// If there is no directory to search, nothing is found; but the policy must allow the search all
// the same.
Task<RipgrepRun> RunGlobbed(const Work& work, GlobbedSearch search, RecordSink& sink,
                            CallContext& call);
// Warns of what of the project is missing in a result.
void WarnOfGaps(const RipgrepRun& run, const RecordSink& sink, const HiddenFiles& hidden,
                ToolResult& result);

}  // namespace pa
