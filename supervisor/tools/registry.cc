// A line for each tool. To add one: see supervisor/call/tool.h.
#include "supervisor/tools/registry.h"

#include <algorithm>
#include <array>

#include "supervisor/tools/bash.h"
#include "supervisor/tools/batch.h"
#include "supervisor/tools/delete.h"
#include "supervisor/tools/edit.h"
#include "supervisor/tools/git_add.h"
#include "supervisor/tools/git_commit.h"
#include "supervisor/tools/glob.h"
#include "supervisor/tools/grep.h"
#include "supervisor/tools/job.h"
#include "supervisor/tools/make.h"
#include "supervisor/tools/make_targets.h"
#include "supervisor/tools/makefile_generate.h"
#include "supervisor/tools/pipeline.h"
#include "supervisor/tools/project_actions.h"
#include "supervisor/tools/read.h"
#include "supervisor/tools/write.h"

namespace pa {
namespace {

constexpr std::array kTools = {
    &kMakeTargets,
    &kMake,
    &kMakefileGenerate,
    &kGitAdd,
    &kGitCommit,
    &kRead,
    &kWrite,
    &kEdit,
    &kDelete,
    &kGlob,
    &kGrep,
    &kBash,
    &kProjectActions,
    &kPipeline,
    &kBatch,
    &kJob,
};

}  // namespace

std::span<const Tool* const> AllTools() { return kTools; }

const Tool* FindTool(std::string_view name) {
  const auto found = std::ranges::find(kTools, name, &Tool::name);
  return found == kTools.end() ? nullptr : *found;
}

}  // namespace pa
