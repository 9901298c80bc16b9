#include "policy/caches.h"

#include <algorithm>
#include <climits>
#include <utility>

#include "policy/path.h"

namespace pa::policy {
namespace {

using sandbox::Access;
using sandbox::PathGrant;

constexpr std::string_view kPlaceholder = "${PROJECT_CACHE}";
// What is not known when the policy loads.
constexpr std::string_view kLater[] = {kPlaceholder, kPrivateTmp};

// No letter of it means anything to a shell, to make or in a URL: it becomes part of paths
// everywhere.
bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-';
}

// Readable, and the path can be read back from it: a hash that an agent can make collide, by naming
// directories, would give it the cache of another project.
std::string NameOf(std::string_view directory) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string name;
  if (directory.starts_with('/')) directory.remove_prefix(1);
  for (const char c : directory) {
    if (c == '/') {
      name += '+';
    } else if (IsPlain(c)) {
      name += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      name += {'~', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return name;
}

// A path for what is no name any more (NAME_MAX): parts of it, each but the last with an end that
// no name has, each but the first with a begin that makes no `..` of it.
std::string InParts(std::string name) {
  constexpr std::size_t kPart = 240;
  constexpr std::string_view kGoesOn = "~+/+";
  for (std::size_t at = kPart; at < name.size(); at += kPart + kGoesOn.size()) {
    name.insert(at, kGoesOn);
  }
  return name;
}

bool Opens(const std::vector<PathGrant>& granted, const std::string& place, Access access) {
  const std::string resolved = ResolvePath(place);
  return std::ranges::any_of(granted, [&](const PathGrant& grant) {
    return sandbox::Has(grant.access, access) &&
           (IsBeneath(grant.path, resolved) || IsBeneath(resolved, grant.path));
  });
}

class Compiler {
 public:
  Compiler(const Variables& values, const std::vector<PathGrant>& granted,
           std::vector<Diagnostic>& diagnostics)
      : values_(values), granted_(granted), diagnostics_(diagnostics) {}

  void Add(const Profile& profile) {
    for (const auto& [name, value] : profile.set) {
      if (IsTheirs(profile.unless_granted, name, Access::kRead) ||
          IsTheirs(profile.unless_writable, name, Access::kWrite)) {
        continue;
      }
      caches_.variables[name] = Replaced(profile, value);
    }
    for (const std::string& path : profile.write) {
      // One directory holds them all, so that it is one rule and one mount.
      if (path != kPlaceholder) Complain(profile, "only " + std::string(kPlaceholder));
    }
    if (!profile.write.empty()) caches_.profiles.push_back(profile.name);
  }

  Caches Take() && { return std::move(caches_); }

 private:
  bool IsTheirs(const Variables& places, const std::string& name, Access access) const {
    const auto place = places.find(name);
    return place != places.end() &&
           Opens(granted_, ReplaceVariables(place->second, values_), access);
  }

  std::string Replaced(const Profile& profile, const std::string& value) {
    std::string text = ReplaceVariables(value, values_);
    for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 1)) {
      const std::string_view rest = std::string_view(text).substr(at);
      const auto is_known = [&](std::string_view later) { return rest.starts_with(later); };
      if (std::ranges::none_of(kLater, is_known)) Complain(profile, text);
    }
    return text;
  }

  // The profiles are ours, so this is for who writes one.
  void Complain(const Profile& profile, const std::string& what) {
    diagnostics_.emplace_back(SourceLocation{profile.name + ".yaml"}, "not understood: " + what);
  }

  const Variables& values_;
  const std::vector<PathGrant>& granted_;
  std::vector<Diagnostic>& diagnostics_;
  Caches caches_;
};

}  // namespace

Caches CompileCaches(const std::string& base, const Variables& values,
                     const std::vector<PathGrant>& granted, std::vector<Diagnostic>& diagnostics) {
  Compiler compiler(values, granted, diagnostics);
  for (const ProfileText& text : ShippedProfiles()) {
    if (auto profile = ParseProfile(text)) {
      compiler.Add(*profile);
    } else {
      diagnostics.push_back(std::move(profile.error()));
    }
  }
  Caches caches = std::move(compiler).Take();
  caches.base = base;
  return caches;
}

std::string CacheDirectory(const Caches& caches, const std::string& directory) {
  if (caches.base.empty() || !directory.starts_with('/')) return "";
  std::string path = caches.base + '/' + InParts(NameOf(directory));
  // Of what could not be named to the kernel, with what lies in it, nothing is granted.
  constexpr std::size_t kRoom = 512;
  return path.size() + kRoom > PATH_MAX ? "" : path;
}

std::optional<PathGrant> CacheGrant(const Caches& caches, const std::string& directory,
                                    Access access) {
  std::string path = CacheDirectory(caches, directory);
  if (path.empty()) return std::nullopt;
  std::string reason = "toolchains: cache of this project, profiles";
  for (const std::string& name : caches.profiles) reason += ' ' + name;
  return PathGrant{std::move(path), access, std::move(reason), sandbox::Symlinks::kRefuse};
}

void AddCacheVariables(const Caches& caches, const std::string& directory, Variables& environment) {
  const std::string path = CacheDirectory(caches, directory);
  if (path.empty()) return;
  const Variables values{{"PROJECT_CACHE", path}};
  for (const auto& [name, value] : caches.variables) {
    if (!environment.contains(name)) environment.emplace(name, ReplaceVariables(value, values));
  }
}

}  // namespace pa::policy
