#include "supervisor/audit/audit_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/json_writer.h"
#include "tests/support/project.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

std::string Line(const ChainLink& link, std::string_view text) {
  JsonWriter w;
  w.BeginObject().Field("text", text).Key("unmapped").BeginObject().Key("chain").BeginObject();
  w.Field("sequence", link.sequence).Field("previous", Hex(link.previous));
  w.EndObject().EndObject().EndObject();
  return std::move(w).Take();
}

class AuditFileTest : public ::testing::Test {
 protected:
  AuditFileTest() = default;
  std::string Path(const std::string& name = "audit.jsonl") const {
    return directory_.path() / name;
  }
  static Result<void> Append(AuditFile& file, std::string_view text) {
    return file.Append([&](const ChainLink& link) { return Line(link, text); });
  }
  static void Fill(AuditFile& file, int count) {
    for (int i = 0; i < count; ++i) {
      const Result<void> kept = Append(file, "event " + std::to_string(i));
      ASSERT_TRUE(kept) << kept.error().Message();
    }
  }
  std::vector<std::string> Lines(const std::string& name = "audit.jsonl") const {
    std::vector<std::string> lines;
    std::ifstream file(Path(name));
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void Rewrite(const std::vector<std::string>& lines) const {
    std::ofstream file(Path());
    for (const std::string& line : lines) file << line << '\n';
  }
  std::vector<std::string> Problems(const std::vector<std::string>& names = {"audit.jsonl"}) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(Path(name));
    const Result<ChainReport> report = CheckChain(paths);
    EXPECT_TRUE(report);
    return report ? report->problems : std::vector<std::string>{"unreadable"};
  }

  testing::TempDir directory_;
};

TEST_F(AuditFileTest, LinesAreChainedAndNobodyElseReadsThem) {
  AuditFile file(Path());
  Fill(file, 5);
  EXPECT_EQ(Lines().size(), 5u);
  EXPECT_TRUE(Problems().empty());
  const std::shared_ptr<const UniqueFd> descriptor = file.Descriptor();
  ASSERT_TRUE(descriptor);
  EXPECT_EQ(fdatasync(descriptor->get()), 0);
  struct stat status{};
  ASSERT_EQ(stat(Path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(CheckChain({Path()})->first, ChainLink{});
}

TEST_F(AuditFileTest, WhatWasDoneToALineShows) {
  AuditFile file(Path());
  Fill(file, 6);
  const std::vector<std::string> whole = Lines();
  const auto changed = [&](auto change) {
    std::vector<std::string> lines = whole;
    change(lines);
    Rewrite(lines);
    return Problems();
  };
  EXPECT_TRUE(changed([](auto&) {}).empty());
  const auto removed = changed([](auto& lines) { lines.erase(lines.begin() + 2); });
  ASSERT_EQ(removed.size(), 1u);
  EXPECT_NE(removed[0].find("audit.jsonl:3: "), std::string::npos) << removed[0];
  EXPECT_EQ(changed([](auto& lines) { lines[3][10] = 'E'; }).size(), 1u);
  EXPECT_EQ(changed([](auto& lines) { std::swap(lines[1], lines[2]); }).size(), 3u);
  EXPECT_EQ(changed([](auto& lines) { lines.insert(lines.begin() + 1, lines[0]); }).size(), 1u);
  EXPECT_EQ(changed([](auto& lines) { lines[2] = "not ours"; }).size(), 2u);
  // As the header says: the end, and all before the first.
  EXPECT_TRUE(changed([](auto& lines) { lines.pop_back(); }).empty());
  EXPECT_TRUE(changed([](auto& lines) { lines.erase(lines.begin()); }).empty());
}

TEST_F(AuditFileTest, ManyProcessesWriteOneChain) {
  constexpr int kProcesses = 4;
  constexpr int kEach = 50;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      AuditFile file(Path());
      int failed = 0;
      for (int n = 0; n < kEach; ++n) {
        Result<void> kept = Append(file, "x");
        while (!kept && kept.error().sys_errno == EWOULDBLOCK) kept = Append(file, "x");
        failed += kept ? 0 : 1;
      }
      _exit(failed);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Lines().size(), static_cast<std::size_t>(kProcesses * kEach));
  EXPECT_TRUE(Problems().empty());
}

TEST_F(AuditFileTest, TheChainGoesOnInTheNextFile) {
  AuditFile file(Path());
  Fill(file, 3);
  fs::rename(Path(), Path("audit.jsonl.1"));
  Fill(file, 2);
  EXPECT_EQ(Lines().size(), 2u);
  EXPECT_TRUE(Problems().empty());
  EXPECT_TRUE(Problems({"audit.jsonl.1", "audit.jsonl"}).empty());
  EXPECT_FALSE(Problems({"audit.jsonl", "audit.jsonl.1"}).empty());
  EXPECT_EQ(CheckChain({Path()})->first->sequence, 4u);
}

TEST_F(AuditFileTest, HalfALineStaysAndShows) {
  AuditFile file(Path());
  Fill(file, 2);
  std::ofstream(Path(), std::ios::app) << R"({"text":"ha)";
  Fill(file, 2);
  ASSERT_EQ(Lines().size(), 5u);
  const auto problems = Problems();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("audit.jsonl:3: no line"), std::string::npos) << problems[0];
}

TEST_F(AuditFileTest, NothingIsKeptOfALineForWhichThereIsNoRoom) {
  AuditFile file(Path());
  Fill(file, 2);
  const auto size = fs::file_size(Path());
  const pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{size + 10, size + 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Result<void> kept = Append(file, "a line that is too long for the disk");
    _exit(kept ? 1 : kept.error().sys_errno == ENOSPC ? 0 : 2);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(fs::file_size(Path()), size);
  Fill(file, 1);
  EXPECT_TRUE(Problems().empty());
}

TEST_F(AuditFileTest, WhoHoldsTheLockHoldsNobody) {
  AuditFile file(Path());
  Fill(file, 1);
  const UniqueFd other(open(Path().c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(flock(other.get(), LOCK_EX), 0);
  const Result<void> kept = Append(file, "x");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().sys_errno, EWOULDBLOCK);
  flock(other.get(), LOCK_UN);
  Fill(file, 1);
  EXPECT_EQ(Lines().size(), 2u);
}

TEST_F(AuditFileTest, OnlyARegularFileIsOne) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  ASSERT_EQ(symlink("elsewhere", Path("link").c_str()), 0);
  const auto code = [&](const std::string& name) {
    AuditFile file(Path(name));
    const Result<void> kept = Append(file, "x");
    return kept ? 0 : kept.error().sys_errno;
  };
  EXPECT_EQ(code("fifo"), EINVAL);
  EXPECT_EQ(code("link"), ELOOP);
  EXPECT_EQ(code("new/directories/audit.jsonl"), 0);
  EXPECT_FALSE(CheckChain({Path("none")}));
}

// A FIFO would be waited for, and a device does not end.
TEST_F(AuditFileTest, OnlyAFileHasAChain) {
  const std::string fifo = Path() + ".fifo";
  std::filesystem::create_directories(std::filesystem::path(fifo).parent_path());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, std::string("/dev/zero")}) {
    const Result<ChainReport> report = CheckChain({path});
    ASSERT_FALSE(report) << path;
    EXPECT_EQ(report.error().sys_errno, EINVAL);
    EXPECT_EQ(report.error().subject, path);
  }
}

}  // namespace
}  // namespace pa
