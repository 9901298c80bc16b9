// AddLine: a policy file with one setting more, as a denial suggests it
// (`filesystem: {read: ["/srv/data"]}`). Only text: whoever writes the result has it loaded before.
//
//    auto now = AddLine(text, "policy.yaml", line);
//    if (!now) ... now.error()                     // what is wrong, for people
//
// Values are appended to a list, and replace any other value. Everything else keeps every byte:
// comments, order, layout. Nothing of `line` is copied but its values, which are quoted anew, so a
// value cannot become anything else than a value. The result is read again: unless it is the old
// document with the setting in it, an error is returned.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "policy/keys.h"

namespace pa::policy {

struct AddedLine {
  std::string text;  // the same as before if it has that setting already
  const Key* key;    // that was set
};

// `text`: of the file, "" for a new one. `source`: its name, for errors.
std::expected<AddedLine, std::string> AddLine(std::string_view text, const std::string& source,
                                              std::string_view line);

}  // namespace pa::policy
