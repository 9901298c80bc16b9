#include "worker/spec.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <random>

#include "tests/support/temp_dir.h"
#include "worker/spec_view.h"
#include "worker/wire.h"

namespace pa::worker {
namespace {

WorkerSpec Small() {
  WorkerSpec spec;
  spec.executable = "/bin/true";
  spec.argv = {"true"};
  spec.seccomp_program = std::string(8, '\6');
  return spec;
}

std::string Encoded(const WorkerSpec& spec) {
  const Result<std::string> bytes = EncodeSpec(spec);
  EXPECT_TRUE(bytes) << (bytes ? "" : bytes.error().subject);
  return bytes.value_or("");
}

std::string RefusedField(const WorkerSpec& spec) {
  const Result<std::string> bytes = EncodeSpec(spec);
  return bytes ? "accepted" : bytes.error().subject;
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::uint64_t Below(std::uint64_t bound) { return engine_() % bound; }
  std::uint64_t Any() { return engine_() >> Below(64); }

  std::string Text(std::size_t longest) {
    std::string text(Below(longest + 1), 'x');
    for (char& c : text) c = static_cast<char>(1 + Below(255));
    return text;
  }

  std::vector<std::string> Texts(const std::string& prefix, std::size_t at_least) {
    std::vector<std::string> texts(at_least + Below(40));
    for (std::string& text : texts) text = prefix + Text(200);
    return texts;
  }

 private:
  std::mt19937_64 engine_;
};

WorkerSpec RandomSpec(Random& random) {
  WorkerSpec spec;
  spec.action = static_cast<Action>(1 + random.Below(4));
  if (spec.action == Action::kExecute) {
    spec.executable = "/" + random.Text(100);
    spec.argv = random.Texts("", 1);
  }
  if (spec.action == Action::kExecute && random.Below(2) == 1) {
    spec.file = "Makefile";
    for (int i = 0; i < 32; ++i) spec.file_digest += static_cast<char>(random.Below(256));
  }
  if (IsAlone(spec.action)) spec.file = "Makefile";
  if (spec.action == Action::kProbe) spec.file = "/" + random.Text(30);
  spec.read_bytes = random.Any();
  spec.env = random.Texts("NAME=", 0);
  spec.working_directory = random.Below(2) ? "" : "/" + random.Text(300);
  spec.tmp_dir = random.Below(2) ? "" : "/" + random.Text(50);
  for (std::uint64_t i = random.Below(20); i > 0; --i) {
    spec.paths.push_back({"/" + random.Text(90), static_cast<sandbox::Access>(1 + random.Below(15)),
                          random.Text(20)});
  }
  spec.network = static_cast<sandbox::Network>(random.Below(3));
  spec.limits = {random.Any(), random.Any(), random.Any(), random.Any(),
                 random.Any(), random.Any(), random.Any()};
  if (random.Below(2) == 1) spec.umask = random.Below(01000);
  spec.seccomp_program.resize(8 * random.Below(4097));
  for (char& c : spec.seccomp_program) c = static_cast<char>(random.Below(256));
  spec.has_ruleset_fd = random.Below(2) == 1;
  if (!spec.tmp_dir.empty())
    spec.shm_dir = spec.tmp_dir.substr(0, spec.tmp_dir.rfind('/')) + "/shm";
  for (std::uint64_t i = random.Below(5); i > 0; --i) {
    spec.mounts.push_back(
        {sandbox::MountKind::kWritable, "/" + random.Text(9), "/" + random.Text(9)});
    spec.mounts.push_back(
        {sandbox::MountKind::kSymlink, "x" + random.Text(9), "/" + random.Text(9)});
    spec.mounts.push_back({sandbox::MountKind::kTmpfs, "", "/" + random.Text(9)});
    spec.mounts.push_back(
        {sandbox::MountKind::kOverlay, "/" + random.Text(9), "/" + random.Text(9)});
  }
  return spec;
}

TEST(SpecTest, WhatIsEncodedIsDecodedUnchanged) {
  Random random(20261121);
  for (int i = 0; i < 500; ++i) {
    const WorkerSpec spec = RandomSpec(random);
    const std::string bytes = Encoded(spec);
    const Result<WorkerSpec> decoded = DecodeSpec(bytes);
    ASSERT_TRUE(decoded) << decoded.error().subject;
    EXPECT_EQ(*decoded, spec);
    EXPECT_EQ(Encoded(*decoded), bytes);
  }
}

TEST(SpecTest, ListsPointIntoTheBytesAndEndWithNull) {
  WorkerSpec spec = Small();
  spec.argv = {"make", "", "--", "all"};
  const std::string bytes = Encoded(spec);
  std::vector<char> arena(SpecArenaBytes(bytes.size()));
  const SysResult<SpecView> view = ParseSpec(bytes, arena);
  ASSERT_TRUE(view);
  ASSERT_EQ(view->argv.count, 4u);
  EXPECT_STREQ(view->argv.items[0], "make");
  EXPECT_STREQ(view->argv.items[1], "");
  EXPECT_EQ(view->argv.items[4], nullptr);
  EXPECT_EQ(view->env.items[0], nullptr);
  EXPECT_GE(view->argv.items[3], bytes.data());
  EXPECT_LT(view->argv.items[3], bytes.data() + bytes.size());
}

TEST(SpecTest, EveryTruncationIsRefused) {
  Random random(7);
  WorkerSpec spec = RandomSpec(random);
  spec.seccomp_program.resize(16);
  const std::string bytes = Encoded(spec);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeSpec(std::string_view(bytes).substr(0, size))) << size;
  }
  const Result<WorkerSpec> longer = DecodeSpec(bytes + '\0');
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().subject, "trailing bytes");
}

