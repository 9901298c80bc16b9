#include "supervisor/tools/git_report.h"

#include <fmt/format.h>

#include <filesystem>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/tools/record_sink.h"
#include "supervisor/tools/render.h"

namespace pa {
namespace {

// The letters of `--name-status` (git-diff(1), --diff-filter).
std::string_view ChangeOf(std::string_view letter) {
  if (letter == "A") return kGitChanges[0];
  if (letter == "D") return kGitChanges[2];
  if (letter == "T") return kGitChanges[3];
  if (letter == "U") return kGitChanges[4];
  return kGitChanges[1];
}

struct GitFile {
  std::string path;
  std::string_view change;
};

// Takes `head` records, then pairs of a letter and a path, as `-z --name-status` prints them.
class ChangeSink final : public RecordSink {
 public:
  explicit ChangeSink(std::size_t head) : RecordSink(std::string(1, '\0')), head_size_(head) {}
  const std::vector<std::string>& head() const { return head_; }
  const std::vector<GitFile>& files() const { return files_; }
  std::uint64_t omitted() const { return omitted_; }

 private:
  void OnRecord(std::string_view record, std::size_t /*which*/) override {
    if (head_.size() < head_size_) {
      head_.emplace_back(record);
    } else if (letter_.empty()) {
      letter_ = record.substr(record.starts_with('\n') ? 1 : 0);
    } else {
      if (files_.size() == kMaxGitFiles) ++omitted_;
      if (files_.size() < kMaxGitFiles) files_.push_back({std::string(record), ChangeOf(letter_)});
      letter_.clear();
    }
  }

  std::size_t head_size_;
  std::vector<std::string> head_;
  std::string letter_;
  std::vector<GitFile> files_;
  std::uint64_t omitted_ = 0;
};

// git names paths from the top of its working tree.
std::string ShownPath(const Work& work, const GitReader& git, const std::string& path) {
  const std::filesystem::path whole = std::filesystem::path(git.top_level) / path;
  return whole.lexically_relative(work.directory.path()).string();
}

// Writes the list under `name`, and returns it for people.
std::string WriteFiles(JsonWriter& w, std::string_view name, const ChangeSink& sink,
                       const Work& work, const GitReader& git) {
  std::string text;
  w.Key(name).BeginArray();
  for (const GitFile& file : sink.files()) {
    const std::string path = ShownPath(work, git, file.path);
    w.BeginObject().Field("path", path).Field("change", file.change).EndObject();
    text += fmt::format("{} {}\n", file.change, RepairUtf8(path, true));
  }
  w.EndArray();
  if (sink.omitted() == 0) return text;
  w.Field(std::string(name) + "_omitted", sink.omitted());
  return text + fmt::format("... and {} more\n", sink.omitted());
}

std::string CountOf(const ChangeSink& sink) {
  return Count(sink.files().size() + sink.omitted(), "file");
}

void Add(ToolResult& result, JsonWriter members, const ChangeSink& sink, const std::string& text) {
  result.truncated = result.truncated || sink.omitted() > 0;
  AddData(result, std::move(members.EndObject()).Take());
  if (!result.text.ends_with('\n')) result.text += '\n';
  result.text += text;
}

// Renames are a file deleted and another added: each path is one that can be passed on.
constexpr std::string_view kListing[] = {"-z", "--name-status", "--no-renames", "--no-ext-diff"};

GitReading Listing(const Work& work, const GitReader& git, std::vector<std::string> argv) {
  GitReading reading{.argv = {"git", "-c", "core.fsmonitor=false", "-c", "log.showRoot=true"},
                     .more = {{"GIT_CONFIG_GLOBAL", "/dev/null"}},
                     .grants = RepositoryGrants(work, git)};
  reading.argv.insert(reading.argv.end(), argv.begin(), argv.end());
  reading.argv.insert(reading.argv.end(), std::begin(kListing), std::end(kListing));
  return reading;
}

// The branch in `HEAD -> main, other` (git-log(1), %D); "": HEAD is detached.
std::string BranchIn(std::string_view decoration) {
  constexpr std::string_view kHead = "HEAD -> ";
  const std::size_t at = decoration.find(kHead);
  if (at == std::string_view::npos) return "";
  decoration.remove_prefix(at + kHead.size());
  return std::string(decoration.substr(0, decoration.find(", ")));
}

}  // namespace

Task<ToolResult> TellStaged(const Work& work, const GitReader& git, ToolResult result,
                            CallContext& call) {
  ChangeSink sink(0);
  Task<Execution> task =
      RunGitReader(work, git, Listing(work, git, {"diff", "--cached"}), sink, call);
  const Execution run = co_await task;
  if (auto error = ErrorOfGitReader("git diff", run, sink.complaints())) {
    Warn(result, "what is staged is not known: " + error->message);
    co_return result;
  }
  JsonWriter w;
  w.BeginObject();
  const std::string files = WriteFiles(w, "staged", sink, work, git);
  Add(result, std::move(w), sink,
      sink.files().empty()
          ? "nothing is staged: all is as in the last commit\n"
          : fmt::format("staged for the next commit: {}\n{}", CountOf(sink), files));
  co_return result;
}

Task<ToolResult> TellCommit(const Work& work, const GitReader& git, ToolResult result,
                            CallContext& call) {
  ChangeSink sink(2);
  GitReading reading =
      Listing(work, git,
              {"log", "-1", "--format=%H%x00%D", "--decorate-refs=HEAD",
               "--decorate-refs=refs/heads/", "--no-show-signature", "-m", "--first-parent"});
  Task<Execution> task = RunGitReader(work, git, std::move(reading), sink, call);
  const Execution run = co_await task;
  const auto error = ErrorOfGitReader("git log", run, sink.complaints());
  if (error || sink.head().size() < 2) {
    Warn(result, "the commit is made, but which one is not known: " +
                     (error ? error->message : std::string("git log said nothing")));
    co_return result;
  }
  const std::string& hash = sink.head()[0];
  const std::string branch = BranchIn(sink.head()[1]);
  JsonWriter w;
  w.BeginObject().Field("hash", hash);
  if (!branch.empty()) w.Field("branch", branch);
  const std::string files = WriteFiles(w, "files", sink, work, git);
  Add(result, std::move(w), sink,
      fmt::format("commit {} {}: {}\n{}", hash,
                  branch.empty() ? "with HEAD detached" : "on " + RepairUtf8(branch, true),
                  CountOf(sink), files));
  co_return result;
}

}  // namespace pa
