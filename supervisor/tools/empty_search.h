// Why a search that found nothing may have been meant otherwise, as far as its glob tells: it is a
// path of the file system, leads out of the directory that is searched, or names a directory.
//
//    std::vector<std::string> why = WhyNothing(*work, *place, glob, call);
//    if (why.empty()) ... DirectoryBelow(*work, *place, glob, order, call)       // one search more
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "supervisor/tools/ripgrep.h"

namespace pa {

// Sentences for the result. `place`: where it was searched.
std::vector<std::string> WhyNothing(const Work& work, const SearchStart& place,
                                    std::string_view glob, const CallContext& call);

// The same if files lie in a directory of that name at any depth, else "". Of `order` only what it
// includes counts.
Task<std::string> DirectoryBelow(const Work& work, const SearchStart& place, std::string glob,
                                 RipgrepOrder order, CallContext& call);

}  // namespace pa
