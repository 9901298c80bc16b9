// Clients: for each MCP client, where its configuration is, in which format, and what its entry for
// this server must say.
//
//    const Client* client = FindClient("codex");
//    std::string file = ConfigFile(*client, {.project = "/srv/p", .config_home = ..., ...});
//
// To add a client: its line in the table of client_config.cc, its rows in README and
// docs/clients.md, its case in tests/integration/init_test.cc.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/clients/config_text.h"
#include "supervisor/clients/toml_config.h"

namespace pa {

struct Client {
  enum class Base { kProject, kConfigHome, kCodexHome };
  enum class Format { kJson, kJsonWithComments, kJsonWithCommentsAndCommas, kToml };
  enum class Root {
    kItsOwn,           // the client starts servers in the project
    kWorkspaceFolder,  // the client replaces a word by the project
    kWritten,
  };
  std::string_view name;   // on our command line
  std::string_view title;  // as people know it
  Base base = Base::kProject;
  std::string_view file;  // relative to the place
  Format format = Format::kJson;
  std::string_view section;  // of the file: the one that holds the servers
  Root root = Root::kWritten;
  bool with_type = false;    // an entry says "type": "stdio"
  bool variables = false;    // the client replaces $NAME or ${NAME} in an entry
  int tool_timeout_sec = 0;  // for builds, if the client's is short and can be set
  std::string_view next;     // what to do next; {} stands for the project
  // Of an entry for a server that listens; "" = the client only starts programs.
  std::string_view url_key = {};
  bool url_with_type = false;  // it says "type": "http"
  // In JSON the value of the header, with the client's word for a variable of the environment; in
  // TOML the name of the variable.
  std::string_view authorization = {};
  std::string_view bypass;  // the client's unconfined tools, and how to switch them off

  // What of the client's own settings switches those tools off.
  struct OwnTools {
    std::string_view file = {};  // relative to the place; "" = nothing, and `rest` says why
    std::string_view section = {}, key = {};  // of JSON: a list that then holds `names`
    std::span<const std::string_view> names = {};
    std::span<const TomlSetting> settings = {};
    std::string_view rest = {};  // what that leaves open
  } own_tools = {};
};

std::span<const Client> Clients();
const Client* FindClient(std::string_view name);  // null: there is none

struct ConfigBases {
  std::string project;      // absolute
  std::string config_home;  // $XDG_CONFIG_HOME, or its default
  std::string codex_home;
};
const std::string& BaseOf(const Client& client, const ConfigBases& bases);
std::string ConfigFile(const Client& client, const ConfigBases& bases);

// `text` with the entry in it; pass "" for a new file. A byte order mark stays.
std::expected<std::string, TextProblem> MergeInto(std::string_view text, const Client& client,
                                                  const ServerEntry& entry);

// What switches the client's own tools off, by name, such as `Bash` or `features.shell_tool`: all
// that there is, and what of it `text` has.
std::vector<std::string> SwitchesOf(const Client& client);
std::vector<std::string> SwitchesIn(std::string_view text, const Client& client);
// `text` with them, or without. Some that are there already stay as they are.
std::expected<std::string, TextProblem> WithSwitches(std::string_view text, const Client& client,
                                                     const std::vector<std::string>& switches);
std::expected<std::string, TextProblem> WithoutSwitches(std::string_view text, const Client& client,
                                                        const std::vector<std::string>& switches);

// `text` without the entry `name`.
std::expected<std::string, TextProblem> WithoutEntry(std::string_view text, const Client& client,
                                                     std::string_view name);

// Whether the entry `name` sends the token of a server that listens, as MergeInto has it.
bool SendsOurToken(std::string_view text, const Client& client, std::string_view name);

// The arguments of the entry `name` that `text` has. Nothing: it has none that could be read.
std::optional<std::vector<std::string>> ArgsIn(std::string_view text, const Client& client,
                                               std::string_view name);

}  // namespace pa
