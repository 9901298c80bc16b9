// What a protection of paths (policy/protected_paths.h) comes from, and why there is none.
#pragma once

#include <utility>

#include "base/error.h"

namespace pa::policy {

enum class ProtectionSource { kBuiltIn, kPolicy };  // kPolicy: filesystem.protect

// Why it is not known what a command must leave as it is, or why that cannot be kept; then it must
// not run.
struct ProtectionFailure : Error {
  enum class Kind {
    kUnreadable,
    kWithin,  // the working directory lies in what commands must leave as it is: in what, and why,
              // says the subject
    kOwed,    // an earlier command's change cannot be put back
  };
  // NOLINTNEXTLINE(google-explicit-constructor): nearly all of them are about what cannot be read.
  ProtectionFailure(Error error, Kind what = Kind::kUnreadable)
      : Error(std::move(error)), kind(what) {}
  Kind kind;
};

}  // namespace pa::policy
