// HiddenFiles: which files the policy's rules by path hide from a tool that comes upon many files
// at once. The user is not asked about each of them: a file that a rule asks about is hidden,
// unless the user has approved it or a directory that holds it.
//
//    HiddenFiles hidden(*work, call);
//    if (hidden.Hides("src/secret")) return;  // the result does not name it
#pragma once

#include <cstdint>
#include <string>

#include "supervisor/tools/work.h"

namespace pa {

class HiddenFiles {
 public:
  HiddenFiles(const Work& work, const CallContext& call);
  bool Hides(const std::string& name);  // as results name it; counts, so call it once for each file
  bool any() const { return any_; }     // there are rules by path
  const policy::Rule* rule() const { return rule_; }  // the last that hid a file; null: none
  std::uint64_t hidden() const { return hidden_; }

 private:
  bool IsApproved(const policy::Rule& rule, const std::string& absolute) const;

  policy::PolicyPtr policy_;
  const Approvals& approvals_;
  std::string tool_;
  std::string root_;
  bool any_ = false;
  const policy::Rule* rule_ = nullptr;
  std::uint64_t hidden_ = 0;
};

}  // namespace pa