TEST(SpecTest, FlippedBytesAreRefusedOrMeanSomethingElse) {
  const std::string bytes = Encoded(Small());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x41);
    const Result<WorkerSpec> decoded = DecodeSpec(flipped);
    if (!decoded) continue;
    EXPECT_EQ(Encoded(*decoded), flipped) << i;
  }
}

TEST(SpecTest, AnotherVersionIsRefusedByName) {
  std::string bytes = Encoded(Small());
  bytes[4] = static_cast<char>(kWireVersion + 1);
  const Result<WorkerSpec> decoded = DecodeSpec(bytes);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().subject, "version");
}

TEST(SpecTest, ACountBeyondTheBytesIsRefused) {
  std::string bytes = Encoded(Small());
  const std::size_t argv_count = bytes.find("/bin/true") + sizeof("/bin/true") + 1;
  ASSERT_EQ(bytes[argv_count], 1);
  for (const int byte : {0, 1, 2, 3}) {
    std::string huge = bytes;
    huge[argv_count + static_cast<std::size_t>(byte)] = '\x7f';
    const Result<WorkerSpec> decoded = DecodeSpec(huge);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().subject, "argv");
  }
}

struct Refusal {
  const char* field;
  void (*spoil)(WorkerSpec& spec);
};

class SpecRefusalTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(SpecRefusalTest, NamesTheField) {
  WorkerSpec spec = Small();
  ASSERT_EQ(RefusedField(spec), "accepted");
  GetParam().spoil(spec);
  EXPECT_EQ(RefusedField(spec), GetParam().field);
}

using namespace std::string_literals;

