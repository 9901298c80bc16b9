// To add a toolchain: one line in kToolchains. Name the parts that hold programs and packages,
// never a directory in which the tool also keeps tokens; say in the comment what had to stay out.
#include "policy/toolchains.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/words.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

struct Toolchain {
  std::string_view home;      // beneath the user's home
  std::string_view variable;  // that moves it elsewhere; may be empty
  std::string_view parts;  // beneath it, separated by blanks. "." for all of it, where no variable
                           // can move it: it would grant whatever directory the variable names
};

constexpr Toolchain kToolchains[] = {
    // Rust. Not credentials.toml.
    {".cargo", "CARGO_HOME", "bin registry git env config config.toml"},
    {".rustup", "RUSTUP_HOME", "toolchains settings.toml update-hashes"},
    // Python. Not ~/.pypirc, ~/.config/pip, ~/.config/pypoetry, ~/.local/share/uv/credentials.
    {".pyenv", "PYENV_ROOT", "bin libexec shims versions plugins pyenv.d version"},
    {".local", "", "bin lib share/pipx share/uv/python share/uv/tools share/virtualenvs"},
    {".conda", "", "envs pkgs"},
    {"miniconda3", "", "."},
    {"miniforge3", "", "."},
    {"anaconda3", "", "."},
    // JavaScript. Not ~/.npmrc, ~/.yarnrc.yml.
    {".nvm", "NVM_DIR", "nvm.sh nvm-exec versions alias"},
    {".volta", "VOLTA_HOME", "bin tools"},
    {".local/share/fnm", "FNM_DIR", "node-versions aliases"},
    {".local/share/pnpm", "", "."},
    {".npm-global", "", "bin lib"},
    {".bun", "BUN_INSTALL", "bin install"},
    {".deno", "DENO_INSTALL", "bin"},
    // Go. Not ~/.config/go/env.
    {"go", "GOPATH", "bin pkg"},
    // Java. Not ~/.m2/settings.xml, settings-security.xml, ~/.gradle/gradle.properties.
    {".sdkman/candidates", "", "."},
    {".m2", "", "repository wrapper"},
    {".gradle", "GRADLE_USER_HOME", "wrapper/dists"},
    // Ruby. Not ~/.gem/credentials, ~/.bundle/config.
    {".rbenv", "RBENV_ROOT", "bin libexec shims versions plugins version"},
    {".rvm", "", "bin rubies gems scripts"},
    {".gem", "", "ruby"},
    {".local/share/gem", "", "ruby"},
    // Haskell, OCaml, Julia, Elixir, Lean, .NET, PHP, Dart. Not ~/.cabal/config, ~/.hex/hex.config,
    // ~/.nuget/NuGet, ~/.composer/auth.json.
    {".ghcup", "", "bin ghc cabal"},
    {".cabal", "", "bin packages store"},
    {".stack", "STACK_ROOT", "programs snapshots pantry"},
    {".opam", "", "."},
    {".juliaup", "", "."},
    {".julia", "", "packages artifacts registries compiled juliaup"},
    {".mix", "", "archives elixir escripts"},
    {".elan", "ELAN_HOME", "bin toolchains settings.toml"},
    {".dotnet", "DOTNET_ROOT", "host sdk shared packs dotnet tools"},
    {".nuget", "", "packages"},
    {".composer", "", "vendor"},
    {".config/composer", "", "vendor"},
    {".pub-cache", "", "bin hosted"},
    // Managers of many languages.
    {".asdf", "ASDF_DATA_DIR", "bin lib libexec asdf.sh installs plugins shims"},
    {".local/share/mise", "MISE_DATA_DIR", "installs shims plugins"},
    {".local/share/rtx", "", "installs shims plugins"},
    {".proto", "PROTO_HOME", "bin shims tools"},
};

// Beneath the home. Directories stand for everything in them.
constexpr std::string_view kSecrets[] = {
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".config/gh",
    ".config/git/credentials",
    ".config/gcloud",
    ".config/pip",
    ".config/containers",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".gem/credentials",
    ".bundle/config",
    ".composer/auth.json",
    ".terraform.d",
    ".vault-token",
    ".local/share/keyrings",
    ".mozilla",
    ".bash_history",
    ".zsh_history",
};

// Where a variable may move a toolchain: not where granting it would grant the home.
bool MayMoveTo(const std::string& directory, const std::string& home) {
  return directory.starts_with('/') && !IsBeneath(ResolvePath(home), ResolvePath(directory));
}

}  // namespace

Toolchains FindToolchains(const std::string& home,
                          const std::map<std::string, std::string>& environment,
                          const std::function<bool(const std::string& path)>& is_led) {
  Toolchains found;
  if (!home.starts_with('/')) return found;
  for (const Toolchain& toolchain : kToolchains) {
    std::string base = home + '/' + std::string(toolchain.home);
    const std::string variable(toolchain.variable);
    const auto moved = environment.find(variable);
    const bool is_moved =
        !variable.empty() && moved != environment.end() && MayMoveTo(moved->second, home);
    if (is_moved) base = moved->second;
    if (!variable.empty()) found.places[variable] = base;
    const std::size_t before = found.grants.size();
    for (std::string_view part : SplitWords(toolchain.parts)) {
      const std::string path = part == "." ? base : base + '/' + std::string(part);
      std::error_code ignored;
      if (!std::filesystem::exists(path, ignored) || is_led(path)) continue;
      found.grants.push_back(
          {ResolvePath(path), sandbox::kReadExecute,
           "toolchain: " + (is_moved ? variable : "~/" + std::string(toolchain.home))});
    }
    if (is_moved && found.grants.size() != before) found.variables.push_back(variable);
  }
  return found;
}

std::vector<std::string> SecretPaths(const std::string& home) {
  std::vector<std::string> paths;
  for (std::string_view secret : kSecrets) paths.push_back(home + '/' + std::string(secret));
  return paths;
}

}  // namespace pa::policy
