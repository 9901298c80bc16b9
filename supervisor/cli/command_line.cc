#include "supervisor/cli/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <sstream>
#include <tuple>

#include "base/did_you_mean.h"
#include "base/units.h"
#include "policy/url.h"
#include "supervisor/cli/audit_view.h"
#include "supervisor/cli/token_command.h"
#include "supervisor/clients/client_config.h"
#include "supervisor/loop/version.h"
#include "supervisor/state/token_file.h"
#include "supervisor/text/point_in_time.h"
#include "supervisor/text/wrap.h"

namespace pa {
namespace {

constexpr int kUsageError = 2;
constexpr std::chrono::milliseconds kShortestInterval{100};
constexpr std::chrono::hours kLongestInterval{1};
constexpr std::size_t kUsualWidth = 80;
constexpr char kName[] = "project-actions";

// CLI11 wraps nothing.
class WrappingFormatter : public CLI::Formatter {
 public:
  explicit WrappingFormatter(std::size_t width) : width_(width) {}
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return Row(make_option_name(option, is_positional) + make_option_opts(option),
               make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* sub) const override {
    return Row(sub->get_name(), sub->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return Wrapped(CLI::Formatter::make_description(app), {.width = width_});
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    return Wrapped(CLI::Formatter::make_usage(app, std::move(name)), {.width = width_});
  }

 private:
  std::string Row(const std::string& name, const std::string& text) const {
    constexpr std::size_t kIndent = 30;
    const std::string left = fmt::format("  {:<{}}", name, kIndent - 2);
    const bool touches = left.back() != ' ';
    const std::string gap = touches ? "\n" + std::string(kIndent, ' ') : "";
    return left + gap + Wrapped(text, {.width = width_, .indent = kIndent}) + "\n";
  }

  std::size_t width_;
};

std::string UnknownWord(std::string_view kind, std::string_view word,
                        std::span<const std::string_view> known) {
  return fmt::format("unknown {} '{}'{}", kind, word, DidYouMean(word, known));
}

void AddCommon(CLI::App* app, CommonOptions* options) {
  app->add_option("--root", options->roots,
                  "Directory in which calls may work; may be given more than once. Default: the "
                  "roots of the policy, or the current directory")
      ->type_name("DIR")
      ->allow_extra_args(false);
  app->add_option("--enable", options->enable,
                  "Tools to enable beside the read-only ones, or 'all'")
      ->type_name("TOOL,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  app->add_option("--policy", options->policy_file,
                  "Policy file instead of the user's own. Environment: PROJECT_ACTIONS_POLICY")
      ->type_name("FILE");
  app->add_option("--worker", options->worker,
                  "The worker program, if it is not in its usual place")
      ->type_name("PATH");
  app->add_flag("-v,--verbose", options->verbose, "Say more on standard error");
}

// Each subcommand writes its values here; the one that was chosen becomes the Command.
struct Values {
  ServeCommand serve;
  std::vector<std::string> listen;
  std::string idle_exit;
  CallCommand call;
  DoctorCommand doctor;
  PolicyCheckCommand check;
  PolicyShowCommand show;
  PolicyExplainCommand explain;
  PolicyAllowCommand allow;
  AuditVerifyCommand verify;
  AuditShowCommand audit_show;
  TrashListCommand trash_list;
  TrashRestoreCommand trash_restore;
  InitCommand init;
  std::string connect;
  TopCommand top;
  std::vector<std::string> top_addresses;
  std::string top_interval;
  TokenNewCommand token_new;
  TokenListCommand token_list;
  TokenRevokeCommand token_revoke;
  TenantAddCommand tenant_add;
  TenantListCommand tenant_list;
  TenantRemoveCommand tenant_remove;
  std::vector<std::string> help;
};

std::string CheckAddress(const std::string& text) {
  const auto address = ParseListenAddress(text);
  return address ? "" : address.error();
}

void AddServe(CLI::App& app, Values* values) {
  auto* serve = app.add_subcommand(
      "serve", "Speak MCP on standard input and output, or where clients connect");
  AddCommon(serve, &values->serve.common);
  serve
      ->add_option("--listen", values->listen,
                   "Where to listen: stdio (the default), unix:PATH, http://HOST:PORT or systemd; "
                   "may be given more than once")
      ->type_name("ADDRESS")
      ->check(CLI::Validator(CheckAddress, ""))
      ->allow_extra_args(false);
  serve
      ->add_option(
          "--front-door", values->serve.front_door,
          "The user of a front door, which may connect to Unix sockets and says whose each "
          "request is")
      ->type_name("USER");
  serve
      ->add_option("--tokens", values->serve.tokens,
                   "The file of the tokens that are taken, if it is not the user's own")
      ->type_name("FILE");
  serve
      ->add_option("--idle-exit", values->idle_exit,
                   "End after this time without a connection, session, call or job, such as 15m; "
                   "for servers that systemd starts with the next connection")
      ->type_name("TIME")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto time = ParseDuration(text);
            return time && *time >= std::chrono::seconds(1)
                       ? ""
                       : "expected a time of 1s or more, such as 15m, not '" + text + "'";
          },
          ""));
  serve->add_flag("--log-json", values->serve.log_json,
                  "Log lines of JSON on standard error, for programs");
  serve->add_flag("--text-only", values->serve.text_only,
                  "Send results as text alone, without structuredContent and outputSchema");
}

