// GlobPlan: translates a client's glob into what ripgrep can be told. ripgrep.h carries it out
// (ApplyGlob).
//
//    const GlobPlan plan = PlanGlob("src/**/*.{cc,h}");   // within src, files *.{cc,h}
//
// ripgrep's --glob is not a filter: files that it names are searched even if an ignore file
// excludes them or their name is hidden. A type (--type-add) is a filter, but only for the last
// component. So ripgrep starts in the directory that the leading plain components name. If that
// does not express the glob, a separate run with --glob finds out which files match.
#pragma once

#include <string>
#include <string_view>

namespace pa {

struct GlobPlan {
  std::string directory;  // the one to search, relative; "" = here
  std::string name;       // of files: a glob of one component, never empty
  bool shallow = false;   // only files directly in that directory
  std::string exact;      // a glob, from here, that must match, too (--glob); "" = none
  bool hidden = false;    // it names hidden files
};

// `pattern`: as in .gitignore, not empty.
GlobPlan PlanGlob(std::string_view pattern);

// `name` as a glob that matches only this name.
std::string EscapeGlob(std::string_view name);

}  // namespace pa
