// The worker as a program: started by hand, and what kind of file it is.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "worker/worker_test_support.h"

namespace pa::worker {
namespace {

struct Said {
  std::string text;  // stdout and stderr
  int exit_code = -1;
};

Said RunByHand(const std::string& arguments) {
  const std::string command = WorkerPath("project-actions-worker") + " " + arguments + " 2>&1";
  FILE* pipe = popen(command.c_str(), "r");  // banned-ok: a person types it into a shell
  Said said;
  if (pipe == nullptr) return said;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe)) {
    said.text.append(buffer, got);
  }
  const int status = pclose(pipe);
  said.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return said;
}

Said RunSpec(const Scratch& scratch, const WorkerSpec& spec) {
  const std::string file = scratch.path("spec");
  std::ofstream(file, std::ios::binary) << *EncodeSpec(spec);
  return RunByHand("--spec " + file);
}

TEST(MainTest, RunsASpecByHandWithTheCommandsStatus) {
  const Scratch scratch;
  const Said said =
      RunSpec(scratch, Shell(scratch, "pwd -P; cat " + scratch.path("spec") + "; exit 5"));
  EXPECT_EQ(said.exit_code, 5);
  EXPECT_NE(said.text.find(scratch.work() + "\n"), std::string::npos) << said.text;
  EXPECT_NE(said.text.find("Permission denied"), std::string::npos) << "it is confined by hand too";
  EXPECT_NE(said.text.find("worker: exited 5"), std::string::npos);
}

TEST(MainTest, ATimeoutByHandIs124) {
  const Scratch scratch;
  WorkerSpec spec = Shell(scratch, "sleep " + UniqueSeconds());
  spec.limits.wall_time_ms = 100;
  EXPECT_EQ(RunSpec(scratch, spec).exit_code, 124);
}

TEST(MainTest, ASetupFailureByHandIs125AndNamesTheStep) {
  const Scratch scratch;
  WorkerSpec spec = Shell(scratch, "");
  spec.executable = "/no/such/program";
  Said said = RunSpec(scratch, spec);
  EXPECT_EQ(said.exit_code, 125);
  EXPECT_NE(said.text.find("step 'execute': execve \"/no/such/program\""), std::string::npos)
      << said.text;
  spec = Shell(scratch, "");
  spec.has_ruleset_fd = true;
  said = RunSpec(scratch, spec);
  EXPECT_EQ(said.exit_code, 125);
  EXPECT_NE(said.text.find("decode spec"), std::string::npos);
  spec = Shell(scratch, "");
  spec.seccomp_program.clear();  // nobody has loaded one
  said = RunSpec(scratch, spec);
  EXPECT_EQ(said.exit_code, 125);
  EXPECT_NE(said.text.find("decode spec \"seccomp_program\""), std::string::npos) << said.text;
}

TEST(MainTest, HelpVersionAndMistakes) {
  EXPECT_EQ(RunByHand("--help").exit_code, 0);
  EXPECT_NE(RunByHand("--help").text.find("--spec FILE"), std::string::npos);
  EXPECT_EQ(RunByHand("--version").text.rfind("project-actions-worker ", 0), 0u);
  EXPECT_EQ(RunByHand("--nonsense").exit_code, 125);
  EXPECT_EQ(RunByHand("").exit_code, 125);
  const Said alone = RunByHand("--launch 3<&-");
  EXPECT_EQ(alone.exit_code, 125);
  EXPECT_NE(alone.text.find("step 'close descriptors'"), std::string::npos) << alone.text;
}

// The three facts of docs/adr/0002 that a careless link flag would undo.
TEST(MainTest, IsStaticPieWithRelroAndNoExecutableStack) {
  std::ifstream file(WorkerPath("project-actions-worker"), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  ASSERT_GT(bytes.size(), sizeof(Elf64_Ehdr));
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  EXPECT_EQ(header.e_type, ET_DYN);
  bool relro = false;
  bool executable_stack = true;
  bool now = false;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes.data() + header.e_phoff + i * sizeof(segment), sizeof(segment));
    EXPECT_NE(segment.p_type, static_cast<Elf64_Word>(PT_INTERP)) << "it has a dynamic loader";
    EXPECT_FALSE((segment.p_flags & PF_W) != 0 && (segment.p_flags & PF_X) != 0);
    if (segment.p_type == PT_GNU_RELRO) relro = true;
    if (segment.p_type == PT_GNU_STACK) executable_stack = (segment.p_flags & PF_X) != 0;
    if (segment.p_type != PT_DYNAMIC) continue;
    for (std::size_t at = 0; at < segment.p_filesz; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, bytes.data() + segment.p_offset + at, sizeof(entry));
      EXPECT_NE(entry.d_tag, DT_NEEDED) << "it needs a shared library";
      if (entry.d_tag == DT_FLAGS_1) now = (entry.d_un.d_val & DF_1_NOW) != 0;
    }
  }
  EXPECT_TRUE(relro);
  EXPECT_TRUE(now);
  EXPECT_FALSE(executable_stack);
}

}  // namespace
}  // namespace pa::worker