void AddCall(CLI::App& app, Values* values) {
  CallCommand& call = values->call;
  auto* sub = app.add_subcommand("call", "Run one tool as a client would");
  sub->add_option("TOOL", call.tool, "The tool's name")->type_name("")->required();
  sub->add_option("ARGUMENTS", call.arguments, "Its arguments, a JSON object")->type_name("");
  sub->add_flag("--json", call.json, "Print the structured result, one line, and nothing else");
  sub->add_option("--write-spec", call.write_spec,
                  "Write the worker's order to FILE too; 'project-actions-worker --spec FILE' runs "
                  "it by hand")
      ->type_name("FILE");
  AddCommon(sub, &call.common);
}

void AddDoctor(CLI::App& app, Values* values) {
  auto* sub = app.add_subcommand("doctor", "Report which protections this machine enforces");
  sub->add_flag("--json", values->doctor.json, "Print one line of JSON");
  AddCommon(sub, &values->doctor.common);
}

void AddPolicy(CLI::App& app, Values* values) {
  auto* policy = app.add_subcommand("policy", "Check, show, explain and extend the policy");
  policy->require_subcommand(1);
  auto* check = policy->add_subcommand("check", "Check a policy file");
  check->add_option("FILE", values->check.file, "The policy file")->type_name("")->required();
  auto* show = policy->add_subcommand("show", "Show the policy in force, every key");
  show->add_flag("--json", values->show.json, "Print one line of JSON");
  AddCommon(show, &values->show.common);
  policy->add_subcommand("schema", "Print the JSON Schema of a policy file");
  auto* explain =
      policy->add_subcommand("explain", "Explain the policy for a path, a host or a tool");
  explain->add_option("SUBJECT", values->explain.subject, "A path, HOST:PORT or a tool")
      ->type_name("")
      ->required();
  explain->add_flag("--json", values->explain.json, "Print one line of JSON");
  AddCommon(explain, &values->explain.common);
  auto* allow = policy->add_subcommand("allow", "Write a line into the user's policy file");
  allow
      ->add_option("LINE", values->allow.line,
                   "A line that sets one key, or 'LAST': the one that the last denial suggests")
      ->type_name("")
      ->required();
  allow->add_flag("--yes", values->allow.yes, "Write without asking");
  AddCommon(allow, &values->allow.common);
}

void AddAuditFiles(CLI::App* app, AuditFiles* log, const char* text) {
  app->add_option("FILE", log->files, text)->type_name("");
  app->add_option("--policy", log->policy_file, "Policy file instead of the user's own")
      ->type_name("FILE");
}

