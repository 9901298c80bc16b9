// Which of doctor's protections each attempt tests, so that the report can be compared with what
// was observed.
//
// To add an attempt: its name under the protection that stops it, or that does not.
#pragma once

#include <string_view>
#include <vector>

namespace pa::testing {

struct Proof {
  std::string_view protection;  // its name in doctor's report; "": not a protection of the kernel
  std::vector<std::string_view> attempts;
};

const std::vector<Proof>& Proofs();

// Null for an attempt that is not listed.
const Proof* ProofOf(std::string_view attempt);

}  // namespace pa::testing
