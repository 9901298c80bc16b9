#include "supervisor/tools/empty_search.h"

#include <fmt/format.h>

#include <algorithm>

#include "supervisor/text/visible_text.h"

namespace pa {
namespace {

bool HasComponent(std::string_view glob, std::string_view component) {
  while (!glob.empty()) {
    const std::size_t end = std::min(glob.find('/'), glob.size());
    if (glob.substr(0, end) == component) return true;
    glob.remove_prefix(std::min(end + 1, glob.size()));
  }
  return false;
}

std::string WhyRooted(const std::string& searched, std::string_view glob) {
  std::string why = fmt::format(
      "a / at the beginning of a glob is the directory that is searched, {}, and not the top of "
      "the file system",
      VisibleText(searched));
  if (!glob.starts_with(searched + "/")) return why;
  return why + fmt::format(": pass `{}`", VisibleText(glob.substr(searched.size())));
}

// The name that a glob is, if it is no more than a name; else "".
std::string_view PlainName(std::string_view glob) {
  if (glob.find_first_of("\\*?[]{}!") != std::string_view::npos) return {};
  if (HasComponent(glob, "..") || HasComponent(glob, ".")) return {};
  while (glob.ends_with('/')) glob.remove_suffix(1);
  while (glob.starts_with('/')) glob.remove_prefix(1);
  return glob;
}

std::string WhyDirectory(std::string_view glob, std::string_view directory) {
  return fmt::format("`{}` names a directory, and a glob matches files: for its files pass `{}/**`",
                     VisibleText(glob), VisibleText(directory));
}

// The first directory of a name that holds a file.
class DirectorySink final : public RecordSink {
 public:
  DirectorySink(std::string_view name, std::string prefix, HiddenFiles hidden)
      : RecordSink(std::string(1, '\0')),
        wanted_("/" + std::string(name) + "/"),
        prefix_(std::move(prefix)),
        hidden_(std::move(hidden)) {}
  const std::string& found() const { return found_; }

 private:
  void OnRecord(std::string_view record, std::size_t /*which*/) override {
    if (!found_.empty()) return;
    const std::string rooted = "/" + std::string(record);
    const std::size_t at = rooted.find(wanted_);
    if (at == std::string::npos || hidden_.Hides(prefix_ + std::string(record))) return;
    found_ = rooted.substr(1, at + wanted_.size() - 2);
  }
  std::string wanted_;
  std::string prefix_;
  HiddenFiles hidden_;
  std::string found_;
};

}  // namespace

std::vector<std::string> WhyNothing(const Work& work, const SearchStart& place,
                                    std::string_view glob, const CallContext& call) {
  std::vector<std::string> why;
  if (glob.starts_with('/')) why.push_back(WhyRooted(place.directory.path(), glob));
  if (HasComponent(glob, "..")) {
    why.emplace_back(
        "a glob cannot lead upwards, so `..` in it matches nothing: pass the directory to search "
        "as path");
  } else if (HasComponent(glob, ".")) {
    why.emplace_back("`.` as a part of a glob matches nothing: leave ./ out");
  }
  const std::string_view name = PlainName(glob);
  if (name.empty() || !place.file.empty()) return why;
  const Result<policy::FoundBeneath> found =
      policy::FindBeneath(place.directory, std::string(name));
  const bool is_directory = found && found->name.empty();
  if (is_directory && !HiddenFiles(work, call).Hides(place.prefix + std::string(name))) {
    why.push_back(WhyDirectory(glob, name));
  }
  return why;
}

Task<std::string> DirectoryBelow(const Work& work, const SearchStart& place, std::string glob,
                                 RipgrepOrder order, CallContext& call) {
  const std::string_view name = PlainName(glob);
  // With a / it would have to be here.
  if (name.empty() || glob.find('/') < glob.size() - 1) co_return "";
  order.options = {"--files", "--null"};
  DirectorySink sink(name, place.prefix, HiddenFiles(work, call));
  Task<RipgrepRun> task = RunRipgrep(work, place, std::move(order), sink, call);
  co_await task;
  co_return sink.found().empty() ? "" : WhyDirectory(glob, sink.found());
}

}  // namespace pa