// Of one of several options that take a point in time.
std::string CheckPointInTime(const std::string& text) {
  const auto point = ParsePointInTime(text, PointInTime());
  return point ? "" : point.error();
}

std::string CheckOutcome(const std::string& word) {
  const std::vector<std::string> known = KnownOutcomes();
  if (std::ranges::find(known, word) != known.end()) return "";
  const std::vector<std::string_view> names(known.begin(), known.end());
  return fmt::format("{}\nThe outcomes are {}", UnknownWord("outcome", word, names),
                     fmt::join(known, ", "));
}

void AddAuditShow(CLI::App* audit, AuditShowCommand* command) {
  auto* show = audit->add_subcommand("show", "Show the calls of the audit log as a table");
  AddAuditFiles(show, &command->log,
                "Files to show as one, the oldest first; '-' is standard input. Default: the "
                "policy's");
  for (const auto& [name, value, text] :
       {std::tuple{"--since", &command->since, "Only what is not older: 2h, 3d, 2026-11-26"},
        std::tuple{"--until", &command->until, "Only what is older: 2h, '2026-11-26 14:00'"}}) {
    show->add_option(name, *value, text)
        ->type_name("TIME")
        ->check(CLI::Validator(CheckPointInTime, ""));
  }
  show->add_option("--tool", command->tools, "Only calls of these tools")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  show->add_option("--outcome", command->outcomes,
                   "Only calls that ended so: ok, failed, refused, unfinished, or error codes")
      ->type_name("OUTCOME,...")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Validator(CheckOutcome, ""));
  show->add_flag("--json", command->json, "Print the lines of the log as they are");
  show->add_flag("-f,--follow", command->follow, "Go on as the log grows");
}

void AddAudit(CLI::App& app, Values* values) {
  auto* audit = app.add_subcommand("audit", "Show and verify the audit log");
  audit->require_subcommand(1);
  AddAuditShow(audit, &values->audit_show);
  auto* verify = audit->add_subcommand("verify", "Check the audit log for gaps and changes");
  AddAuditFiles(verify, &values->verify.log,
                "Files to verify as one, the oldest first. Default: the policy's");
}

void AddTrash(CLI::App& app, Values* values) {
  auto* trash = app.add_subcommand("trash", "List and restore files that tools have deleted");
  trash->require_subcommand(1);
  auto* list = trash->add_subcommand("list", "List the trash, the newest first");
  list->add_flag("--json", values->trash_list.json, "Print one line of JSON");
  AddCommon(list, &values->trash_list.common);
  auto* restore = trash->add_subcommand("restore", "Move an entry back to its place");
  restore
      ->add_option("ID", values->trash_restore.id, "The id, from `trash list` or the tool's result")
      ->type_name("")
      ->required();
  AddCommon(restore, &values->trash_restore.common);
}

std::string CheckServerAddress(const std::string& text) {
  const auto address = ParseListenAddress(text);
  if (!address) return address.error();
  const bool is_place = address->kind == ListenAddress::Kind::kUnix ||
                        (address->kind == ListenAddress::Kind::kTcp && address->port != 0);
  return is_place ? "" : "a server is at unix:PATH or http://HOST:PORT, not at '" + text + "'";
}

std::string CheckInitUrl(const std::string& text) {
  if (text.starts_with("unix:")) return CheckServerAddress(text);
  return policy::CheckUrl(text).empty()
             ? ""
             : "a server is at unix:PATH or at a URL such as http://127.0.0.1:8787/mcp, not at '" +
                   text + "'";
}

