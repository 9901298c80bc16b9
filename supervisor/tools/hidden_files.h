// HiddenFiles: those that a rule by path keeps from a tool that comes upon many files at once.
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
  std::uint64_t hidden() const { return hidden_; }

 private:
  policy::PolicyPtr policy_;
  std::string tool_;
  std::string root_;
  bool any_ = false;
  std::uint64_t hidden_ = 0;
};

}  // namespace pa