INSTANTIATE_TEST_SUITE_P(
    EachField, SpecRefusalTest,
    ::testing::Values(
        Refusal{"action", [](WorkerSpec& s) { s.action = Action{9}; }},
        Refusal{"executable", [](WorkerSpec& s) { s.executable = "bin/true"; }},
        Refusal{"executable", [](WorkerSpec& s) { s.executable = "/bin/tr\0ue"s; }},
        Refusal{"argv", [](WorkerSpec& s) { s.argv.clear(); }},
        Refusal{"argv", [](WorkerSpec& s) { s.argv.push_back("a\0"s); }},
        Refusal{"env", [](WorkerSpec& s) { s.env = {"NAME"}; }},
        Refusal{"env", [](WorkerSpec& s) { s.env = {"=value"}; }},
        Refusal{"env", [](WorkerSpec& s) { s.env = {"A=b\0c"s}; }},
        Refusal{"working_directory", [](WorkerSpec& s) { s.working_directory = "src"; }},
        Refusal{"tmp_dir", [](WorkerSpec& s) { s.tmp_dir = "tmp"; }},
        Refusal{"file", [](WorkerSpec& s) { s.file = "Makefile"; }},
        Refusal{"paths", [](WorkerSpec& s) { s.paths = {{"usr", sandbox::Access::kRead, ""}}; }},
        Refusal{"paths", [](WorkerSpec& s) { s.paths = {{"/usr", sandbox::Access::kNone, ""}}; }},
        Refusal{"paths", [](WorkerSpec& s) { s.paths = {{"/usr", sandbox::Access{32}, ""}}; }},
        Refusal{"paths",
                [](WorkerSpec& s) {
                  s.paths.assign(kMaxGrants + 1, {"/", sandbox::Access::kRead, ""});
                }},
        Refusal{"network", [](WorkerSpec& s) { s.network = sandbox::Network{3}; }},
        Refusal{"shm_dir", [](WorkerSpec& s) { s.shm_dir = "/x/shm"; }},
        Refusal{"shm_dir",
                [](WorkerSpec& s) {
                  s.tmp_dir = "/x/tmp";
                  s.shm_dir = "/y/shm";
                }},
        Refusal{"mounts", [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind{8}, "/a", "/b"}}; }},
        Refusal{"mounts",
                [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind::kWritable, "a", "/b"}}; }},
        Refusal{"mounts",
                [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind::kWritable, "/a", "b"}}; }},
        Refusal{"mounts",
                [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind::kTmpfs, "/a", "/b"}}; }},
        Refusal{"mounts",
                [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind::kSymlink, "", "/b"}}; }},
        Refusal{"mounts",
                [](WorkerSpec& s) { s.mounts = {{sandbox::MountKind::kOverlay, "a", "/b"}}; }},
        Refusal{"umask", [](WorkerSpec& s) { s.umask = 01000; }},
        Refusal{"seccomp_program", [](WorkerSpec& s) { s.seccomp_program += 'x'; }},
        Refusal{"seccomp_program",
                [](WorkerSpec& s) { s.seccomp_program.resize(std::size_t{8} * 4097); }},
        Refusal{"size", [](WorkerSpec& s) { s.argv.push_back(std::string(kMaxSpecBytes, 'x')); }}));

TEST(LaunchSpecTest, WhatIsEncodedIsDecodedUnchanged) {
  const LaunchSpec with_program{
      .seccomp_program = std::string(16, 'x'), .cgroups = true, .view = {}};
  const LaunchSpec with_view{.seccomp_program = "",
                             .namespaces = true,
                             .network = sandbox::Network::kLoopback,
                             .view = {{sandbox::MountKind::kReadOnly, "/usr", "/usr"},
                                      {sandbox::MountKind::kSymlink, "usr/bin", "/bin"},
                                      {sandbox::MountKind::kDirectory, "", "/tmp"}}};
  for (const LaunchSpec& spec : {with_program, with_view}) {
    const Result<std::string> bytes = EncodeLaunch(spec);
    ASSERT_TRUE(bytes) << bytes.error().Message();
    EXPECT_EQ(*DecodeLaunch(*bytes), spec);
    for (std::size_t size = 0; size < bytes->size(); ++size) {
      EXPECT_FALSE(DecodeLaunch(std::string_view(*bytes).substr(0, size))) << size;
    }
    EXPECT_FALSE(DecodeSpec(*bytes));
  }
}

TEST(LaunchSpecTest, AViewNeedsNamespacesAndNoProgramThatWouldRefuseToMakeIt) {
  LaunchSpec spec{.seccomp_program = "", .view = {{sandbox::MountKind::kTmpfs, "", "/x"}}};
  EXPECT_EQ(EncodeLaunch(spec).error().subject, "view");
  spec.namespaces = true;
  EXPECT_TRUE(EncodeLaunch(spec));
  spec.seccomp_program = std::string(8, 'x');
  EXPECT_EQ(EncodeLaunch(spec).error().subject, "seccomp_program");
}

TEST(CeilingSpecTest, WhatIsEncodedIsDecodedUnchanged) {
  const CeilingSpec spec{.views = true,
                         .paths = {{"/usr", sandbox::kReadExecute, "system"},
                                   {"/srv/p", sandbox::kReadWriteExecute, "root"}},
                         .network = sandbox::Network::kLoopback,
                         .limits = {.cpu_seconds = 1, .memory_bytes = 2, .processes = 3},
                         .programs = {std::string(8, 'x'), std::string(4096 * 8, 'y')}};
  const Result<std::string> bytes = EncodeCeiling(spec);
  ASSERT_TRUE(bytes) << bytes.error().Message();
  EXPECT_EQ(*DecodeCeiling(*bytes), spec);
  EXPECT_TRUE(DecodeCeiling(*EncodeCeiling({})));
  for (std::size_t size = 0; size < bytes->size(); size += size < 200 ? 1 : 997) {
    EXPECT_FALSE(DecodeCeiling(std::string_view(*bytes).substr(0, size))) << size;
  }
  EXPECT_FALSE(DecodeLaunch(*bytes));
  CeilingSpec wrong = spec;
  wrong.paths[0].path = "usr";
  EXPECT_EQ(EncodeCeiling(wrong).error().subject, "paths");
  wrong = spec;
  wrong.programs[0].pop_back();
  EXPECT_EQ(EncodeCeiling(wrong).error().subject, "programs");
  wrong.programs[0].clear();
  EXPECT_EQ(EncodeCeiling(wrong).error().subject, "programs");
}