void AddInit(CLI::App& app, Values* values) {
  InitCommand& init = values->init;
  std::vector<std::string> names;
  for (const Client& client : Clients()) names.emplace_back(client.name);
  const std::string text =
      fmt::format("The client that starts the server: {}", fmt::join(names, ", "));
  auto* sub = app.add_subcommand("init", "Enter this server into a client's configuration");
  sub->add_option("CLIENT", init.client, text)
      ->type_name("")
      ->required()
      ->check(CLI::Validator(
          [names](const std::string& name) {
            if (std::ranges::find(names, name) != names.end()) return std::string();
            const std::vector<std::string_view> known(names.begin(), names.end());
            return fmt::format("{}\nThe clients are {}", UnknownWord("client", name, known),
                               fmt::join(names, ", "));
          },
          ""));
  sub->add_flag("--print", init.print, "Print the entry; read and write nothing");
  sub->add_flag("--exclusive", init.exclusive,
                "Also switch the client's own shell and edit tools off");
  sub->add_flag("--remove", init.remove, "Remove what init has written, also with --exclusive");
  sub->add_option("--url", init.url,
                  "Enter a server that listens: unix:PATH, or its URL; the client then sends the "
                  "token in its environment's PROJECT_ACTIONS_TOKEN")
      ->type_name("URL")
      ->check(CLI::Validator(CheckInitUrl, ""));
  // CLI11's excludes() would write itself into the help, where the value's name stands.
  sub->callback([&init] {
    const CommonOptions& common = init.common;
    const bool serves = !common.enable.empty() || common.policy_file || common.worker;
    if (!init.url.empty() && (serves || init.remove || common.roots.size() > 1)) {
      throw CLI::ValidationError(
          "--url names a server that runs with options of its own: of the others it takes one "
          "--root, the project, and --print, --exclusive and --yes");
    }
    if (int{init.print} + int{init.exclusive} + int{init.remove} <= 1) return;
    throw CLI::ValidationError("--print, --exclusive and --remove exclude each other: pass one");
  });
  sub->add_flag("--yes", init.yes, "Write without asking");
  AddCommon(sub, &init.common);
}

void AddConnect(CLI::App& app, Values* values) {
  auto* sub = app.add_subcommand("connect",
                                 "Pass standard input and output on to a server that runs already");
  sub->add_option("ADDRESS", values->connect,
                  "Where it listens: unix:PATH or http://HOST:PORT, the latter with the token in "
                  "the environment's PROJECT_ACTIONS_TOKEN")
      ->type_name("")
      ->required()
      ->check(CLI::Validator(CheckServerAddress, ""));
}

CLI::Option* AddTenants(CLI::App* app, std::string* tenants) {
  return app
      ->add_option("--tenants", *tenants,
                   "The directory of the tenants. Default: /etc/project-actions/tenants")
      ->type_name("DIR");
}

void AddTop(CLI::App& app, Values* values) {
  TopCommand& command = values->top;
  auto* sub = app.add_subcommand("top", "Show servers that run: calls, queues and failures, live");
  sub->add_option("ADDRESS", values->top_addresses,
                  "Where they listen, as of connect; none: all tenants of this machine, for root")
      ->type_name("")
      ->check(CLI::Validator(CheckServerAddress, ""));
  sub->add_option("--interval", values->top_interval, "How often to look, such as 500ms [2s]")
      ->type_name("TIME")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto time = ParseDuration(text);
            return time && *time >= kShortestInterval && *time <= kLongestInterval
                       ? ""
                       : "expected a time from 100ms to 1h, such as 2s, not '" + text + "'";
          },
          ""));
  sub->add_flag("--once", command.once, "Look once; so does a standard output that is no terminal");
  sub->add_flag("--open-metrics", command.open_metrics, "Print metrics for Prometheus, once");
  AddTenants(sub, &command.tenants);
}

std::string CheckTokenName(const std::string& name) {
  return IsTokenName(name)
             ? ""
             : "a name has 1 to 64 letters, digits, '.', '_' and '-', not '" + name + "'";
}

void AddTokenOwner(CLI::App* app, TokenOwner* owner) {
  CLI::Option* tenant =
      app->add_option("--tenant", owner->tenant, "Those of a tenant, not your own; only root may")
          ->type_name("USER");
  AddTenants(app, &owner->tenants)->needs(tenant);
}

