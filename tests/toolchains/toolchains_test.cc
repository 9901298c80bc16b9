// Real toolchains on small projects, through the real server with the default policy: what `make
// test` of such a project does outside, it does inside, with namespaces and without.
//
// To add one: a directory with sources and a Makefile with a `test` target, its line in
// kToolchains, its name in meson.build, its packages in packaging/install-deps.sh (group
// toolchains), its row in docs/tools.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <set>
#include <span>
#include <string>

#include "tests/support/mcp_client.h"
#include "tests/support/run_program.h"
#include "tests/support/temp_dir.h"

namespace pa::testing {
namespace {

namespace fs = std::filesystem;

struct Toolchain {
  const char* name;     // of its directory
  const char* present;  // a shell command that fails and says why where it is not installed
  const char* prepare;  // what the user does outside beforehand; "" = nothing
  const char* proof;    // stands in the output of `make test`
  const char* cache;    // is there afterwards, in the project's cache; "" = nothing
};

constexpr const char* kNeedsC = "command -v cc >/dev/null || { echo no C compiler; exit 1; }";

constexpr Toolchain kToolchains[] = {
    {"c", kNeedsC, "", "words: 3 tests passed", ""},
    {"cmake",
     "for p in c++ cmake ctest; do command -v $p >/dev/null || { echo $p is not installed; exit 1; "
     "}; done",
     "", "100% tests passed", ""},
    {"python",
     "python3 -c 'import ensurepip, pytest' 2>/dev/null || { echo python3 with venv and pytest is "
     "not installed; exit 1; }",
     "python3 -m venv --system-site-packages .venv", "4 passed", ""},
    {"node",
     "node --test --version >/dev/null 2>&1 || { echo node 18 or newer is not installed; exit 1; "
     "}\n"
     "command -v npm >/dev/null || { echo npm is not installed; exit 1; }",
     "", "# pass 5", "npm"},
    {"rust",
     "cargo --version >/dev/null 2>&1 && rustc --version >/dev/null 2>&1 || { echo cargo and rustc "
     "are not installed; exit 1; }",
     "", "test src/lib.rs - count_words", ""},
    {"go", "command -v go >/dev/null || { echo go is not installed; exit 1; }", "",
     "packages: example.org/words/words", "go-build"},
    {"java",
     "mvn --version >/dev/null 2>&1 || { echo maven is not installed; exit 1; }\n"
     "[ -d /usr/share/maven-repo/org/apache/maven/plugins/maven-surefire-plugin ] && "
     "[ -d /usr/share/maven-repo/junit/junit/4.x ] || { echo no repository of the distribution "
     "with "
     "surefire and JUnit 4; exit 1; }",
     "", "Tests run: 4, Failures: 0, Errors: 0, Skipped: 0", "m2"},
};

// The distribution's programs: those in the home of whoever runs the tests are not in the test's
// home.
constexpr const char* kPath = "PATH=/usr/local/bin:/usr/bin:/bin";

enum class Tier { kAsGranted, kWithoutNamespaces };

struct Case {
  Toolchain toolchain;
  Tier tier;
};
void PrintTo(const Case& which, std::ostream* out) { *out << which.toolchain.name; }

class Toolchains : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    const Toolchain& toolchain = GetParam().toolchain;
    fs::create_directories(home_);
    const ProgramResult present = Shell(toolchain.present, dir_.path());
    if (present.exit_code != 0) return Missing(present.output);
    fs::copy(fs::path(BuiltProgram("PA_SAMPLES")) / toolchain.name, project_,
             fs::copy_options::recursive);
    const ProgramResult prepared = Shell(toolchain.prepare, project_);
    ASSERT_EQ(prepared.exit_code, 0) << prepared.output << prepared.errors;
    prepared_home_ = Names(home_);
  }

  // `make test-toolchains` has installed them all.
  void Missing(std::string why) {
    while (why.ends_with('\n')) why.pop_back();
    if (getenv("PA_TOOLCHAINS_REQUIRED") != nullptr) FAIL() << why;
    GTEST_SKIP() << why;
  }

