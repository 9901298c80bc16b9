#include "policy/layers.h"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/file.h"
#include "base/units.h"
#include "base/words.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "policy/yaml.h"

namespace pa::policy {
namespace {

std::vector<std::string> SplitCommas(std::string_view text) {
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    std::string_view item = text.substr(0, end);
    while (item.starts_with(' ')) item.remove_prefix(1);
    while (item.ends_with(' ')) item.remove_suffix(1);
    if (!item.empty()) items.emplace_back(item);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return items;
}

class LayerReader {
 public:
  LayerReader(const PolicySources& sources, std::vector<std::string>& files,
              std::vector<Located<std::string>>& written, std::vector<Diagnostic>& diagnostics)
      : sources_(sources),
        context_{sources.home, sources.variables},
        files_(files),
        written_(written),
        diagnostics_(diagnostics) {}

  std::optional<PolicyFragment> File(const std::string& path, bool must_exist);
  std::optional<PolicyFragment> Text(const std::string& path, std::string_view text);
  std::optional<PolicyFragment> Roots();
  std::optional<PolicyFragment> Enable(const std::string& source,
                                       const std::vector<std::string>& lists);
  std::optional<PolicyFragment> CommitSize(const std::string& text);
  PolicyFragment Defaults();
  void RequireRoots(const PolicyFragment& fragment);

 private:
  void ExpandPaths(PolicyFragment& fragment);
  void Expand(Located<std::string>& item, bool as_written = false);

