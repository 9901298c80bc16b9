#include "policy/relaxations.h"

#include <algorithm>

#include "base/utf8.h"
#include "policy/access.h"
#include "policy/decide.h"
#include "policy/fragment.h"
#include "policy/host_files.h"
#include "policy/keys.h"
#include "policy/path.h"
#include "policy/policy.h"

namespace pa::policy {
namespace {

// What these bound is not one command.
constexpr std::string_view kServerLimits[] = {"limits.output_inline",  "limits.output_total",
                                              "limits.commit_message", "limits.concurrent",
                                              "limits.queue",          "limits.calls_per_minute"};

bool Enables(const Located<Strings>& tools, std::string_view name) {
  return std::ranges::any_of(tools.value, [&](const Located<std::string>& tool) {
    return tool.value == name || tool.value == "all";
  });
}

// Appends what is weaker than the built-in default, and leaves out what is not.
class RelaxationFinder {
 public:
  explicit RelaxationFinder(const std::string& home) : home_(home) {}

  void Roots(const Located<Strings>& roots) {
    for (const Located<std::string>& root : roots.value) {
      std::string price = PriceOf(root.value, home_);
      if (!price.empty()) {
        found_.push_back({RootWithSecrets(), "roots", root.value, root.at, std::move(price)});
      }
    }
  }
  void Tools(const Located<Strings>& tools) {
    for (const Located<std::string>& tool : tools.value) {
      if (tool.value == "all") found_.push_back({EveryTool(), "tools.enable", "all", tool.at, ""});
    }
  }
  // Hosts ask by the name of a tool, and see the outer call alone.
  void InnerTools(const PolicyFragment& merged, std::span<const std::string> read_only_tools) {
    const Located<Strings>& on = *merged.tools_enable;
    const auto calls = [](const Located<std::string>& tool) {
      return MakesCalls(tool.value) || tool.value == "all";
    };
    if (std::ranges::none_of(on.value, calls)) return;
    for (const Located<std::string>& tool : merged.pipeline_tools->value) {
      const bool read_only =
          std::ranges::find(read_only_tools, tool.value) != read_only_tools.end();
      if (MakesCalls(tool.value) || read_only || !Enables(on, tool.value)) continue;
      found_.push_back({InnerTool(), "pipeline.tools", tool.value, tool.at, ""});
    }
  }
  void Paths(RelaxationType type, const char* key, const Located<Strings>& paths) {
    for (const Located<std::string>& path : paths.value) {
      found_.push_back({type, key, path.value, path.at, PriceOf(path.value, home_)});
    }
  }
  void Unprotected(const Located<Strings>& paths) {
    for (const Located<std::string>& path : paths.value) {
      found_.push_back({UnprotectedPath(), "filesystem.unprotect", path.value, path.at,
                        FindHostFile(path.value)->Reason()});
    }
  }
  void Choice(RelaxationType type, const char* key, const Located<std::string>& chosen,
              std::string_view weaker) {
    if (chosen.value == weaker) found_.push_back({type, key, chosen.value, chosen.at, ""});
  }
  void Variables(const PolicyFragment& merged) {
    for (const Located<std::string>& name : merged.environment_pass->value) {
      found_.push_back({PassedVariable(), "environment.pass", name.value, name.at, ""});
    }
    for (const Variable& variable : merged.environment_set->value) {
      found_.push_back(
          {SetVariable(), "environment.set", variable.name.value, variable.name.at, ""});
    }
  }
  void Limits(const PolicyFragment& merged) {
    const PolicyFragment defaults = DefaultFragment();
    for (const Key& key : PolicyKeys()) {
      if (key.IsLimit()) {
        Limit(key, merged.limits.find(key.name)->second, defaults.limits.find(key.name)->second);
      }
    }
  }

  std::vector<Relaxation> Take() && { return std::move(found_); }

 private:
  void Limit(const Key& key, const Located<std::uint64_t>& limit,
             const Located<std::uint64_t>& built_in) {
    if (limit.value <= built_in.value) return;
    const bool servers = std::ranges::find(kServerLimits, key.name) != std::end(kServerLimits);
    const RelaxationType type =
        servers ? RelaxationType(RaisedServerLimit()) : RelaxationType(RaisedLimit());
    found_.push_back({type, std::string(key.name), FormatLimit(key, limit.value), limit.at,
                      "built in: " + FormatLimit(key, built_in.value)});
  }

