#include "supervisor/cli/doctor.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"

namespace pa {
namespace {

using sandbox::Level;

// A machine on which nothing is missing.
DoctorReport Healthy() {
  DoctorReport report;
  report.enforcement = sandbox::Assess({}, {}, {.landlock_abi = 7, .seccomp_filter = true});
  report.programs = {{"make", "/usr/bin/make", ""}};
  report.worker = "/usr/libexec/project-actions/project-actions-worker";
  report.probe_denied = {"read a file outside"};
  report.relaxations.emplace();
  return report;
}

TEST(Doctor, AHealthyMachineIsComplete) {
  EXPECT_TRUE(Healthy().Complete());
  EXPECT_NE(FormatDoctorText(Healthy()).find(
                "Every protection that the default policy requires is enforced."),
            std::string::npos);
}

TEST(Doctor, WhatIsNotEnforcedAndNotRequiredIsNamedBesideTheVerdict) {
  DoctorReport report = Healthy();
  const std::string not_required = "is enforced. It does not require: ";
  for (auto& protection : report.enforcement.protections) protection.level = Level::kEnforced;
  EXPECT_FALSE(FormatDoctorText(report).contains(not_required));
  for (auto& protection : report.enforcement.protections) {
    if (!protection.promised) protection.level = Level::kNot;
  }
  ASSERT_TRUE(report.Enforceable());
  const std::string text = FormatDoctorText(report);
  EXPECT_TRUE(text.contains(not_required)) << text;
  EXPECT_TRUE(text.substr(text.find(not_required)).contains("disk_space")) << text;
}

TEST(Doctor, WhateverIsMissingMakesItIncomplete) {
  auto broken = [](auto change) {
    DoctorReport report = Healthy();
    change(report);
    const std::string text = FormatDoctorText(report);
    EXPECT_EQ(text.find("is NOT enforced") != std::string::npos, report.policy_errors.empty());
    EXPECT_EQ(text.find("Nothing starts with this policy") != std::string::npos,
              !report.policy_errors.empty());
    return !report.Complete();
  };
  EXPECT_TRUE(broken([](auto& r) { r.enforcement = sandbox::Assess({}, {}, {}); }));
  EXPECT_TRUE(broken([](auto& r) { r.probe_allowed = {"read a file outside"}; }));
  EXPECT_TRUE(broken([](auto& r) { r.probe_denied.clear(); }));
  EXPECT_TRUE(broken([](auto& r) { r.probe_error = "worker died"; }));
  EXPECT_TRUE(broken([](auto& r) { r.worker.clear(); }));
  EXPECT_TRUE(broken([](auto& r) { r.policy_errors = {"policy.yaml:1:1: ..."}; }));
}

TEST(Doctor, SaysWhatTheServerItselfCanDo) {
  DoctorReport report = Healthy();
  report.server_error = "EPERM";
  EXPECT_TRUE(FormatDoctorText(report).contains("not known: EPERM"));
  EXPECT_FALSE(FormatDoctorJson(report).contains(R"("can")"));
  report.server_error = "";
  report.server_can.emplace();
  EXPECT_TRUE(FormatDoctorText(report).contains("it opens no files but its own"));
  EXPECT_TRUE(FormatDoctorJson(report).contains(R"("server":{"error":"","can":[]})"));
  report.server_can = {"start programs"};
  EXPECT_TRUE(FormatDoctorText(report).contains("it can: start programs"));
  EXPECT_TRUE(FormatDoctorJson(report).contains(R"("can":["start programs"])"));
}

TEST(Doctor, AMissingProgramIsNamedWithAdviceButBreaksNoProtection) {
  DoctorReport report = Healthy();
  report.programs = {{"git", "", "install git to use git_add and git_commit"}};
  EXPECT_TRUE(report.Complete());
  EXPECT_NE(FormatDoctorText(report).find("install git"), std::string::npos);
}

TEST(Doctor, TextAndJsonNameEveryProtection) {
  const DoctorReport report = Healthy();
  const std::string text = FormatDoctorText(report);
  const auto json = ParseJson(FormatDoctorJson(report));
  ASSERT_TRUE(json) << json.error().Message();
  const auto& protections = json->Find("protections")->Items();
  ASSERT_EQ(protections.size(), report.enforcement.protections.size());
  ASSERT_FALSE(protections.empty());
  for (std::size_t i = 0; i < protections.size(); ++i) {
    const std::string& name = report.enforcement.protections[i].name;
    EXPECT_EQ(protections[i].Find("name")->AsString(), name);
    EXPECT_NE(text.find(name), std::string::npos);
  }
  EXPECT_EQ(json->Find("complete")->AsBool(), true);
}

TEST(Doctor, WithoutACgroupItSaysWhyAndWhatToDo) {
  DoctorReport report = Healthy();
  EXPECT_EQ(FormatDoctorText(report).find("no cgroup"), std::string::npos);
  report.enforcement.kernel.no_cgroup = "use cgroup \"/x\": EACCES";
  EXPECT_NE(FormatDoctorText(report).find(
                "no cgroup: use cgroup \"/x\": EACCES; how to get one: project-actions(7)"),
            std::string::npos);
  report = Healthy();
  report.enforcement.kernel.cgroup = sandbox::KernelFeatures::Granted::kYes;
  EXPECT_NE(FormatDoctorText(report).find("yes (without the controller cpu)"), std::string::npos);
  report.enforcement.kernel.cgroup_cpu = true;
  EXPECT_EQ(FormatDoctorText(report).find("without the controller"), std::string::npos);
}

TEST(Doctor, WhatThePolicyRelaxesIsSaidInFull) {
  DoctorReport report = Healthy();
  const auto text = [&] { return FormatDoctorText(report); };
  const auto json = [&] { return ParseJson(FormatDoctorJson(report)).value(); };
  EXPECT_NE(text().find("Relaxed by the policy\n  nothing"), std::string::npos) << text();
  EXPECT_EQ(json().Find("relaxations")->Dump(), "[]");
  report.relaxations = {{policy::FullNetwork(), "network", "full", {"policy.yaml", 2, 10}, ""}};
  EXPECT_NE(text().find("Relaxed by the policy\n  full_network (network: full, policy.yaml:2:10): "
                        "commands can send"),
            std::string::npos)
      << text();
  EXPECT_EQ(json().Find("relaxations")->Items().at(0).Find("from")->AsString(), "policy.yaml:2:10");
  EXPECT_TRUE(report.Complete()) << "the machine can enforce what the policy leaves";
  report.relaxations.reset();
  EXPECT_NE(text().find("not known: the policy has errors"), std::string::npos) << text();
  EXPECT_EQ(json().Find("relaxations"), nullptr);
}

TEST(Doctor, WarningsOfThePolicyAreSaidAndBreakNothing) {
  DoctorReport report = Healthy();
  EXPECT_EQ(FormatDoctorText(report).find("warning"), std::string::npos);
  report.policy_warnings = {"roots: '/p/.venv/a.py' is a hard link"};
  EXPECT_NE(FormatDoctorText(report).find("  warning: roots: '/p/.venv/a.py' is"),
            std::string::npos);
  const auto json = ParseJson(FormatDoctorJson(report)).value();
  EXPECT_EQ(json.Find("policy")->Find("warnings")->Items().at(0).AsString(),
            report.policy_warnings[0]);
  EXPECT_TRUE(report.Complete());
}

TEST(Doctor, WhereCallsAreRecorded) {
  DoctorReport report = Healthy();
  const auto text = [&] { return FormatDoctorText(report); };
  const auto json = [&] { return ParseJson(FormatDoctorJson(report)).value(); };
  EXPECT_EQ(text().find("recorded"), std::string::npos);
  report.audit_log = "/var/log/audit.jsonl";
  EXPECT_NE(text().find("  every call is recorded in /var/log/audit.jsonl\n"), std::string::npos);
  EXPECT_EQ(json().Find("policy")->Find("audit_log")->AsString(), "/var/log/audit.jsonl");
  report.audit_log = "";
  EXPECT_NE(text().find("  calls are not recorded\n"), std::string::npos);
  EXPECT_EQ(json().Find("policy")->Find("audit_log")->AsString(), "");
}

TEST(Doctor, ColoursOnlyWhenAsked) {
  EXPECT_EQ(FormatDoctorText(Healthy()).find('\x1b'), std::string::npos);
  EXPECT_NE(FormatDoctorText(Healthy(), {.colours = true}).find('\x1b'), std::string::npos);
}

TEST(Doctor, TheTextFitsTheTerminal) {
  DoctorReport report = Healthy();
  report.enforcement.protections.front().why =
      "a reason that is longer than a line of a terminal, which has eighty columns, and goes on "
      "below itself";
  for (const bool colours : {false, true}) {
    std::istringstream text(FormatDoctorText(report, {.colours = colours, .width = 80}));
    for (std::string line; std::getline(text, line);) {
      const std::size_t painted = colours && line.contains('\x1b') ? 9 : 0;
      EXPECT_LE(line.size(), 80u + painted) << line;
    }
  }
  const std::string text = FormatDoctorText(report, {.width = 80});
  const std::string below = "\n" + std::string(23, ' ');
  const std::size_t reason = text.find(below + "a reason");
  ASSERT_NE(reason, text.npos) << text;
  EXPECT_NE(text.find(below, reason + 1), text.npos) << text;
}

}  // namespace
}  // namespace pa