  // As in a session of its own: nothing of the environment that the tests run in.
  ProgramResult Shell(const std::string& command, const fs::path& directory) {
    return RunProgram({.command = {"/usr/bin/env", "-i", kPath, "HOME=" + home_.string(),
                                   "TMPDIR=" + Tmp(), "/bin/sh", "-c", command},
                       .environment = {},
                       .directory = directory});
  }

  // The command line, because a build has no patience that is the same everywhere: meson's timeout
  // counts.
  Json Make(const char* target, const char* policy = nullptr) {
    return Call("make", {{"target", target}}, policy);
  }
  Json Call(const char* tool, const Json& arguments, const char* policy = nullptr) {
    std::vector<std::string> command = {BuiltProgram("PA_SERVER"), "call", tool, arguments.dump()};
    for (const char* option : {"--json", "--enable", "all"}) command.emplace_back(option);
    if (policy != nullptr) {
      WriteText(dir_.path() / "policy.yaml", std::string("version: 1\n") + policy);
      command.insert(command.end(), {"--policy", dir_.path() / "policy.yaml"});
    }
    const ProgramResult result = RunProgram(
        {.command = std::move(command),
         .environment = {kPath, "HOME=" + home_.string(), "LANG=C.UTF-8", "TMPDIR=" + Tmp()},
         .directory = project_});
    Json parsed = Json::parse(result.output, nullptr, /*allow_exceptions=*/false);
    EXPECT_FALSE(parsed.is_discarded()) << result.output << result.errors;
    return parsed;
  }

  Json MakeInTier(const char* target) {
    const bool off = GetParam().tier == Tier::kWithoutNamespaces;
    return Make(target, off ? "namespaces: off\n" : nullptr);
  }

  static std::string Tmp() {
    const char* tmp = getenv("TMPDIR");
    return tmp == nullptr ? "/tmp" : tmp;
  }

  static std::set<std::string> Names(const fs::path& directory) {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory))
      names.insert(entry.path().filename());
    return names;
  }

  // The one cache that there is.
  fs::path Cache() {
    const fs::path caches = home_ / ".local/state/project-actions/caches";
    EXPECT_EQ(Names(caches).size(), 1U);
    return caches / *Names(caches).begin();
  }

  TempDir dir_;
  fs::path home_ = fs::canonical(dir_.path()) / "home";
  fs::path project_ = fs::canonical(dir_.path()) / "project";
  std::set<std::string> prepared_home_;
};

std::string NameOf(const ::testing::TestParamInfo<Case>& info) {
  return std::string(info.param.toolchain.name) +
         (info.param.tier == Tier::kAsGranted ? "_default" : "_without_namespaces");
}

std::vector<Case> Cases(std::span<const Toolchain> toolchains) {
  std::vector<Case> cases;
  for (const Toolchain& toolchain : toolchains) {
    for (const Tier tier : {Tier::kAsGranted, Tier::kWithoutNamespaces}) {
      cases.push_back({toolchain, tier});
    }
  }
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Each, Toolchains, ::testing::ValuesIn(Cases(kToolchains)), NameOf);

TEST_P(Toolchains, BuildAndTestWithoutAPolicy) {
  const Toolchain& toolchain = GetParam().toolchain;
  Json result = MakeInTier("test");
  ASSERT_TRUE(result["success"]) << result.dump(1);
  EXPECT_NE(result["data"]["stdout"].get<std::string>().find(toolchain.proof), std::string::npos)
      << result.dump(1);
  EXPECT_FALSE(result["meta"].contains("warnings")) << result.dump(1);
  EXPECT_FALSE(fs::is_empty(Cache() / toolchain.cache) && *toolchain.cache != '\0');
  // Once more, with what the first run left in the cache and in the project.
  Json again = MakeInTier("test");
  EXPECT_TRUE(again["success"]) << again.dump(1);
  prepared_home_.insert(".local");
  EXPECT_EQ(Names(home_), prepared_home_) << "nothing of the home but our own state is written";
  EXPECT_EQ(Names(home_ / ".local/state"), std::set<std::string>{"project-actions"});
}

