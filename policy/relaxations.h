// Relaxations: what a policy gives commands beyond the built-in default. Each kind is a type of its
// own, with the reason why it is weaker. Exactly these are reported; no other line of a policy
// weakens the confinement of a command (docs/adr/0018).
//
//    for (const Relaxation& relaxation : policy.relaxations) ...   // all: doctor, policy show
//    for (const Relaxation& relaxation : allow.relaxations()) ...  // of one call: dry_run
//
// To add a relaxation, you must:
//    1. add its type below and in RelaxationType;
//    2. find it in FindRelaxations;
//    3. add its line to relaxations_test.cc, and its row to the table in docs/policy.md.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/json_writer.h"
#include "policy/diagnostic.h"

namespace pa::policy {

struct Policy;          // policy/policy.h
struct PolicyFragment;  // policy/fragment.h
enum class Purpose;     // policy/purpose.h

// Which commands are weaker because of a relaxation.
enum class Reach {
  kServer,    // no command, but what calls can take of the server, or which calls there are
  kBuilds,    // make TARGET, bash
  kProject,   // commands that see the project
  kPrograms,  // these, and git when it reads the user's name
  kAll,       // these, and workers that read or write files themselves
};

struct RootWithSecrets {
  static constexpr std::string_view kName = "root_with_secrets";
  static constexpr std::string_view kWhy = "calls that work there read and change what lies there";
  static constexpr Reach kReach = Reach::kProject;
};
struct EveryTool {
  static constexpr std::string_view kName = "every_tool";
  static constexpr std::string_view kWhy =
      "tools that run or change something are on without being named, those of later versions too";
  static constexpr Reach kReach = Reach::kServer;
};
struct InnerTool {
  static constexpr std::string_view kName = "inner_tool";
  static constexpr std::string_view kWhy =
      "a host that permits pipeline or batch permits this tool with it, "
      "without being asked about each call";
  static constexpr Reach kReach = Reach::kServer;
};
struct ReadablePath {
  static constexpr std::string_view kName = "readable_path";
  static constexpr std::string_view kWhy =
      "commands can read and execute what lies there, and put it into the project or a result";
  static constexpr Reach kReach = Reach::kProject;
};
struct WritablePath {
  static constexpr std::string_view kName = "writable_path";
  static constexpr std::string_view kWhy =
      "commands can read, change and execute what lies there; "
      "a program outside that executes it executes what they wrote";
  static constexpr Reach kReach = Reach::kProject;
};
struct UnprotectedPath {
  static constexpr std::string_view kName = "unprotected_path";
  static constexpr std::string_view kWhy =
      "commands and file tools can change the file, "
      "and one of the user's programs executes what it says";
  static constexpr Reach kReach = Reach::kAll;
};
struct LoopbackNetwork {
  static constexpr std::string_view kName = "loopback_network";
  static constexpr std::string_view kWhy =
      "commands have internet sockets, and with them more of the kernel, "
      "although no other host is reachable";
  static constexpr Reach kReach = Reach::kBuilds;
};
struct FullNetwork {
  static constexpr std::string_view kName = "full_network";
  static constexpr std::string_view kWhy =
      "commands can send what they read, execute what they fetch, "
      "and reach services of this machine and of its network";
  static constexpr Reach kReach = Reach::kBuilds;
};
struct KeptJobs {
  static constexpr std::string_view kName = "kept_jobs";
  static constexpr std::string_view kWhy =
      "what an agent has started goes on when the agent's session has ended, within its limits";
  static constexpr Reach kReach = Reach::kBuilds;
};
struct PublishedPorts {
  static constexpr std::string_view kName = "published_ports";
  static constexpr std::string_view kWhy =
      "this user's programs reach the servers of jobs that a call names, and pages that they serve "
      "run in the user's browser, with its network";
  static constexpr Reach kReach = Reach::kBuilds;
};
struct PassedVariable {
  static constexpr std::string_view kName = "passed_variable";
  static constexpr std::string_view kWhy =
      "commands see the value that the server has, and can put it into the project or a result";
  static constexpr Reach kReach = Reach::kPrograms;
};
struct SetVariable {
  static constexpr std::string_view kName = "set_variable";
  static constexpr std::string_view kWhy =
      "commands see the value, so it is no longer secret, and programs may act on it";
  static constexpr Reach kReach = Reach::kPrograms;
};
struct WritableRepository {
  static constexpr std::string_view kName = "writable_repository";
  static constexpr std::string_view kWhy =
      "commands can change .git: what git executes there is protected by lists alone, "
      "and history and references can be lost";
  static constexpr Reach kReach = Reach::kBuilds;
};
struct NoNamespaces {
  static constexpr std::string_view kName = "no_namespaces";
  static constexpr std::string_view kWhy =
      "file_metadata and process_list are not enforced, shared_memory partly, and "
      "changes of protected_paths are undone instead of prevented";
  static constexpr Reach kReach = Reach::kAll;
};
struct RaisedLimit {
  static constexpr std::string_view kName = "raised_limit";
  static constexpr std::string_view kWhy = "a command can take more of this machine";
  static constexpr Reach kReach = Reach::kAll;
};
struct RaisedServerLimit {
  static constexpr std::string_view kName = "raised_server_limit";
  static constexpr std::string_view kWhy = "calls can take more of the server and of the client";
  static constexpr Reach kReach = Reach::kServer;
};

struct NoAudit {
  static constexpr std::string_view kName = "no_audit";
  static constexpr std::string_view kWhy = "calls leave no record";
  static constexpr Reach kReach = Reach::kServer;
};

using RelaxationType =
    std::variant<RootWithSecrets, EveryTool, InnerTool, ReadablePath, WritablePath, UnprotectedPath,
                 LoopbackNetwork, FullNetwork, KeptJobs, PublishedPorts, PassedVariable,
                 SetVariable, WritableRepository, NoNamespaces, RaisedLimit, RaisedServerLimit,
                 NoAudit>;

struct Relaxation {
  RelaxationType type;
  std::string key;     // `network`
  std::string value;   // as in force; for a variable its name, since its value may be a secret
  SourceLocation at;   // where the policy says so
  std::string remark;  // `gives commands the secrets in /home/ann/.ssh`, `built in: 4GiB`, or ""

  std::string_view Name() const;
  std::string_view Why() const;
  // `full_network (network: full, policy.yaml:3:10): commands can ...`, one line.
  std::string Format() const;
};

// In the order of the keys. Looks which secrets exist, so it is called once, when the policy loads.
// `read_only_tools`: those that are always on.
std::vector<Relaxation> FindRelaxations(const PolicyFragment& merged, const std::string& home,
                                        std::span<const std::string> read_only_tools);

// The relaxations that reach a command of this purpose that works in `directory`. `writes_git`: as
// Allow::writes_git.
std::vector<Relaxation> RelaxationsFor(const Policy& policy, Purpose purpose,
                                       const std::string& directory, bool writes_git);

// [{"name", "key", "value", "from", "why", "remark"?}, ...]
void WriteRelaxations(JsonWriter& writer, const std::vector<Relaxation>& relaxations);

}  // namespace pa::policy
