// Arguments and data schemas that several tools share, so that they read the same everywhere.
#pragma once

#include <array>
#include <string_view>

#include "supervisor/call/param_spec.h"

namespace pa {

inline constexpr Param kWorkingDirectoryParam = {
    .name = "working_directory",
    .kind = ParamKind::kString,
    .description =
        "Directory to work in: relative to the project root, or absolute within it. "
        "Default: the root."};

inline constexpr Param kDryRunParam = {
    .name = "dry_run",
    .kind = ParamKind::kBoolean,
    .description =
        "Change nothing: return the exact command, the working directory and what the "
        "sandbox grants, enforces and does not enforce."};

inline constexpr Param kTimeoutParam = {
    .name = "timeout_ms",
    .kind = ParamKind::kInteger,
    .description = "End the run after this time; may only shorten the policy's limits.wall_time.",
    .minimum = 1};

inline constexpr std::array<std::string_view, 4> kLanguages = {"python", "rust", "go", "nodejs"};

// What to do when there is no starter Makefile for the project.
inline constexpr std::string_view kWriteItYourself =
    "Write a Makefile yourself that fits the project: recipe lines begin with a tab, each target "
    "has "
    "a line `.PHONY: NAME`, and `NAME: ## text` describes it; usual targets are default, fix, "
    "format, lint, test and build.";

inline constexpr Param kLanguageParam = {
    .name = "language",
    .kind = ParamKind::kString,
    .description =
        "Default: what pyproject.toml, setup.py or requirements.txt, Cargo.toml, go.mod or "
        "package.json tells.",
    .one_of = kLanguages,
    .advice = kWriteItYourself};

// Data of a tool that runs one command; argv, would_print and confinement are a dry run's.
inline constexpr std::string_view kCommandSchema =
    R"({"type":"object","properties":{"command":{"type":"string"},)"
    R"("stdout":{"type":"string"},"stderr":{"type":"string"},)"
    R"("exit_code":{"type":"integer","description":"-1 when it did not exit by itself"},)"
    R"("signal":{"type":"integer"},"outcome":{"type":"string","enum":["exited","signaled",)"
    R"("timed_out","cancelled","limit_exceeded","setup_failed"]},)"
    R"("duration_ms":{"type":"integer"},"working_dir":{"type":"string"},)"
    R"("stdout_omitted_bytes":{"type":"integer"},"stdout_omitted_lines":{"type":"integer"},)"
    R"("stderr_omitted_bytes":{"type":"integer"},"stderr_omitted_lines":{"type":"integer"},)"
    R"("denials":{"type":"array","description":"what the sandbox refused, as far as the output tells",)"
    R"("items":{"type":"object","properties":{"path":{"type":"string"},)"
    R"("syscall":{"type":"string"},"access":{"type":"string","enum":["read","write","execute"]},)"
    R"("blocked_by":{"type":"string"},)"
    R"("allow_with":{"type":"string","description":"the line of policy; absent when none can"},)"
    R"("remark":{"type":"string"},"source":{"type":"string","enum":["stderr","stdout"]}},)"
    R"("required":["blocked_by","source"]}},)"
    R"("argv":{"type":"array","items":{"type":"string"}},"would_print":{"type":"string"},)"
    R"("protected_paths_modified":{"type":"array","items":{"type":"string"}},)"
    R"("confinement":{"type":"object"}},"required":["command","working_dir"]})";

}  // namespace pa
