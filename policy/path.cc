#include "policy/path.h"

#include <climits>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "base/try.h"

namespace pa::policy {
namespace {

std::expected<std::string, std::string> ExpandVariables(std::string_view written,
                                                        const PathContext& context) {
  std::string out;
  while (true) {
    const std::size_t dollar = written.find('$');
    out += written.substr(0, dollar);
    if (dollar == std::string_view::npos) return out;
    written.remove_prefix(dollar + 1);
    const std::size_t end = written.find('}');
    if (!written.starts_with('{') || end == std::string_view::npos) {
      return std::unexpected("'$' is only understood in ${NAME}");
    }
    const std::string name(written.substr(1, end - 1));
    const auto value = context.variables.find(name);
    // An empty one would turn ${PROJECTS}/x into /x.
    if (value == context.variables.end() || value->second.empty()) {
      return std::unexpected("the variable ${" + name + "} is not set");
    }
    out += value->second;
    written.remove_prefix(end + 1);
  }
}

// What stands for `~` at the start of `written`, which loses it; "" when there is none.
std::expected<std::string, std::string> TakeHome(std::string_view& written,
                                                 const PathContext& context) {
  if (!written.starts_with('~')) return "";
  if (written.size() > 1 && written[1] != '/') {
    return std::unexpected("'~' stands for your own home only; write other homes out");
  }
  if (!context.home.starts_with('/')) return std::unexpected("the home that '~' means is unknown");
  written.remove_prefix(1);
  return context.home;
}

}  // namespace

std::expected<std::string, std::string> SpellOut(std::string_view written,
                                                 const PathContext& context) {
  PA_TRY(const std::string home, TakeHome(written, context));
  PA_TRY(std::string path, ExpandVariables(written, context));
  path.insert(0, home);
  if (path.contains('\0')) return std::unexpected("a path cannot hold a NUL character");
  if (!path.starts_with('/')) return std::unexpected("must be an absolute path, or begin with ~/");
  for (const auto& component : std::filesystem::path(path)) {
    // What `..` means depends on symlinks; nobody should have to think about it in a policy.
    if (component == "..") return std::unexpected("must not contain '..'");
  }
  return path;
}

std::expected<std::string, std::string> ExpandPath(std::string_view written,
                                                   const PathContext& context) {
  std::expected<std::string, std::string> path = SpellOut(written, context);
  if (path) *path = ResolvePath(*path);
  return path;
}

std::string ResolvePath(const std::string& path) {
  std::filesystem::path existing = std::filesystem::path(path).lexically_normal();
  std::filesystem::path rest;
  while (true) {
    const std::unique_ptr<char, decltype(&std::free)> real(realpath(existing.c_str(), nullptr),
                                                           &std::free);
    if (real != nullptr) {
      const std::filesystem::path resolved =
          rest.empty() ? std::filesystem::path(real.get()) : real.get() / rest;
      return resolved.string();
    }
    if (existing == existing.root_path()) return path;
    if (existing.has_filename()) {
      rest = rest.empty() ? existing.filename() : existing.filename() / rest;
    }
    existing = existing.parent_path();
  }
}

bool IsDirectory(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

bool IsBeneath(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) &&
         (path.size() == directory.size() || path[directory.size()] == '/');
}

std::string RelativeTo(std::string_view directory, std::string_view path) {
  if (directory.empty() || path.empty() || !IsBeneath(path, directory)) return "";
  const std::size_t above = directory.ends_with('/') ? directory.size() : directory.size() + 1;
  return path.size() <= above ? "." : std::string(path.substr(above));
}

}  // namespace pa::policy
