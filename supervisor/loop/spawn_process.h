// SpawnProcess: starts a program of ours that we speak with over one socket.
//
//    Result<pid_t> pid = SpawnProcess(path, {"--launch"}, "PATH=/usr/bin:/bin", theirs.get(), 3);
//
// It works in /, so that no file system is kept from being unmounted, and has that socket,
// /dev/null as its input and output, and our stderr, where a wrapper script can say what is wrong.
// Signals are as they are by default, none is blocked. The caller reaps it.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace pa {

// `path`: absolute. `argument`: argv[1]. `variable`: its environment, NAME=VALUE; null: it is
// empty. `socket` becomes the descriptor `as`, which is not one of the first three.
Result<pid_t> SpawnProcess(const std::string& path, const char* argument, const char* variable,
                           int socket, int as);

}  // namespace pa
