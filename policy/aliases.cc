#include "policy/aliases.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "policy/path.h"

namespace pa::policy {
namespace {

std::string WithoutDoubledSlashes(std::string path) {
  const auto doubled =
      std::ranges::unique(path, [](char a, char b) { return a == '/' && b == '/'; });
  path.erase(doubled.begin(), doubled.end());
  return path;
}

bool HasDots(const std::filesystem::path& path) {
  return std::ranges::any_of(path, [](const auto& part) { return part == "." || part == ".."; });
}

}  // namespace

std::vector<Alias> FindAliases(const std::vector<std::string>& names) {
  std::vector<Alias> aliases;
  for (const std::string& given : names) {
    if (!given.starts_with('/') || HasDots(given)) continue;
    std::string name = WithoutDoubledSlashes(given);
    if (name.size() > 1 && name.ends_with('/')) name.pop_back();
    std::string path = ResolvePath(name);
    if (path != name) aliases.push_back({std::move(name), std::move(path)});
  }
  std::ranges::sort(aliases, [](const Alias& a, const Alias& b) {
    return std::pair(b.name.size(), a.name) < std::pair(a.name.size(), b.name);
  });
  return aliases;
}

std::string ByAlias(const std::vector<Alias>& aliases, const std::string& path) {
  if (!path.starts_with('/')) return path;
  std::string plain = WithoutDoubledSlashes(path);
  const auto alias =
      std::ranges::find_if(aliases, [&](const Alias& one) { return IsBeneath(plain, one.name); });
  if (alias == aliases.end()) return plain;
  return WithoutDoubledSlashes(alias->path + plain.substr(alias->name.size()));
}

}  // namespace pa::policy