void AddTenant(CLI::App& app, Values* values) {
  auto* tenant = app.add_subcommand("tenant", "Add, list and remove the tenants of this machine");
  tenant->require_subcommand(1);
  TenantAddCommand& made = values->tenant_add;
  auto* add = tenant->add_subcommand("add", "Give a user a server behind the front door");
  add->add_option("USER", made.user, "The user, by name or number")->type_name("")->required();
  add->add_option("--root", made.roots,
                  "Directory in which its calls may work; may be given more than once. Default: "
                  "src in the user's home")
      ->type_name("DIR")
      ->allow_extra_args(false);
  add->add_option("--enable", made.enable, "Tools to enable beside the read-only ones, or 'all'")
      ->type_name("TOOL,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddTenants(add, &made.tenants);
  auto* list = tenant->add_subcommand("list", "List the tenants");
  list->add_flag("--json", values->tenant_list.json, "Print one line of JSON");
  AddTenants(list, &values->tenant_list.tenants);
  auto* remove = tenant->add_subcommand("remove", "End a tenant's server, and forget its tokens");
  remove->add_option("USER", values->tenant_remove.user, "The user, by name or number")
      ->type_name("")
      ->required();
  AddTenants(remove, &values->tenant_remove.tenants);
}

void AddToken(CLI::App& app, Values* values) {
  auto* token = app.add_subcommand("token", "Make, list and revoke the tokens of HTTP clients");
  token->require_subcommand(1);
  auto* made = token->add_subcommand("new", "Make a token and print it, this once");
  made->add_option("NAME", values->token_new.name, "What the audit log calls its client")
      ->type_name("")
      ->required()
      ->check(CLI::Validator(CheckTokenName, ""));
  made->add_option("--expires", values->token_new.expires,
                   "When it ends: 12h, 90d (the default), 2027-01-31 or never")
      ->type_name("TIME")
      ->check(CLI::Validator(
          [](const std::string& text) {
            const auto expiry = TokenExpiry(text, {});
            return expiry ? "" : expiry.error();
          },
          ""));
  AddTokenOwner(made, &values->token_new.owner);
  auto* list = token->add_subcommand("list", "List the tokens, not what they are");
  AddTokenOwner(list, &values->token_list.owner);
  list->add_flag("--json", values->token_list.json, "Print one line of JSON");
  auto* revoke =
      token->add_subcommand("revoke", "Remove a token: its client is not known any more");
  AddTokenOwner(revoke, &values->token_revoke.owner);
  revoke->add_option("NAME", values->token_revoke.name, "The token's name")
      ->type_name("")
      ->required();
}

constexpr char kAbout[] =
    "Runs make, git and bash and works with files for AI agents, each call confined.";

void AddHelp(CLI::App& app, Values* values) {
  auto* sub = app.add_subcommand("help", "Print the help of a command");
  sub->add_option("COMMAND", values->help, "The command, with its subcommand if it has some")
      ->type_name("");
}

struct CommandRow {
  std::string_view name;
  void (*add)(CLI::App& app, Values* values);
};

constexpr CommandRow kCommands[] = {
    {"serve", AddServe}, {"call", AddCall},   {"doctor", AddDoctor}, {"policy", AddPolicy},
    {"audit", AddAudit}, {"trash", AddTrash}, {"init", AddInit},     {"connect", AddConnect},
    {"top", AddTop},     {"token", AddToken}, {"tenant", AddTenant}, {"help", AddHelp},
};

// `word`: the first of a command line. If it names a command, there is only that one: to describe
// all of them takes half a millisecond, twice at the start of a server.
void AddCommands(CLI::App& app, Values* values, std::size_t width, std::string_view word) {
  app.formatter(std::make_shared<WrappingFormatter>(width > 0 ? width : kUsualWidth));
  app.set_version_flag("-V,--version", std::string("project-actions ") + kVersion);
  app.require_subcommand(1);
  const bool one = word != "help" && std::ranges::any_of(kCommands, [&](const CommandRow& command) {
                     return command.name == word;
                   });
  for (const CommandRow& command : kCommands) {
    if (!one || command.name == word) command.add(app, values);
  }
}

std::vector<const CLI::App*> SubcommandsOf(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string_view> NamesOf(const std::vector<const CLI::App*>& apps) {
  std::vector<std::string_view> names;
  for (const CLI::App* app : apps) names.push_back(app->get_name());
  return names;
}

OptionHelp Describe(const CLI::Option& option) {
  OptionHelp help{.text = option.get_description(), .repeats = option.get_expected_max() > 1};
  for (const std::string& name : option.get_snames()) help.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) help.names.push_back("--" + name);
  if (option.get_positional()) {
    help.value = option.get_name(true);
  } else if (option.get_items_expected_max() > 0) {
    help.value = option.get_type_name();
  }
  return help;
}

CommandHelp Describe(const CLI::App& app) {
  CommandHelp help{.name = app.get_name(), .text = app.get_description()};
  for (const CLI::Option* option : app.get_options()) {
    (option->get_positional() ? help.arguments : help.options).push_back(Describe(*option));
  }
  for (const CLI::App* sub : SubcommandsOf(app)) {
    help.subcommands.push_back(Describe(*sub));
  }
  return help;
}

// A command and what it is called with those above it.
struct Named {
  const CLI::App* app;
  std::string above;
  std::string full_name() const {
    return above.empty() ? app->get_name() : above + " " + app->get_name();
  }
  std::string Help() const { return app->help(above); }
};

ParsedCommandLine Usage(const Named& at, const std::string& what) {
  return {.command = std::nullopt,
          .text = fmt::format("{}: {}\nRun '{} --help' for more.\n", kName, what, at.full_name()),
          .exit_status = kUsageError};
}

// Goes down to the command that `words` begin with. The result: an unknown one is among them.
std::optional<ParsedCommandLine> Descend(Named& at, std::span<const std::string> words) {
  for (const std::string& word : words) {
    const std::vector<const CLI::App*> subs = SubcommandsOf(*at.app);
    if (subs.empty()) return std::nullopt;
    const std::vector<std::string_view> names = NamesOf(subs);
    const auto named = std::ranges::find(names, word);
    if (named == names.end()) {
      const std::string what = UnknownWord("command", word, names);
      return Usage(at, fmt::format("{}\nThe commands are {}", what, fmt::join(names, ", ")));
    }
    at = {subs[static_cast<std::size_t>(named - names.begin())], at.full_name()};
  }
  return std::nullopt;
}

std::string UnknownOption(const CLI::App& app, std::string_view word) {
  const CommandHelp help = Describe(app);
  std::vector<std::string_view> known;
  for (const OptionHelp& option : help.options) {
    known.insert(known.end(), option.names.begin(), option.names.end());
  }
  return UnknownWord("option", word.substr(0, word.find('=')), known);
}

// Of a line without a command that could run, CLI11 says only that it requires one.
std::optional<ParsedCommandLine> WithoutCommand(const CLI::App& app,
                                                const std::vector<std::string>& words) {
  Named at{&app, ""};
  const auto option =
      std::ranges::find_if(words, [](const std::string& word) { return word.starts_with('-'); });
  const std::span<const std::string> names(words.begin(), option);
  if (auto wrong = Descend(at, names)) return wrong;
  if (SubcommandsOf(*at.app).empty()) return std::nullopt;
  if (option == words.end()) {
    return ParsedCommandLine{
        .command = std::nullopt, .text = at.Help(), .exit_status = kUsageError};
  }
  if (at.app->get_option_no_throw(*option) != nullptr) return std::nullopt;
  return Usage(at, UnknownOption(*at.app, *option));
}

std::string Joined(const std::vector<std::string>& words) {
  std::string joined;
  for (const std::string& word : words) joined += " " + word;
  return joined;
}

ParsedCommandLine Help(const CLI::App& app, const std::vector<std::string>& words) {
  Named at{&app, ""};
  if (auto wrong = Descend(at, words)) return *std::move(wrong);
  const bool whole = at.full_name() == kName + Joined(words);
  if (!whole) return Usage(at, fmt::format("unexpected argument '{}'", words.back()));
  return {.command = std::nullopt, .text = at.Help(), .exit_status = 0};
}

ParsedCommandLine Unexpected(const CLI::App& app) {
  Named at{&app, ""};
  for (auto subs = at.app->get_subcommands(); !subs.empty(); subs = at.app->get_subcommands()) {
    at = {subs.front(), at.full_name()};
  }
  const std::vector<std::string> words = at.app->remaining();
  if (words.empty()) return Usage(at, "there are words that no command expects");
  const std::string& word = words.front();
  return Usage(at, word.starts_with('-') ? UnknownOption(*at.app, word)
                                         : fmt::format("unexpected argument '{}'", word));
}

// Of the command that was given: one is.
std::string NameOf(const CLI::App& app) { return app.get_subcommands().front()->get_name(); }

Command Chosen(const CLI::App& app, Values values) {
  const std::string name = NameOf(app);
  if (name == "serve") {
    for (const std::string& text : values.listen) {
      values.serve.listen.push_back(*ParseListenAddress(text));
    }
    if (!values.idle_exit.empty()) values.serve.idle_exit = *ParseDuration(values.idle_exit);
    return std::move(values.serve);
  }
  if (name == "call") return std::move(values.call);
  if (name == "doctor") return std::move(values.doctor);
  if (name == "audit") {
    const bool show = app.get_subcommand("audit")->got_subcommand("show");
    if (show) return std::move(values.audit_show);
    return std::move(values.verify);
  }
  if (name == "init") return std::move(values.init);
  if (name == "connect") return ConnectCommand{*ParseListenAddress(values.connect)};
  if (name == "top") {
    for (const std::string& text : values.top_addresses) {
      values.top.addresses.push_back(*ParseListenAddress(text));
    }
    if (!values.top_interval.empty()) values.top.interval = *ParseDuration(values.top_interval);
    return std::move(values.top);
  }
  if (name == "token") {
    const CLI::App* token = app.get_subcommand("token");
    if (token->got_subcommand("new")) return std::move(values.token_new);
    if (token->got_subcommand("list")) return values.token_list;
    return std::move(values.token_revoke);
  }
  if (name == "tenant") {
    const CLI::App* tenant = app.get_subcommand("tenant");
    if (tenant->got_subcommand("add")) return std::move(values.tenant_add);
    if (tenant->got_subcommand("list")) return std::move(values.tenant_list);
    return std::move(values.tenant_remove);
  }
  if (name == "trash") {
    const bool restore = app.get_subcommand("trash")->got_subcommand("restore");
    if (restore) return std::move(values.trash_restore);
    return std::move(values.trash_list);
  }
  const CLI::App* policy = app.get_subcommand("policy");
  if (policy->got_subcommand("check")) return std::move(values.check);
  if (policy->got_subcommand("show")) return std::move(values.show);
  if (policy->got_subcommand("schema")) return PolicySchemaCommand{};
  if (policy->got_subcommand("allow")) return std::move(values.allow);
  return std::move(values.explain);
}

}  // namespace

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv) {
  return ParseCommandLine(argc, argv, TerminalWidth(STDOUT_FILENO));
}

ParsedCommandLine ParseCommandLine(int argc, const char* const* argv, std::size_t width) {
  CLI::App app(kAbout, kName);
  Values values;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  AddCommands(app, &values, width, words.empty() ? "" : words.front());
  if (auto without = WithoutCommand(app, words)) return *std::move(without);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError&) {
    return Unexpected(app);
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const int status = app.exit(error, out, out);
    return {
        .command = std::nullopt, .text = out.str(), .exit_status = status == 0 ? 0 : kUsageError};
  }
  if (NameOf(app) == "help") {
    app.clear();  // else its help is that of the command that it has parsed
    return Help(app, values.help);
  }
  return {.command = Chosen(app, std::move(values)), .text = "", .exit_status = 0};
}

CommandHelp DescribeCommandLine() {
  CLI::App app(kAbout, kName);
  Values values;
  AddCommands(app, &values, 0, "");
  return Describe(app);
}

}  // namespace pa
