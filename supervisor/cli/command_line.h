// The command line as values. Only command_line.cc includes CLI11.
//
//    ParsedCommandLine parsed = ParseCommandLine(argc, argv);
//    if (!parsed.command) { print parsed.text; return parsed.exit_status; }
//
// To add an option: a field here, one line in command_line.cc, its entry in
// docs/man/project-actions.1.scd; for a new kind of value, how it is completed, in
// supervisor/make_completions.cc.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "supervisor/state/tenant_directory.h"
#include "supervisor/transport/listen_address.h"

namespace pa {

// The options that `serve`, `call`, `doctor`, `init`, `trash` and `policy show | explain | allow`
// share.
struct CommonOptions {
  std::vector<std::string> roots;
  std::vector<std::string> enable;
  std::optional<std::string> policy_file;
  std::optional<std::string> worker;
  bool verbose = false;
};

struct ServeCommand {
  CommonOptions common;
  std::vector<ListenAddress> listen;      // none: stdio
  std::optional<std::string> front_door;  // a user, by name or number
  std::optional<std::string> tokens;      // the file of tokens; nothing: the user's own
  std::optional<std::chrono::milliseconds> idle_exit;
  bool text_only = false;
  bool log_json = false;
};

struct CallCommand {
  CommonOptions common;
  std::string tool;
  std::string arguments = "{}";  // JSON text
  bool json = false;
  std::optional<std::string> write_spec;  // a file to which the worker's order is written, too
};

struct DoctorCommand {
  CommonOptions common;
  bool json = false;
};

struct PolicyCheckCommand {
  std::string file;
};
struct PolicyShowCommand {
  CommonOptions common;
  bool json = false;
};
struct PolicySchemaCommand {};
struct PolicyExplainCommand {
  CommonOptions common;
  std::string subject;  // a path or a tool
  bool json = false;
};

struct PolicyAllowCommand {
  CommonOptions common;
  std::string line;  // or kLastDenial
  bool yes = false;  // write without asking
};
// The line that the last denial of the audit log suggests.
inline constexpr char kLastDenial[] = "LAST";

struct TrashListCommand {
  CommonOptions common;
  bool json = false;
};
struct TrashRestoreCommand {
  CommonOptions common;
  std::string id;
};
struct AuditFiles {
  std::vector<std::string> files;  // the oldest first; none: the policy's file
  std::optional<std::string> policy_file;
};
struct AuditVerifyCommand {
  AuditFiles log;
};
struct AuditShowCommand {
  AuditFiles log;                           // `-`: standard input
  std::optional<std::string> since, until;  // as supervisor/text/point_in_time.h reads them
  std::vector<std::string> tools;
  std::vector<std::string> outcomes;  // of KnownOutcomes (supervisor/cli/audit_view.h)
  bool json = false;                  // the lines as they are
  bool follow = false;
};

struct ConnectCommand {
  ListenAddress address;  // kUnix or kTcp
};

struct TopCommand {
  std::vector<ListenAddress> addresses;  // kUnix or kTcp; none: all tenants
  std::string tenants = kTenantDirectory;
  std::chrono::milliseconds interval{2000};
  bool once = false;
  bool open_metrics = false;
};

// Whose tokens: of a tenant, which root alone changes, or of the user who asks.
struct TokenOwner {
  std::optional<std::string> tenant;  // by name or number
  std::string tenants = kTenantDirectory;
};
struct TokenNewCommand {
  TokenOwner owner;
  std::string name;
  std::string expires = "90d";  // as TokenExpiry reads it
};
struct TokenListCommand {
  TokenOwner owner;
  bool json = false;
};
struct TokenRevokeCommand {
  TokenOwner owner;
  std::string name;
};

struct TenantAddCommand {
  std::string user;                 // by name or number
  std::vector<std::string> roots;   // absolute, or from the current directory; none: ~/src
  std::vector<std::string> enable;  // tools
  std::string tenants = kTenantDirectory;
};
struct TenantListCommand {
  std::string tenants = kTenantDirectory;
  bool json = false;
};
struct TenantRemoveCommand {
  std::string user;
  std::string tenants = kTenantDirectory;
};

struct InitCommand {
  CommonOptions common;
  std::string client;
  bool print = false;      // print the entry, write nothing
  bool yes = false;        // write without asking
  bool exclusive = false;  // switch the client's own tools off, too
  bool remove = false;     // take away what was written
  std::string url;         // of a server that listens: unix:PATH, or of HTTP; "" = none
};

using Command =
    std::variant<ServeCommand, CallCommand, DoctorCommand, PolicyCheckCommand, PolicyShowCommand,
                 PolicySchemaCommand, PolicyExplainCommand, PolicyAllowCommand, AuditVerifyCommand,
                 AuditShowCommand, TrashListCommand, TrashRestoreCommand, InitCommand,
                 ConnectCommand, TopCommand, TokenNewCommand, TokenListCommand, TokenRevokeCommand,
                 TenantAddCommand, TenantListCommand, TenantRemoveCommand>;

struct ParsedCommandLine {
  std::optional<Command> command;
  std::string text;     // if there is no command: help, version or the error
  int exit_status = 0;  // 0 for help and version, 2 for an error
};

// Help is wrapped for the terminal that standard output is, or for 80 columns.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv);
// For `width` columns; 0: 80.
ParsedCommandLine ParseCommandLine(int argc, const char* const* argv, std::size_t width);

// The same table as data, for completions.
struct OptionHelp {
  std::vector<std::string> names;  // `-v`, `--verbose`; none: an argument, known by its position
  std::string value;               // `DIR`; for an argument its name; "" = a flag
  std::string text;
  bool repeats = false;
};
struct CommandHelp {
  std::string name;  // `policy`
  std::string text;
  std::vector<OptionHelp> options;
  std::vector<OptionHelp> arguments;
  std::vector<CommandHelp> subcommands;
};
CommandHelp DescribeCommandLine();

}  // namespace pa
