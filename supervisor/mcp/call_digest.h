// DigestOfCall: names a call by its tool and arguments, so that the user's answer to one call is
// not an answer to another one.
//
// It does not depend on how a client writes its arguments again: order of members, null or absent,
// `7.0` or `7`.
#pragma once

#include <string_view>

#include "base/digest.h"
#include "base/json.h"

namespace pa {

// `arguments`: null or JSON's null: none.
Digest DigestOfCall(std::string_view tool, const JsonValue* arguments);

}  // namespace pa
