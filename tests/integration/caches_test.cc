// The cache of a project through the real server: its own is there, another project's is shut, and
// a state directory that cannot be used is no failure.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "tests/support/project.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

// OTHER is what another project's build left behind.
constexpr std::string_view kCachesMakefile =
    R"(SEEN := $(shell cat $$XDG_CACHE_HOME/kept 2>/dev/null)

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

  Project project_{kCachesMakefile};
};
INSTANTIATE_TEST_SUITE_P(Tiers, Caches, ::testing::Values("auto", "off"),
                         [](const auto& which) { return std::string(which.param); });

Json Call(McpClient& client, const char* target, const fs::path& directory = {}) {
  Json arguments = {{"target", target}};
  if (!directory.empty()) arguments["working_directory"] = directory.string();
  return client.CallTool("make", arguments);
}

// Debian 12's Maven knows one repository, and may not make the user's.
TEST_P(Caches, MavenWorksWithoutTheUsersRepository) {
  if (access("/usr/bin/mvn", X_OK) != 0) GTEST_SKIP() << "Maven is not installed";
  WriteText(project_.root() / "pom.xml",
            "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId>"
            "<artifactId>x</artifactId><version>1</version><packaging>pom</packaging></project>");
  WriteText(project_.root() / "Makefile", ".PHONY: all\nall:\n\tmvn -B --offline validate\n");
  McpClient client = Client();
  client.Initialize();
  const Json result = Call(client, "all");
  EXPECT_TRUE(result["success"]) << result;
  std::size_t repositories = 0;
  for (const auto& entry : fs::directory_iterator(State() / "project-actions/caches")) {
    repositories += fs::is_directory(entry.path() / "m2") ? 1 : 0;
  }
  EXPECT_EQ(repositories, 1u);
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
            "OTHER = " + kept.string() + "\n" + std::string(kCachesMakefile));
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

// The name of a directory's cache is its path, and a name has 255 bytes at most.
TEST_P(Caches, LongPathsHaveTheirsInPartsAndTheLongestNone) {
  McpClient client = Client();
  client.Initialize();
  const auto make = [&](std::size_t size) {
    fs::path directory = fs::canonical(project_.root());
    while (directory.native().size() + 102 < size) directory /= std::string(100, 'd');
    directory /= std::string(size - directory.native().size() - 1, 'e');
    WriteText(directory / "Makefile", kCachesMakefile);
    return directory;
  };
  for (const std::size_t size : {269u, 1500u}) {
    const fs::path directory = make(size);
    EXPECT_EQ(Call(client, "keep", directory)["data"]["stdout"], "kept\n") << size;
    EXPECT_EQ(Call(client, "keep", directory)["data"]["stdout"], "kept\nkept\n") << size;
  }
  Json longest = Call(client, "where", make(3900));
  EXPECT_EQ(longest["data"]["stdout"], "cache=\n") << longest;
  EXPECT_NE(longest["meta"]["warnings"].dump().find("no cache to write"), std::string::npos);
}

TEST_P(Caches, JavaIsToldOfTheTmpdirWhereTmpIsNotItsOwn) {
  McpClient client = Client();
  client.Initialize();
  Json result = Call(client, "tmp");
  EXPECT_TRUE(result["success"]) << result;
}

// The user has moved it to another disk: caches, the audit log, the trash and the journal of edits
// lie there.
TEST_P(Caches, TheStateDirectoryMayBeASymlink) {
  const TempDir disk;
  fs::create_directories(State());
  fs::create_directory_symlink(disk.path(), State() / "project-actions");
  McpClient client = Client();
  client.Initialize();
  EXPECT_EQ(Call(client, "keep")["data"]["stdout"], "kept\n");
  EXPECT_EQ(Call(client, "keep")["data"]["stdout"], "kept\nkept\n");
  for (const char* name : {"one", "two"}) WriteText(project_.root() / name, "before\n");
  const Json edited =
      client.CallTool("edit", {{"edits",
                                {{{"path", "one"}, {"old", "before"}, {"new", "after"}},
                                 {{"path", "two"}, {"old", "before"}, {"new", "after"}}}}});
  EXPECT_EQ(edited["success"], true) << edited;
  EXPECT_EQ(client.CallTool("delete", {{"path", "one"}})["success"], true);
  for (const char* name : {"caches", "audit/audit.jsonl", "trash", "edits"}) {
    EXPECT_TRUE(fs::exists(disk.path() / name)) << name;
  }
}

// One that a command can exchange would lead its writes to where it likes.
TEST_P(Caches, ASymlinkThatCommandsCanExchangeIsNotFollowed) {
  const fs::path planted = project_.root() / "state/project-actions";
  fs::create_directories(planted.parent_path());
  fs::create_directory_symlink(project_.outside(), planted);
  const fs::path policy = project_.home() / ".config/project-actions/policy.yaml";
  WriteText(policy, ReadText(policy) + "audit: {to: none}\n");
  ServerOptions options = project_.Server();
  options.arguments = {"--enable", "all", "--root", project_.root()};
  options.environment.push_back("XDG_STATE_HOME=" + planted.parent_path().string());
  McpClient client(options);
  client.Initialize();
  Json result = Call(client, "where");
  EXPECT_EQ(result["data"]["stdout"], "cache=\n") << result;
  EXPECT_NE(result["meta"]["warnings"].dump().find("exchange a symlink"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(project_.outside()));
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
