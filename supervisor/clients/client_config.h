// Clients: where each keeps which servers it starts, in which form, and what it needs to be told.
//
//   const Client* client = FindClient("codex");
//   std::string file = ConfigFile(*client, {.project = "/srv/p", .home = "/home/me", ...});
//
// To add a client: its line in the table of client_config.cc, its rows in README and
// docs/clients.md, its case in tests/integration/init_test.cc.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "supervisor/clients/config_text.h"

namespace pa {

struct Client {
  enum class Place { kProject, kConfigHome, kCodexHome };
  enum class Format { kJson, kJsonWithComments, kJsonWithCommentsAndCommas, kToml };
  enum class Root {
    kItsOwn,           // it starts servers in the project
    kWorkspaceFolder,  // it puts the project in the place of a word
    kWritten,
  };
  std::string_view name;   // on our command line
  std::string_view title;  // as people know it
  Place place = Place::kProject;
  std::string_view file;  // beneath the place
  Format format = Format::kJson;
  std::string_view section;  // of the file, in which servers stand
  Root root = Root::kWritten;
  bool with_type = false;    // an entry says "type": "stdio"
  bool variables = false;    // it replaces $NAME or ${NAME} in an entry
  int tool_timeout_sec = 0;  // for builds, where its own is short and can be set
  std::string_view next;     // what to do then, with {} for the project
  std::string_view bypass;   // its own tools, unconfined, and how to switch them off
};

std::span<const Client> Clients();
const Client* FindClient(std::string_view name);  // null: there is none

struct Places {
  std::string project;      // absolute
  std::string config_home;  // $XDG_CONFIG_HOME, or what stands for it
  std::string codex_home;
};
const std::string& BaseOf(const Client& client, const Places& places);
std::string ConfigFile(const Client& client, const Places& places);

// `text` with the entry in it; "" is what a new file holds. A byte order mark stays.
std::expected<std::string, TextProblem> MergeInto(std::string_view text, const Client& client,
                                                  const ServerEntry& entry);

}  // namespace pa
