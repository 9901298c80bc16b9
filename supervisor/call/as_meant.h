// AsMeant: rewrites the arguments of a call as the tool's parameters have them, where a model wrote
// them in another way that can only mean one thing. It lets nothing through: the result is
// validated like everything else (arguments.h), and the published schema stays strict.
//
//    PA_TRY(std::optional<JsonValue> meant, AsMeant(tool.params, json));
//    MakeToolRequest(tool, meant ? &*meant : json);
//
// Taken as meant are
//  - names: other case, other or no `_` and `-` (`filePath` for a parameter `file_path`), and the
//    names that other programs have for the same thing (kSynonyms);
//  - `"5000"` for a number, `"true"` for a boolean;
//  - an array that is the text of a JSON array, and a single item in place of an array;
//  - members of the objects of an array that stand beside the array, or in its place: `path` beside
//    `edits`.
#pragma once

#include <expected>
#include <optional>
#include <span>

#include "base/json.h"
#include "supervisor/call/param.h"
#include "supervisor/call/tool_error.h"

namespace pa {

// Nothing: they stay as they are. INVALID_ARGUMENT: one argument has two values in two spellings,
// or the text of an array of objects is no JSON. A null `arguments` stays.
std::expected<std::optional<JsonValue>, ToolError> AsMeant(std::span<const Param> params,
                                                           const JsonValue* arguments);

}  // namespace pa
