// MakeDatabase: what `make -p` prints, read as it arrives: which targets make itself calls .PHONY.
//
//   MakeDatabase database;
//   database.Feed(bytes);   // any number of times
//   database.Finish();
//   if (!database.too_large()) use(database.Phony());
//
// The output is as long as the project's Makefile makes it, so only what is looked for is kept, and
// of that no more than the limits below. The last `.PHONY:` line counts: $(info) prints before the
// database, and variables come before files in it. make writes no quotes: a target `a b` looks like
// two in that line, so a name counts only if its own entry carries make's mark as well:
//
//   a b:
//   #  Phony target (prerequisite of .PHONY).
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

// The names that tools offer: whatever they stand in, they are neither an option nor an assignment
// once behind `--`, and need no quoting.
bool IsOfferedTargetName(std::string_view name);

class MakeDatabase {
 public:
  static constexpr std::size_t kMaxLine = 1u << 20;
  static constexpr std::size_t kMaxTargets = 10'000;

  void Feed(std::string_view bytes);
  void Finish();

  struct Targets {
    std::vector<std::string> offered;  // in the order in which the Makefile declares them
    std::vector<std::string> refused;  // by their name
  };
  Targets Phony() const;

  // The files that make read, as MAKEFILE_LIST has them at the end.
  std::vector<std::string> Makefiles() const;

  // More or longer than the limits: what was kept is not all.
  bool too_large() const { return too_large_; }

 private:
  void OnLine(std::string_view line);
  void Append(std::string_view part);

  std::string line_;   // begun, not ended; at most kMaxLine
  bool cut_ = false;   // the line is longer than what line_ holds
  std::string entry_;  // the line that began the present entry
  std::string phony_;
  std::string makefile_list_;
  std::set<std::string, std::less<>> marked_;
  bool too_large_ = false;
};

}  // namespace pa