// What Python's semaphores and shared memory need can only be private in a view of the command's
// own.
using PythonPool = Toolchains;
constexpr Case kPython[] = {{kToolchains[2], Tier::kAsGranted}};
INSTANTIATE_TEST_SUITE_P(Each, PythonPool, ::testing::ValuesIn(kPython), NameOf);

TEST_P(PythonPool, MultiprocessingInNamespaces) {
  Json result = Make("test-pool", "namespaces: require\n");
  if (result["error"]["code"] == "SANDBOX_UNAVAILABLE") {
    GTEST_SKIP() << "namespaces are not granted here";
  }
  EXPECT_TRUE(result["success"]) << result.dump(1);
}

// What build tools clone into the project, and update there, from the user's repository `up`.
constexpr Toolchain kGitDependencies[] = {
    {"git_cmake", kToolchains[1].present, "", "", ""},
    {"git_python", kToolchains[2].present, "python3 -m venv .venv", "", ""},
    {"git_node", kToolchains[3].present, "", "", ""},
    {"git_rust", kToolchains[4].present, "", "", ""},
    {"git_go", kToolchains[5].present, "", "", ""},
};

using GitDependencies = Toolchains;
INSTANTIATE_TEST_SUITE_P(Each, GitDependencies, ::testing::ValuesIn(Cases(kGitDependencies)),
                         NameOf);

TEST_P(GitDependencies, AreFetchedAndUpdated) {
  const std::string release =
      "git -C up init -q -b main && git -C up add . && "
      "git -C up -c user.name=a -c user.email=b commit -q -m release";
  for (const char* version : {"version 1", "version 2"}) {
    const ProgramResult released = Shell(release, project_);
    ASSERT_EQ(released.exit_code, 0) << released.errors;
    const Json result = MakeInTier("deps");
    ASSERT_TRUE(result["success"]) << result.dump(1);
    EXPECT_TRUE(result["data"]["stdout"].get<std::string>().contains(version)) << result.dump(1);
    EXPECT_FALSE(result.dump().contains("protected path")) << result.dump(1);
    Shell("grep -rl 'version 1' up --exclude-dir=.git | xargs sed -i 's/version 1/version 2/'",
          project_);
  }
}

// Programs that call git in the project's own repository, which is read-only to commands. Of each
// what works, and what is refused (docs/policy.md has the table).
struct GitProgram {
  const char* name;
  const char* present;  // as in Toolchain
  const char* prepare;  // what the user does outside, in an empty repository
  const char* works;
  const char* proof;  // in its output
  const char* refused;
};

constexpr GitProgram kGitPrograms[] = {
    {"setuptools_scm",
     "/usr/bin/python3 -c 'import setuptools_scm' || { echo setuptools_scm is not installed; exit "
     "1; }",
     "echo 'from setuptools import setup' >setup.py && echo 'setup(name=\"x\", "
     "use_scm_version=True, py_modules=[\"x\"])' >>setup.py && touch x.py && git add . && "
     "git commit -qm one && git tag v1.2.0",
     "touch -d yesterday x.py; python3 setup.py --version", "1.2.0", "git tag v1.3.0"},
    {"npm_version", kToolchains[3].present,
     "echo '{\"name\": \"x\", \"version\": \"1.0.0\"}' >package.json && git add . && git commit "
     "-qm one",
     "npm version --no-git-tag-version patch", "v1.0.1",
     "git show HEAD:package.json >package.json; npm version minor"},
    {"pre_commit",
     "command -v pre-commit >/dev/null || { echo pre-commit is not installed; exit 1; }",
     "printf 'repos:\\n- repo: local\\n  hooks:\\n  - {id: t, name: some text, entry: test -s, "
     "language: system, files: txt}\\n' >.pre-commit-config.yaml && echo a >a.txt && git add .",
     "pre-commit run --all-files", "Passed", "pre-commit run"},
    {"pre_commit_install",
     "command -v pre-commit >/dev/null || { echo pre-commit is not installed; exit 1; }",
     "echo 'repos: []' >.pre-commit-config.yaml", "pre-commit validate-config", "",
     "pre-commit install"},
    {"git_lfs", "command -v git-lfs >/dev/null || { echo git-lfs is not installed; exit 1; }",
     "git lfs install --local && git lfs track '*.bin' && echo a >a.bin && git add . && git commit "
     "-qm one",
     "touch -d yesterday a.bin; git status --short; git diff --quiet; echo b >a.bin; git diff; "
     "git lfs ls-files",
     "a.bin", "git lfs install --local --force"},
    {"fetch_content", kToolchains[1].present,
     "git init -q ../up && cd ../up && touch CMakeLists.txt && git add . && git commit -qm one && "
     "git branch -M main && git clone -q . ../project/up.git && cd ../project && "
     "printf 'cmake_minimum_required(VERSION 3.20)\\nproject(x NONE)\\ninclude(FetchContent)\\n"
     "FetchContent_Declare(up GIT_REPOSITORY ${CMAKE_SOURCE_DIR}/up.git GIT_TAG main)\\n"
     "FetchContent_MakeAvailable(up)\\n' >CMakeLists.txt && cmake -B out",
     "cmake -B out -DFETCHCONTENT_UPDATES_DISCONNECTED=ON", "Generating done",
     "cmake -B out -DFETCHCONTENT_UPDATES_DISCONNECTED=OFF"},
};

