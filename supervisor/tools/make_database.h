// MakeDatabase: parses the output of `make -p` as it arrives, for the targets that make itself
// calls .PHONY.
//
//    MakeDatabase database;
//    database.Feed(bytes);   // any number of times
//    database.Finish();
//    if (!database.too_large()) use(database.Phony());
//
// The project's Makefile decides how long the output is, so only what is needed is kept, within the
// limits below. The last `.PHONY:` line counts: $(info) prints before the database, and variables
// come before files in it. make does not quote names: a target `a b` looks like two in that line,
// so a name counts only if its own entry has make's mark as well:
//
//    a b:
//    #  Phony target (prerequisite of .PHONY).
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// Whether tools offer a target of this name. Such a name needs no quoting anywhere, and after `--`
// it is neither an option nor an assignment.
bool IsOfferedTargetName(std::string_view name);

class MakeDatabase {
 public:
  static constexpr std::size_t kMaxLine = 1u << 20;
  static constexpr std::size_t kMaxTargets = 10'000;

  void Feed(std::string_view bytes);
  void Finish();

  struct Targets {
    std::vector<std::string> offered;  // in the order in which the Makefile declares them
    std::vector<std::string> refused;  // because of their names
  };
  Targets Phony() const;

  // The files that make read, from the final MAKEFILE_LIST.
  std::vector<std::string> Makefiles() const;

  // A limit was exceeded: the targets are incomplete.
  bool too_large() const { return too_large_; }

 private:
  void OnLine(std::string_view line);
  void Append(std::string_view part);

  std::string line_;   // the unfinished line; at most kMaxLine
  bool cut_ = false;   // the line is longer than what line_ holds
  std::string entry_;  // the first line of the present entry
  std::string phony_;
  std::string makefile_list_;
  std::set<std::string, std::less<>> marked_;
  bool too_large_ = false;
};

}  // namespace pa
