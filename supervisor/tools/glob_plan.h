// GlobPlan: a client's glob as what ripgrep can be told.
//
//   const GlobPlan plan = PlanGlob("src/**/*.{cc,h}");   // within src, files *.{cc,h}
//
// ripgrep's --glob is no filter: what it names is searched although an ignore file excludes it or
// its name is hidden. A type (--type-add) is one, but of the last component alone. So what comes
// before is entered where it is plain; where it is not, --glob has to say which of the files that
// are found match.
#pragma once

#include <string>
#include <string_view>

namespace pa {

struct GlobPlan {
  std::string directory;  // to look in, relative; "" = here
  std::string name;       // of files: a glob of one component, never empty
  bool shallow = false;   // files of that directory alone
  std::string exact;      // what has to match besides, from here, by --glob; "" = nothing
  bool hidden = false;    // it names what is hidden
};

// `pattern`: as in .gitignore, not empty.
GlobPlan PlanGlob(std::string_view pattern);

// `name` as a glob that matches it alone.
std::string EscapeGlob(std::string_view name);

}  // namespace pa