class GitPrograms : public Toolchains {
 protected:
  void SetUp() override {
    fs::create_directories(home_);
    fs::create_directories(project_);
  }
};
constexpr Case kInGit[] = {{{"git_programs", "", "", "", ""}, Tier::kAsGranted}};
INSTANTIATE_TEST_SUITE_P(Each, GitPrograms, ::testing::ValuesIn(kInGit), NameOf);

TEST_P(GitPrograms, WorkOrAreRefused) {
  if (Call("bash", {{"command", "true"}}, "namespaces: require\n")["success"] != true) {
    GTEST_SKIP() << "namespaces are not granted here";
  }
  std::string missing;
  for (const GitProgram& program : kGitPrograms) {
    const ProgramResult present = Shell(program.present, dir_.path());
    if (present.exit_code != 0) {
      missing += present.output;
      continue;
    }
    fs::remove_all(project_);
    fs::create_directories(project_);
    const ProgramResult prepared = Shell(
        "git config --global user.name a && git config --global user.email b && git init -q && " +
            std::string(program.prepare),
        project_);
    ASSERT_EQ(prepared.exit_code, 0) << program.name << prepared.output << prepared.errors;
    Json works = Call("bash", {{"command", program.works}});
    ASSERT_TRUE(works["success"]) << program.name << works.dump(1);
    EXPECT_TRUE(works["data"]["stdout"].get<std::string>().contains(program.proof))
        << program.name << works.dump(1);
    Json refused = Call("bash", {{"command", program.refused}});
    EXPECT_FALSE(refused["success"]) << program.name << refused.dump(1);
    EXPECT_EQ(refused["data"].value("denials", Json::array()).size(), 1U)
        << program.name << refused.dump(1);
    // The sandbox refused it, and nothing else does.
    const ProgramResult outside = Shell(program.refused, project_);
    EXPECT_EQ(outside.exit_code, 0) << program.name << outside.output << outside.errors;
  }
  if (!missing.empty()) Missing(missing);
}

// Frameworks of hooks. `git_commit` does in the project what `git commit` does outside.
struct HookProgram {
  const char* name;
  const char* present;  // as in Toolchain
  const char* prepare;  // what the user does outside, in an empty repository; something is staged
};

