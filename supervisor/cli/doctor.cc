#include "supervisor/cli/doctor.h"

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "base/json_writer.h"
#include "supervisor/loop/version.h"
#include "supervisor/text/wrap.h"

namespace pa {
namespace {

constexpr const char* kRed = "\x1b[31m";
constexpr const char* kYellow = "\x1b[33m";
constexpr const char* kGreen = "\x1b[32m";

class Painter {
 public:
  explicit Painter(bool colours) : colours_(colours) {}
  std::string operator()(const char* colour, std::string_view text) const {
    return colours_ ? fmt::format("{}{}\x1b[0m", colour, text) : std::string(text);
  }

 private:
  bool colours_;
};

const char* ColourOf(sandbox::Level level) {
  switch (level) {
    case sandbox::Level::kEnforced:
      return kGreen;
    case sandbox::Level::kPartly:
      return kYellow;
    case sandbox::Level::kNot:
      return kRed;
  }
  return kRed;
}

const char* GrantedWord(sandbox::KernelFeatures::Granted granted) {
  using Granted = sandbox::KernelFeatures::Granted;
  if (granted == Granted::kUnknown) return "not tried";
  return granted == Granted::kYes ? "yes" : "no";
}

std::string KernelLine(const sandbox::KernelFeatures& kernel) {
  const std::string landlock =
      kernel.landlock_abi > 0
          ? fmt::format("Landlock ABI {}", kernel.landlock_abi)
          : fmt::format("NO Landlock ({})", strerrorname_np(kernel.landlock_errno));
  const std::string cgroup =
      kernel.no_cgroup.empty()
          ? ""
          : fmt::format("\n  no cgroup: {}; how to get one: project-actions(7)", kernel.no_cgroup);
  const bool no_cpu = kernel.cgroup == sandbox::KernelFeatures::Granted::kYes && !kernel.cgroup_cpu;
  const std::string overlay =
      kernel.no_overlay.empty()
          ? ""
          : fmt::format(
                "\n  no copy of a repository: {}; hooks and filters change the repository "
                "itself, and protected paths in it are verified afterwards; the module "
                "overlay and a state directory that lies on no overlayfs may help: "
                "project-actions(7)",
                kernel.no_overlay);
  return fmt::format("Linux {}, {}, seccomp {}, namespaces {}, delegated cgroup {}{}{}{}",
                     kernel.release, landlock, kernel.seccomp_filter ? "yes" : "NO",
                     GrantedWord(kernel.namespaces), GrantedWord(kernel.cgroup),
                     no_cpu ? " (without the controller cpu)" : "", cgroup, overlay);
}

void AppendProtections(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nProtections of a command under the default policy\n";
  for (const sandbox::Protection& protection : report.enforcement.protections) {
    const std::string padded = fmt::format("{:<9}", sandbox::LevelName(protection.level));
    *out += fmt::format("  {:<20} {}  {}\n", protection.name,
                        paint(ColourOf(protection.level), padded), protection.by);
    if (!protection.why.empty()) *out += fmt::format("  {:<20} {}\n", "", protection.why);
  }
}

void AppendProbe(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nProbe: a confined child tried what must fail\n";
  if (!report.probe_error.empty()) {
    *out += fmt::format("  {}: {}\n", paint(kRed, "not run"), report.probe_error);
    return;
  }
  *out += fmt::format("  {} of {} attempts were denied\n", report.probe_denied.size(),
                      report.probe_denied.size() + report.probe_allowed.size());
  for (const std::string& name : report.probe_allowed) {
    *out += fmt::format("  {}: {}\n", paint(kRed, "NOT denied"), name);
  }
}

void AppendServer(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nServer: it confined itself and tried what must fail\n";
  if (!report.server_can) {
    *out += fmt::format("  {}: {}\n", paint(kRed, "not known"), report.server_error);
  } else if (report.server_can->empty()) {
    *out += "  it opens no files but its own, starts no program and connects to nothing\n";
  } else {
    for (const std::string& what : *report.server_can) {
      *out += fmt::format("  {}: {}\n", paint(kYellow, "it can"), what);
    }
  }
}

void AppendPrograms(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nPrograms\n";
  for (const FoundProgram& program : report.programs) {
    *out += program.path.empty() ? fmt::format("  {:<8} {} - {}\n", program.name,
                                               paint(kYellow, "not found"), program.advice)
                                 : fmt::format("  {:<8} {}\n", program.name, program.path);
  }
  *out += report.worker.empty() ? fmt::format("  {:<8} {} - {}\n", "worker",
                                              paint(kRed, "not found"), report.worker_error)
                                : fmt::format("  {:<8} {}\n", "worker", report.worker);
}

void AppendPolicy(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nPolicy\n";
  if (report.policy_files.empty() && report.policy_errors.empty()) {
    *out += "  built-in defaults; no policy file was found\n";
  }
  for (const std::string& file : report.policy_files) *out += fmt::format("  {}\n", file);
  for (const std::string& error : report.policy_errors) {
    *out += fmt::format("  {}: {}\n", paint(kRed, "error"), error);
  }
  for (const std::string& warning : report.policy_warnings) {
    *out += fmt::format("  {}: {}\n", paint(kYellow, "warning"), warning);
  }
  for (const std::string& path : report.kept_edits) {
    *out += fmt::format(
        "  {}: a crash left this edit unfinished, and it was not restored; "
        "remove {} when its files are correct\n",
        paint(kYellow, "kept"), path);
  }
  if (!report.audit_log) return;
  const bool recorded = !report.audit_log->empty();
  *out += recorded ? fmt::format("  every call is recorded in {}\n", *report.audit_log)
                   : fmt::format("  {}\n", paint(kYellow, "calls are not recorded"));
}

// In full, like the protections: who reads `doctor` shall not have to look up what a name means.
void AppendRelaxations(const DoctorReport& report, const Painter& paint, std::string* out) {
  *out += "\nRelaxed by the policy\n";
  if (!report.relaxations) {
    *out += "  not known: the policy has errors\n";
  } else if (report.relaxations->empty()) {
    *out += "  nothing: commands have no more than the built-in defaults give\n";
  } else {
    for (const policy::Relaxation& relaxation : *report.relaxations) {
      *out += fmt::format("  {}\n", paint(kYellow, relaxation.Format()));
    }
  }
}

// So that nobody reads "every" beneath a "not" and wonders which of the two is true.
std::string NotRequired(const DoctorReport& report) {
  std::string names;
  for (const sandbox::Protection& protection : report.enforcement.protections) {
    if (protection.level != sandbox::Level::kNot) continue;
    names += (names.empty() ? "" : ", ") + protection.name;
  }
  return names.empty() ? "" : " It does not require: " + names + ".";
}

// Explanations go on below themselves; other lines a little further in.
std::string WrappedLines(std::string_view text, std::size_t width) {
  constexpr std::size_t kDeep = 8;
  std::string out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t lead = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t indent = lead < kDeep ? lead + 2 : lead;
    out += line.substr(0, lead);
    out += Wrapped(line.substr(lead), {.width = width, .indent = indent}) + "\n";
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return out;
}

}  // namespace

bool DoctorReport::Enforceable() const {
  return enforcement.Full() && probe_error.empty() && probe_allowed.empty() &&
         !probe_denied.empty() && !worker.empty();
}

bool DoctorReport::Complete() const { return Enforceable() && policy_errors.empty(); }

std::string FormatDoctorText(const DoctorReport& report, const DoctorLook& look) {
  const Painter paint(look.colours);
  std::string out =
      fmt::format("project-actions {}\n{}\n", kVersion, KernelLine(report.enforcement.kernel));
  AppendProtections(report, paint, &out);
  AppendProbe(report, paint, &out);
  AppendServer(report, paint, &out);
  AppendPrograms(report, paint, &out);
  AppendPolicy(report, paint, &out);
  AppendRelaxations(report, paint, &out);
  out += report.Enforceable()
             ? "\n" +
                   paint(kGreen, "Every protection that the default policy requires is enforced.") +
                   NotRequired(report) + "\n"
             : "\n" + paint(kRed, "A protection that the default policy requires is NOT enforced") +
                   ": see the protections and the probe above. Commands whose protections are "
                   "missing do not run.\n";
  if (!report.policy_errors.empty()) {
    out +=
        paint(kRed, "Nothing starts with this policy") + ": mend the errors under Policy above.\n";
  }
  return WrappedLines(out, look.width);
}

std::string FormatDoctorJson(const DoctorReport& report) {
  JsonWriter w;
  w.BeginObject().Field("version", kVersion).Field("complete", report.Complete());
  const sandbox::KernelFeatures& kernel = report.enforcement.kernel;
  w.Key("kernel").BeginObject().Field("release", kernel.release);
  w.Field("landlock_abi", kernel.landlock_abi).Field("seccomp", kernel.seccomp_filter);
  w.Field("namespaces", GrantedWord(kernel.namespaces));
  w.Field("no_namespaces", kernel.no_namespaces);
  w.Field("cgroup", GrantedWord(kernel.cgroup)).Field("cgroup_cpu", kernel.cgroup_cpu);
  w.Field("no_cgroup", kernel.no_cgroup);
  w.Field("overlay", GrantedWord(kernel.overlay)).Field("no_overlay", kernel.no_overlay);
  w.EndObject();
  w.Key("protections").BeginArray();
  for (const sandbox::Protection& protection : report.enforcement.protections) {
    w.BeginObject().Field("name", protection.name);
    w.Field("level", sandbox::LevelName(protection.level));
    w.Field("by", protection.by).Field("why", protection.why).EndObject();
  }
  w.EndArray().Key("probe").BeginObject().Field("error", report.probe_error);
  w.Key("denied").BeginArray();
  for (const std::string& name : report.probe_denied) w.String(name);
  w.EndArray().Key("allowed").BeginArray();
  for (const std::string& name : report.probe_allowed) w.String(name);
  w.EndArray().EndObject().Key("server").BeginObject().Field("error", report.server_error);
  if (report.server_can) {
    w.Key("can").BeginArray();
    for (const std::string& what : *report.server_can) w.String(what);
    w.EndArray();
  }
  w.EndObject().Key("programs").BeginArray();
  for (const FoundProgram& program : report.programs) {
    w.BeginObject().Field("name", program.name).Field("path", program.path).EndObject();
  }
  w.EndArray().Field("worker", report.worker).Key("policy").BeginObject().Key("files").BeginArray();
  for (const std::string& file : report.policy_files) w.String(file);
  w.EndArray().Key("errors").BeginArray();
  for (const std::string& error : report.policy_errors) w.String(error);
  w.EndArray().Key("warnings").BeginArray();
  for (const std::string& warning : report.policy_warnings) w.String(warning);
  w.EndArray();
  if (report.audit_log) w.Field("audit_log", *report.audit_log);
  w.EndObject().Key("kept_edits").BeginArray();
  for (const std::string& path : report.kept_edits) w.String(path);
  w.EndArray();
  if (report.relaxations) {
    w.Key("relaxations");
    policy::WriteRelaxations(w, *report.relaxations);
  }
  return std::move(w.EndObject()).Take();
}

}  // namespace pa
