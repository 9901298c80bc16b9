#pragma once

#include "supervisor/tools/work.h"

namespace pa {

extern const Tool kMakefileGenerate;

// `language` "": what the project's files tell.
Task<ToolResult> GenerateMakefile(Work work, std::string language, CallContext& call);

// The starter Makefile for a language of kLanguages.
std::string MakefileFor(std::string_view language);

}  // namespace pa
