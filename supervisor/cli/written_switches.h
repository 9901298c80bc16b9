// WrittenSwitches: what `init --exclusive` has added to which settings of a client, so that
// `--remove` takes away that and nothing of the user's own. Kept in the state directory.
//
//    Result<std::vector<std::string>> ours =
//        ReadWrittenSwitches(record, "/p/.claude/settings.json");
//    Result<void> kept = KeepWrittenSwitches(record, "/p/.claude/settings.json", {"Bash"});
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace pa {

// The names that were added to `file`; none, if there is no record. A record that cannot be read is
// an error of both: it may hold what would be forgotten.
Result<std::vector<std::string>> ReadWrittenSwitches(const std::string& record,
                                                     const std::string& file);

// From now on these; none: forgets the file.
Result<void> KeepWrittenSwitches(const std::string& record, const std::string& file,
                                 const std::vector<std::string>& names);

}  // namespace pa
