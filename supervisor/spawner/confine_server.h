// ConfineServer: the server gives up what it does not need once it has started. It executes
// nothing, makes no process, and opens no files but its own; whatever works for it the spawner
// starts (docs/adr/0061). For good, for this process and each thread of it.
//
//    Result<void> confined = ConfineServer({.read = {...}, .write = {state, log}, .list = {home}});
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pa {

// Paths, of which those that are not there are left out. What takes the place of a file later is
// not reached; what is made in a directory is.
struct ServerReach {
  std::vector<std::string> read;
  std::vector<std::string> write;  // and read
  std::vector<std::string> list;   // the names in it and beneath
  std::string base;                // beneath which it removes empty directories
  bool ports = false;              // it listens on 127.0.0.1 for jobs
};

// Where Landlock cannot do it (before Linux 5.19 nobody in a domain moves a file to another
// directory), files are as before; whether they are is returned. An error: it is not confined, or
// in part; EBUSY: there are threads already, which would not be, or a ring (sandbox/rings.h).
Result<bool> ConfineServer(const ServerReach& reach);

// What a process that has confined itself so can do, observed: for doctor. In a process of its own;
// no thread may run, and there is no event loop, which could have a ring. `ports`: as in
// ServerReach.
struct ServerTrial {
  std::string error;          // why it is not known; "": it is
  bool opens_others = true;   // it opened a file that was not granted
  bool makes_process = true;  // it made one
  bool makes_socket = true;   // it made one of the Internet
};
ServerTrial TryConfinement(bool ports);

}  // namespace pa
