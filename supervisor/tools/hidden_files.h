// HiddenFiles: those that a rule by path keeps from a tool that comes upon many files at once.
// Nobody is asked about each of them: what a rule asks about is hidden, unless the user has
// approved the directory that was named.
//
//   HiddenFiles hidden(*work, call);
//   if (hidden.Hides("src/secret")) return;  // nobody is told what
#pragma once

#include <cstdint>
#include <string>

#include "supervisor/tools/work.h"

namespace pa {

class HiddenFiles {
 public:
  HiddenFiles(const Work& work, const CallContext& call);
  bool Hides(const std::string& name);  // as results name it; to be asked once for each file
  bool any() const { return any_; }     // rules by path
  const policy::Rule* rule() const { return rule_; }  // that hid the last one; null: none did
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
