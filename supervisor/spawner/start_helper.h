// StartHelper: starts a program of ours within bounds, as a child of our own parent.
//
//    const Started started = StartHelper(Helper::kJanitor, socket, [&] { return bounds; });
#pragma once

#include <sys/types.h>

#include <functional>
#include <optional>

#include "base/error.h"
#include "supervisor/loop/spawner.h"
#include "supervisor/spawner/bounds.h"

namespace pa {

struct Started {
  pid_t pid = -1;  // also of a process that could not be confined, and has ended
  std::optional<Error> error = {};
};

// Blocks until the program is executed, or cannot be. `socket`: borrowed. `bounds` is called in the
// process that becomes the helper.
Started StartHelper(Helper helper, int socket, const std::function<Result<Bounds>()>& bounds);

}  // namespace pa