  const PolicySources& sources_;
  const PathContext context_;
  std::vector<std::string>& files_;
  std::vector<Located<std::string>>& written_;
  std::vector<Diagnostic>& diagnostics_;
};

std::optional<PolicyFragment> LayerReader::File(const std::string& path, bool must_exist) {
  const Result<std::string> text = ReadFile(path, kMaxYamlBytes);
  if (!text) {
    const int code = text.error().sys_errno;
    if (!must_exist && (code == ENOENT || code == ENOTDIR)) return std::nullopt;
    // Also when it exists and cannot be read: what it forbids would not hold.
    diagnostics_.emplace_back(SourceLocation{path},
                              std::string("the policy cannot be read: ") + std::strerror(code));
    return std::nullopt;
  }
  return Text(path, *text);
}

std::optional<PolicyFragment> LayerReader::Text(const std::string& path, std::string_view text) {
  files_.push_back(path);
  std::optional<PolicyFragment> fragment =
      ParsePolicyText(text, path, sources_.known_tools, diagnostics_);
  if (fragment) ExpandPaths(*fragment);
  return fragment;
}

void LayerReader::ExpandPaths(PolicyFragment& fragment) {
  for (const Key& key : PolicyKeys()) {
    if (key.type == Type::kPath || key.type == Type::kFile) {
      auto& path =
          fragment.*std::get<std::optional<Located<std::string>> PolicyFragment::*>(key.field);
      if (path && !path->value.empty()) Expand(*path, key.type == Type::kFile);
    }
    if (key.type != Type::kPaths) continue;
    auto& list = fragment.*std::get<std::optional<Located<Strings>> PolicyFragment::*>(key.field);
    if (!list) continue;
    for (Located<std::string>& item : list->value) Expand(item);
  }
}

void LayerReader::Expand(Located<std::string>& item, bool as_written) {
  std::expected<std::string, std::string> path = SpellOut(item.value, context_);
  if (path) {
    written_.push_back({*path, item.at});
    item.value = as_written ? *path : ResolvePath(*path);
  } else {
    diagnostics_.emplace_back(item.at, Quoted(item.value) + ": " + path.error());
  }
}

std::optional<PolicyFragment> LayerReader::Roots() {
  if (sources_.roots.empty()) return std::nullopt;
  const SourceLocation at{"--root"};
  PolicyFragment fragment{.source = at.source};
  fragment.roots = {{}, at};
  for (const std::string& root : sources_.roots) {
    std::expected<std::string, std::string> path = root;
    if (root.starts_with('~') || root.starts_with("${")) {
      path = SpellOut(root, context_);  // clients start servers without a shell
    } else if (!root.empty()) {
      path = std::filesystem::path(sources_.current_directory) / root;
    }
    if (path) {
      written_.push_back({*path, at});
      fragment.roots->value.push_back({ResolvePath(*path), at});
    } else {
      diagnostics_.emplace_back(at, Quoted(root) + ": " + path.error());
    }
  }
  RequireRoots(fragment);
  return fragment;
}

// A root that does not exist is a slip of whoever wrote it. (The administrator's list serves many
// users.)
void LayerReader::RequireRoots(const PolicyFragment& fragment) {
  if (!fragment.roots) return;
  if (fragment.roots->value.empty()) {
    diagnostics_.emplace_back(fragment.roots->at, "'roots' names no directory");
  }
  for (const Located<std::string>& root : fragment.roots->value) {
    if (IsDirectory(root.value)) continue;
    diagnostics_.emplace_back(root.at, "the root " + Quoted(root.value) + " is not a directory");
  }
}

std::optional<PolicyFragment> LayerReader::Enable(const std::string& source,
                                                  const std::vector<std::string>& lists) {
  const SourceLocation at{source};
  PolicyFragment fragment{.source = source};
  fragment.tools_enable = {{}, at};
  for (const std::string& list : lists) {
    for (std::string& name : SplitCommas(list)) {
      std::string problem = CheckToolName(name, sources_.known_tools, true);
      if (!problem.empty()) diagnostics_.emplace_back(at, std::move(problem));
      fragment.tools_enable->value.push_back({std::move(name), at});
    }
  }
  if (fragment.tools_enable->value.empty()) return std::nullopt;
  return fragment;
}

std::optional<PolicyFragment> LayerReader::CommitSize(const std::string& text) {
  const SourceLocation at{"PROJECT_ACTIONS_MAX_COMMIT_SIZE"};
  const Key& key = *FindKey("limits.commit_message");
  const bool plain = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const Result<std::uint64_t> bytes = ParseByteSize(plain ? text + "B" : text);
  if (!bytes || *bytes < key.minimum || *bytes > key.maximum) {
    diagnostics_.emplace_back(at, "expected bytes or a size from " + FormatByteSize(key.minimum) +
                                      " to " + FormatByteSize(key.maximum) +
                                      ", such as 32768 or 32KiB, found " + Quoted(text));
    return std::nullopt;
  }
  PolicyFragment fragment{.source = at.source};
  fragment.limits[std::string(key.name)] = {*bytes, at};
  return fragment;
}

PolicyFragment LayerReader::Defaults() {
  PolicyFragment defaults = DefaultFragment();
  const SourceLocation at{std::string(kCurrentDirectorySource)};
  defaults.roots = {{{ResolvePath(sources_.current_directory), at}}, at};
  return defaults;
}

void Add(std::vector<PolicyFragment>& layers, std::optional<PolicyFragment> layer) {
  if (layer) layers.push_back(std::move(*layer));
}

}  // namespace

Layers ReadLayers(const PolicySources& sources, std::vector<std::string>& files,
                  std::vector<Located<std::string>>& written,
                  std::vector<Diagnostic>& diagnostics) {
  LayerReader reader(sources, files, written, diagnostics);
  Layers layers;
  // Strongest first.
  Add(layers.others, reader.Roots());
  Add(layers.others, reader.Enable("--enable", sources.enable));
  if (sources.env_enable) {
    Add(layers.others, reader.Enable("ENABLE_ADDITIONAL_TOOLS", {*sources.env_enable}));
  }
  if (sources.env_commit_size) Add(layers.others, reader.CommitSize(*sources.env_commit_size));
  std::optional<PolicyFragment> user;
  if (sources.user_text) {
    user = reader.Text(sources.user_file.value_or(sources.default_user_file), *sources.user_text);
  } else if (sources.user_file) {
    user = reader.File(*sources.user_file, true);
  } else if (!sources.default_user_file.empty()) {
    user = reader.File(sources.default_user_file, false);
  }
  if (user) reader.RequireRoots(*user);
  Add(layers.others, std::move(user));
  layers.administrator = reader.File(sources.administrator_file, false);
  layers.defaults = reader.Defaults();
  return layers;
}

}  // namespace pa::policy