// A seed of an older version shows the fuzzer nothing but that there are versions.
TEST(SpecTest, TheSeedsOfTheFuzzerAreOfThisVersion) {
  const std::filesystem::path corpus = getenv("PA_FUZZ_CORPUS");
  for (const auto& seed : std::filesystem::directory_iterator(corpus / "spec")) {
    const std::string bytes = pa::testing::ReadText(seed.path());
    EXPECT_EQ(DecodeSpec(bytes).has_value(), seed.path().filename() != "truncated") << seed.path();
  }
  for (const auto& seed : std::filesystem::directory_iterator(corpus / "launch")) {
    EXPECT_TRUE(DecodeLaunch(pa::testing::ReadText(seed.path()))) << seed.path();
  }
  for (const auto& seed : std::filesystem::directory_iterator(corpus / "ceiling")) {
    EXPECT_TRUE(DecodeCeiling(pa::testing::ReadText(seed.path()))) << seed.path();
  }
}

TEST(SpecTest, WhatIsReadIsOneComponent) {
  WorkerSpec spec = Small();
  spec.action = Action::kReadFile;
  spec.executable.clear();
  spec.argv.clear();
  for (const char* name : {"Makefile", "...", "-x", " "}) {
    spec.file = name;
    EXPECT_EQ(RefusedField(spec), "accepted") << name;
  }
  for (const char* name : {"", ".", "..", "a/b", "/etc/x", "../x"}) {
    spec.file = name;
    EXPECT_EQ(RefusedField(spec), "file") << name;
  }
}

TEST(SpecTest, ACommandMayNameTheFileThatItWasPlannedBy) {
  const std::string digest(32, '\0');
  WorkerSpec spec = Small();
  EXPECT_EQ(RefusedField(spec), "accepted");
  spec.file = "Makefile";
  EXPECT_EQ(RefusedField(spec), "file") << "it says nothing of that file";
  spec.file_digest = digest;
  EXPECT_EQ(RefusedField(spec), "accepted");
  spec.file_digest.pop_back();
  EXPECT_EQ(RefusedField(spec), "file_digest");
  spec.file_digest = digest;
  for (const char* name : {"", "..", "a/b", "/Makefile"}) {
    spec.file = name;
    EXPECT_EQ(RefusedField(spec), "file") << name;
  }
  spec.file = "Makefile";
  spec.action = Action::kReadFile;
  spec.executable.clear();
  spec.argv.clear();
  EXPECT_EQ(RefusedField(spec), "file_digest") << "only what is executed is planned";
}

class SpecOfAChange : public ::testing::TestWithParam<Action> {};

INSTANTIATE_TEST_SUITE_P(Actions, SpecOfAChange,
                         ::testing::Values(Action::kWriteFile, Action::kRemoveTemp,
                                           Action::kDeleteFile));

TEST_P(SpecOfAChange, NamesWhatIsBeneath) {
  WorkerSpec spec = Small();
  spec.action = GetParam();
  spec.executable.clear();
  spec.argv.clear();
  for (const char* path : {"Makefile", "a/b", "a/.../c", ".git/x"}) {
    spec.file = path;
    EXPECT_EQ(RefusedField(spec), "accepted") << path;
  }
  for (const char* path : {"", "/", "/a", "a/", "a//b", "./a", "a/../b", "..", "a/."}) {
    spec.file = path;
    EXPECT_EQ(RefusedField(spec), "file") << path;
  }
  for (const std::size_t component : {255u, 256u}) {
    spec.file = "a/" + std::string(component, 'x');
    EXPECT_EQ(RefusedField(spec), component == 255 ? "accepted" : "file");
  }
  spec.file = "a";
  while (spec.file.size() < 4096) spec.file += "/a";
  EXPECT_EQ(RefusedField(spec), "file");
}

}  // namespace
}  // namespace pa::worker
