// makefile_generate: writes a starter Makefile. GenerateMakefile is for project_actions, too.
#pragma once

#include "supervisor/tools/work.h"

namespace pa {

extern const Tool kMakefileGenerate;

// `language` "": detected from the project's files.
Task<ToolResult> GenerateMakefile(Work work, std::string language, CallContext& call);

// The starter Makefile for a language of kLanguages.
std::string MakefileFor(std::string_view language);

}  // namespace pa
