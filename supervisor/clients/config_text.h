// What the readers and writers of other programs' configuration share. The formats are in
// json_config.h and toml_config.h.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/text_patch.h"
#include "base/text_place.h"

namespace pa {

// Our entry among a client's servers.
struct ServerEntry {
  std::string section;  // the servers' object or table: `mcpServers`
  std::string name;     // of the entry in it
  // What the client starts; or `url`.
  std::string command;
  std::vector<std::string> args;
  bool with_type = false;    // a new entry says that it is `stdio`, or `http`
  int tool_timeout_sec = 0;  // of a new entry; 0: the client's own
  // Where the client finds a server that listens, and in JSON the header by which it is known, in
  // TOML the variable of the environment that has the token.
  std::string url = {};
  std::string url_key = "url";
  std::string authorization = {};
};

// What is wrong with the text, and at which byte.
struct TextProblem {
  std::size_t at = 0;
  std::string message;
};

}  // namespace pa
