// The cache of a project through the real server: its own is there, another project's is shut, and a
// state directory that cannot be used is no failure.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

// OTHER is what another project's build left behind.
constexpr std::string_view kMakefile = R"(SEEN := $(shell cat $$XDG_CACHE_HOME/kept 2>/dev/null)

.PHONY: keep steal read where seen tmp
keep:
	@mkdir -p $$XDG_CACHE_HOME && echo kept >>$$XDG_CACHE_HOME/kept && cat $$XDG_CACHE_HOME/kept
steal:
	@echo poison >$(OTHER)
read:
	@cat $(OTHER)
where:
	@echo cache=$$XDG_CACHE_HOME
seen:
	@echo seen $(SEEN)
tmp:
	@[ "$$JAVA_TOOL_OPTIONS" = -Djava.io.tmpdir=$$TMPDIR ] || [ "$$TMPDIR$$JAVA_TOOL_OPTIONS" = /tmp ]
)";

class Caches : public ::testing::TestWithParam<const char*> {
 protected:
  Caches() {
    WriteText(project_.home() / ".config/project-actions/policy.yaml",
              std::string("version: 1\nnamespaces: ") + GetParam() + "\nroots: [" +
                  project_.root().string() + ", " + project_.outside().string() + "]\n");
  }

  McpClient Client() {
    ServerOptions options = project_.Server();
    options.arguments = {"--enable", "all"};
    return McpClient(options);
  }
  fs::path State() { return fs::canonical(project_.home()) / ".local/state"; }

  Project project_{kMakefile};
};
INSTANTIATE_TEST_SUITE_P(Tiers, Caches, ::testing::Values("auto", "off"),
                         [](const auto& which) { return std::string(which.param); });

Json Call(McpClient& client, const char* target, const fs::path& directory = {}) {
  Json arguments = {{"target", target}};
  if (!directory.empty()) arguments["working_directory"] = directory.string();
  return client.CallTool("make", arguments);
}

TEST_P(Caches, LastFromCallToCallAndAreReadByDiscovery) {
  McpClient client = Client();
  client.Initialize();
  Json first = Call(client, "keep");
  EXPECT_EQ(first["data"]["stdout"], "kept\n") << first;
  EXPECT_EQ(Call(client, "keep")["data"]["stdout"], "kept\nkept\n");
  EXPECT_EQ(Call(client, "seen")["data"]["stdout"], "seen kept kept\n");
  Json dry = client.CallTool("make", {{"target", "seen"}, {"dry_run", true}});
  EXPECT_EQ(dry["data"]["would_print"], "echo seen kept kept\n") << dry;
  const std::string cache = State() / "project-actions/caches";
  EXPECT_NE(dry["data"]["confinement"].dump().find(cache), std::string::npos) << dry;
  EXPECT_NE(dry["data"]["confinement"].dump().find("cache of this project"), std::string::npos);
}

TEST_P(Caches, AreShutToOtherProjects) {
  McpClient client = Client();
  client.Initialize();
  ASSERT_TRUE(Call(client, "keep")["success"]);
  fs::path kept;
  for (const auto& entry : fs::recursive_directory_iterator(State() / "project-actions/caches")) {
    if (entry.path().filename() == "kept") kept = entry.path();
  }
  ASSERT_FALSE(kept.empty());
  WriteText(project_.outside() / "Makefile",
            "OTHER = " + kept.string() + "\n" + std::string(kMakefile));
  for (const char* target : {"steal", "read"}) {
    EXPECT_FALSE(Call(client, target, project_.outside())["success"]) << target;
  }
  EXPECT_EQ(ReadText(kept), "kept\n");
  // The twin: the same commands, by the project whose cache it is.
  WriteText(project_.root() / "Makefile", ReadText(project_.outside() / "Makefile"));
  EXPECT_EQ(Call(client, "read")["data"]["stdout"], "kept\n");
  EXPECT_TRUE(Call(client, "steal")["success"]);
  EXPECT_EQ(ReadText(kept), "poison\n");
}

TEST_P(Caches, JavaIsToldOfTheTmpdirWhereTmpIsNotItsOwn) {
  McpClient client = Client();
  client.Initialize();
  Json result = Call(client, "tmp");
  EXPECT_TRUE(result["success"]) << result;
}

TEST_P(Caches, AStateDirectoryThatCannotBeUsedIsAWarning) {
  WriteText(project_.home() / ".local", "a file");
  const fs::path policy = project_.home() / ".config/project-actions/policy.yaml";
  WriteText(policy, ReadText(policy) + "audit: {to: none}\n");  // it would lie there, too
  McpClient client = Client();
  client.Initialize();
  Json result = Call(client, "where");
  EXPECT_TRUE(result["success"]) << result;
  EXPECT_EQ(result["data"]["stdout"], "cache=\n");
  EXPECT_NE(result["meta"]["warnings"].dump().find("no cache to write"), std::string::npos);
}

}  // namespace
}  // namespace pa::testing
