// Parameters and result fields that several tools share, so that they are the same everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "supervisor/call/param.h"
#include "supervisor/call/result_schema.h"

namespace pa {

inline constexpr Param kWorkingDirectoryParam = {
    .name = "working_directory",
    .kind = ParamKind::kString,
    .description =
        "Directory to work in: relative to the project root, or absolute within it. "
        "Default: the root. It is the wall, too: a command reaches no file above it (../src, the "
        ".git of the project)."};

// Where it is no wall: git reaches its repository, wherever that is in the root.
inline constexpr Param kPlaceParam = {
    .name = "working_directory",
    .kind = ParamKind::kString,
    .description =
        "Directory to work in: relative to the project root, or absolute within it. "
        "Default: the root."};

inline constexpr Param kDryRunParam = {
    .name = "dry_run",
    .kind = ParamKind::kBoolean,
    .description =
        "Change nothing: return the exact command, the working directory, the grants of the "
        "sandbox and which protections are enforced."};

inline constexpr Param kTimeoutParam = {.name = "timeout_ms",
                                        .kind = ParamKind::kInteger,
                                        .description =
                                            "Kill the command after this time; "
                                            "it can only shorten limits.wall_time of the policy.",
                                        .minimum = 1};

inline constexpr Param kBackgroundParam = {
    .name = "background",
    .kind = ParamKind::kBoolean,
    .description = "Return a handle at once; job reads, awaits and stops it."};

inline constexpr Param kGitWriteParam = {
    .name = "git_write",
    .kind = ParamKind::kBoolean,
    .description =
        "The command may change the repository (.git), which is read-only otherwise; where the "
        "policy says git.commands: ask, the user is asked."};

inline constexpr Param kJobParam = {
    .name = "job",
    .description = "Run in the network of this job, where it listens (network: loopback)."};

inline constexpr Param kPortsParam = {
    .name = "ports",
    .kind = ParamKind::kPortArray,
    .description = "With background: serve these ports to the user; the handle has the URLs.",
    .minimum = 1,
    .maximum = 8};

inline constexpr std::array<std::string_view, 4> kLanguages = {"python", "rust", "go", "nodejs"};

// What to do when there is no starter Makefile for the project.
inline constexpr std::string_view kWriteItYourself =
    "Write a Makefile yourself that fits the project: recipe lines begin with a tab, each target "
    "has a line `.PHONY: NAME`, and `NAME: ## text` describes it; usual targets are default, fix, "
    "format, lint, test and build.";

inline constexpr Param kLanguageParam = {
    .name = "language",
    .kind = ParamKind::kString,
    .description =
        "Default: detected from pyproject.toml, setup.py, requirements.txt, Cargo.toml, go.mod or "
        "package.json.",
    .one_of = kLanguages,
    .advice = kWriteItYourself};

inline constexpr Param kOffsetParam = {.name = "offset",
                                       .kind = ParamKind::kInteger,
                                       .description =
                                           "How many results to skip: next_offset of "
                                           "the previous result.",
                                       .maximum = 1'000'000,
                                       .default_integer = 0};

// The argument `result` (supervisor/results/result_order.h), explained once in the instructions of
// the server: where lists are made with its members, elsewhere in short.
inline constexpr Param kResultParam = {.name = "result", .kind = ParamKind::kResult};
inline constexpr Param kWholeResultParam = {.name = "result",
                                            .kind = ParamKind::kResult,
                                            .description = "{return_mode}: see the instructions."};

inline constexpr std::string_view kCommandItems[] = {"stdout", "stderr", "json"};

// The data of a tool that runs one command; argv, would_print and confinement are a dry run's.
inline constexpr std::string_view kOutcomeNames[] = {"exited",    "signaled",       "timed_out",
                                                     "cancelled", "limit_exceeded", "setup_failed"};

inline constexpr std::string_view kAccessNames[] = {"read", "write", "execute"};

inline constexpr std::string_view kStreamNames[] = {"stderr", "stdout"};

inline constexpr ResultField kDenialFields[] = {
    {.name = "path"},
    {.name = "syscall"},
    {.name = "access", .one_of = kAccessNames},
    {.name = "blocked_by", .required = true},
    {.name = "allow_with",
     .description = "the line of policy that allows it; absent if no line can"},
    {.name = "remark"},
    {.name = "source", .required = true, .one_of = kStreamNames},
};

inline constexpr ResultField kCommandData[] = {
    {.name = "command", .required = true},
    {.name = "stdout"},
    {.name = "stderr"},
    {.name = "exit_code",
     .kind = FieldKind::kInteger,
     .description = "-1 if it did not exit by itself"},
    {.name = "signal", .kind = FieldKind::kInteger},
    {.name = "outcome", .one_of = kOutcomeNames},
    {.name = "duration_ms", .kind = FieldKind::kInteger},
    {.name = "working_dir", .required = true},
    {.name = "stdout_omitted_bytes", .kind = FieldKind::kInteger},
    {.name = "stdout_omitted_lines", .kind = FieldKind::kInteger},
    {.name = "stderr_omitted_bytes", .kind = FieldKind::kInteger},
    {.name = "stderr_omitted_lines", .kind = FieldKind::kInteger},
    {.name = "denials",
     .kind = FieldKind::kObjectArray,
     .description = "accesses that the sandbox refused, as far as the output tells",
     .fields = kDenialFields},
    {.name = "argv", .kind = FieldKind::kStringArray},
    {.name = "would_print"},
    {.name = "protected_paths_modified", .kind = FieldKind::kStringArray},
    {.name = "confinement", .kind = FieldKind::kObject},
};

// A table with some fields more.
template <std::size_t kFew, std::size_t kMore>
constexpr std::array<ResultField, kFew + kMore> With(const ResultField (&fields)[kFew],
                                                     const ResultField (&more)[kMore]) {
  std::array<ResultField, kFew + kMore> all{};
  std::ranges::copy(fields, all.begin());
  std::ranges::copy(more, all.begin() + kFew);
  return all;
}

}  // namespace pa
