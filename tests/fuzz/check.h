// Check: a property that a fuzz target demands; kept in every build, unlike assert.
#pragma once

#include <cstdlib>

namespace pa {

inline void Check(bool holds) {
  if (!holds) std::abort();
}

}  // namespace pa