  const std::string& home_;
  std::vector<Relaxation> found_;
};

bool Reaches(Reach reach, Purpose purpose) {
  switch (reach) {
    case Reach::kServer:
      return false;
    case Reach::kBuilds:
      return purpose == Purpose::kBuild;
    case Reach::kProject:
      return purpose == Purpose::kInspect || purpose == Purpose::kSearch ||
             purpose == Purpose::kBuild || purpose == Purpose::kGit ||
             purpose == Purpose::kGitCopy || purpose == Purpose::kGitAlone;
    case Reach::kPrograms:
      return purpose != Purpose::kReadFile && purpose != Purpose::kWriteFile;
    case Reach::kAll:
      return true;
  }
  return true;
}

}  // namespace

std::string_view Relaxation::Name() const {
  return std::visit([](auto one) { return one.kName; }, type);
}

std::string_view Relaxation::Why() const {
  return std::visit([](auto one) { return one.kWhy; }, type);
}

std::string Relaxation::Format() const {
  std::string text(Name());
  text += " (" + key + ": " + value + ", " + at.Format() + "): " + std::string(Why());
  if (!remark.empty()) text += "; " + remark;
  return RepairUtf8(text, true);
}

std::vector<Relaxation> FindRelaxations(const PolicyFragment& merged, const std::string& home,
                                        std::span<const std::string> read_only_tools) {
  RelaxationFinder find(home);
  find.Roots(*merged.roots);
  find.Tools(*merged.tools_enable);
  find.InnerTools(merged, read_only_tools);
  find.Paths(ReadablePath(), "filesystem.read", *merged.filesystem_read);
  find.Paths(WritablePath(), "filesystem.write", *merged.filesystem_write);
  find.Unprotected(*merged.filesystem_unprotect);
  find.Choice(LoopbackNetwork(), "network", *merged.network, "loopback");
  find.Choice(FullNetwork(), "network", *merged.network, "full");
  find.Choice(KeptJobs(), "jobs.keep", *merged.jobs_keep, "server");
  find.Choice(PublishedPorts(), "jobs.ports", *merged.jobs_ports, "loopback");
  find.Variables(merged);
  find.Choice(NoNamespaces(), "namespaces", *merged.namespaces, "off");
  find.Limits(merged);
  find.Choice(WritableRepository(), "git.commands", *merged.git_commands, "ask");
  find.Choice(WritableRepository(), "git.commands", *merged.git_commands, "write");
  find.Choice(NoAudit(), "audit.to", *merged.audit_to, "none");
  return std::move(find).Take();
}

std::vector<Relaxation> RelaxationsFor(const Policy& policy, Purpose purpose,
                                       const std::string& directory, bool writes_git) {
  std::vector<Relaxation> reaching;
  for (const Relaxation& relaxation : policy.relaxations) {
    if (!std::visit([&](auto type) { return Reaches(type.kReach, purpose); }, relaxation.type)) {
      continue;
    }
    const bool repository = std::holds_alternative<WritableRepository>(relaxation.type);
    if (repository && !writes_git) continue;
    Relaxation& added = reaching.emplace_back(relaxation);
    if (!std::holds_alternative<RootWithSecrets>(relaxation.type)) continue;
    // Of a root a call has the directory in which it works, and that may be one without secrets.
    const bool within = IsBeneath(directory, relaxation.value);
    added.remark = within ? PriceOf(directory, policy.home) : "";
    if (added.remark.empty()) reaching.pop_back();
  }
  return reaching;
}

void WriteRelaxations(JsonWriter& writer, const std::vector<Relaxation>& relaxations) {
  writer.BeginArray();
  for (const Relaxation& relaxation : relaxations) {
    writer.BeginObject().Field("name", relaxation.Name()).Field("key", relaxation.key);
    writer.Field("value", relaxation.value).Field("from", relaxation.at.Format());
    writer.Field("why", relaxation.Why());
    if (!relaxation.remark.empty()) writer.Field("remark", relaxation.remark);
    writer.EndObject();
  }
  writer.EndArray();
}

}  // namespace pa::policy