constexpr HookProgram kHookPrograms[] = {
    // The first file is staged in part.
    {"husky_and_lint_staged",
     "npm view husky@9 version >/dev/null 2>&1 || { echo npm or its registry cannot be reached; "
     "exit 1; }",
     "echo '{\"scripts\": {\"prepare\": \"husky\"}, \"lint-staged\": {\"*.txt\": \"sed -i "
     "s/bad/good/\"}}' >package.json && echo node_modules >.gitignore && "
     "npm install --no-audit --no-fund --save-dev husky@9 lint-staged@16 >npm.log 2>&1 && "
     "rm npm.log && npx husky && echo npx lint-staged >.husky/pre-commit && "
     "printf '1\n2\n3\n4\n5\n' >a.txt && "
     "git add . && git commit -qnm one && printf 'bad\n2\n3\n4\n5\n' >a.txt && git add a.txt && "
     "printf 'bad\n2\n3\n4\nlater\n' >a.txt"},
    {"pre_commit",
     "command -v pre-commit >/dev/null || { echo pre-commit is not installed; exit 1; }",
     "printf 'repos:\n- repo: local\n  hooks:\n  - {id: t, name: not staged, entry: grep -L later, "
     "language: system, files: txt}\n' >.pre-commit-config.yaml && echo a >a.txt && "
     "pre-commit install && git add . && git commit -qnm one && echo b >a.txt && git add a.txt && "
     "echo later >a.txt"},
    {"pre_commit_that_refuses",
     "command -v pre-commit >/dev/null || { echo pre-commit is not installed; exit 1; }",
     "printf 'repos:\n- repo: local\n  hooks:\n  - {id: t, name: changes, entry: sed -i "
     "s/bad/good/, language: system, files: txt}\n' >.pre-commit-config.yaml && echo a >a.txt && "
     "pre-commit install && git add . && git commit -qnm one && echo bad >a.txt && git add a.txt"},
    {"git_lfs", "command -v git-lfs >/dev/null || { echo git-lfs is not installed; exit 1; }",
     "git lfs install --local && git lfs track '*.bin' && echo a >a.bin && git add . && "
     "git commit -qm one && echo b >b.bin && git add b.bin && touch -d yesterday a.bin"},
    {"a_hook_that_adds_to_git_lfs",
     "command -v git-lfs >/dev/null || { echo git-lfs is not installed; exit 1; }",
     "git lfs install --local && git lfs track '*.bin' && echo a >a.bin && git add . && "
     "git commit -qm one && printf '#!/bin/sh\necho made >made.bin && git add made.bin\n' "
     ">.git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo b >b.bin && git add b.bin"},
    {"a_message_that_is_changed", "true",
     "printf '#!/bin/sh\necho \"Change-Id: 1\" >>\"$1\"\n' >.git/hooks/commit-msg && "
     "chmod +x .git/hooks/commit-msg && echo a >a.txt && git add ."},
    {"a_message_that_is_refused", "true",
     "printf '#!/bin/sh\necho no >&2; exit 1\n' >.git/hooks/commit-msg && "
     "chmod +x .git/hooks/commit-msg && echo a >a.txt && git add ."},
};

// What a user sees, and git-lfs of its objects.
constexpr char kSeen[] =
    "git log --format='%T %B' 2>/dev/null; git status --short; git stash list; git ls-files -s; "
    "for f in *.txt *.bin; do [ ! -e $f ] || cat $f; done; "
    "[ ! -d .git/lfs ] || { git lfs fsck; git lfs ls-files; }; "
    "[ ! -d .git/lfs/objects ] || find .git/lfs/objects -type f | sort";

TEST_P(GitPrograms, HooksDoWhatTheyDoOutside) {
  std::string missing;
  for (const HookProgram& program : kHookPrograms) {
    const ProgramResult present = Shell(program.present, dir_.path());
    if (present.exit_code != 0) {
      missing += present.output;
      continue;
    }
    const fs::path twin = dir_.path() / "twin";
    fs::remove_all(project_);
    fs::remove_all(twin);
    fs::create_directories(project_);
    const ProgramResult prepared = Shell(
        "git config --global user.name a && git config --global user.email b && "
        "git init -q -b main && " +
            std::string(program.prepare) + " && cp -a . " + twin.string(),
        project_);
    ASSERT_EQ(prepared.exit_code, 0) << program.name << prepared.output << prepared.errors;
    const ProgramResult outside = Shell("printf 'two\n' | git commit -F -", twin);
    Json result = Call("git_commit", {{"message", "two\n"}});
    EXPECT_EQ(result["success"], outside.exit_code == 0)
        << program.name << outside.errors << result.dump(1);
    EXPECT_FALSE(result["meta"].contains("warnings")) << program.name << result.dump(1);
    EXPECT_EQ(Shell(kSeen, project_).output, Shell(kSeen, twin).output) << program.name;
  }
  if (!missing.empty()) Missing(missing);
}

}  // namespace
}  // namespace pa::testing
