#include "base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

class File : public ::testing::Test {
 protected:
  File() {
    char pattern[] = "/tmp/pa-file-test-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~File() override { std::filesystem::remove_all(directory_); }

  std::string Make(const std::string& name, const std::string& content) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }

  std::string directory_;
};

TEST_F(File, ReadsWhole) {
  for (std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 300000u}) {
    const std::string content(size, 'x');
    const Result<std::string> text = ReadFile(Make("f", content), 1 << 20);
    ASSERT_TRUE(text) << text.error().Message();
    EXPECT_EQ(*text, content);
  }
}

TEST_F(File, ReadsFilesThatSayTheyAreEmpty) {
  const Result<std::string> text = ReadFile("/proc/self/status", 1 << 20);
  ASSERT_TRUE(text) << text.error().Message();
  EXPECT_TRUE(text->starts_with("Name:"));
}

TEST_F(File, LimitIsInclusive) {
  const std::string path = Make("f", std::string(100, 'x'));
  EXPECT_TRUE(ReadFile(path, 100));
  const Result<std::string> text = ReadFile(path, 99);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().sys_errno, EFBIG);
  EXPECT_EQ(text.error().subject, path);
  EXPECT_FALSE(ReadFile(path, 0));
  EXPECT_TRUE(ReadFile(Make("empty", ""), 0));
}

TEST_F(File, MissingFile) {
  const Result<std::string> text = ReadFile(directory_ + "/none", 10);
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().sys_errno, ENOENT);
  EXPECT_EQ(text.error().subject, directory_ + "/none");
}

TEST_F(File, AnythingButARegularFileIsRefused) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {fifo, directory_, std::string("/dev/zero")}) {
    const Result<std::string> text = ReadFile(path, 10);
    ASSERT_FALSE(text) << path;
    EXPECT_EQ(text.error().sys_errno, EINVAL) << path;
  }
}

// Nobody is at the other end, so whoever waited would wait for ever.
TEST_F(File, NothingButARegularFileIsOpened) {
  const std::string fifo = directory_ + "/fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_RDWR, O_WRONLY | O_CREAT | O_TRUNC}) {
    for (const std::string& path : {fifo, std::string("/dev/null")}) {
      const Result<UniqueFd> fd = OpenRegular(path, flags, 0600);
      ASSERT_FALSE(fd) << path;
      const bool no_reader = flags != O_RDONLY && flags != O_RDWR && path == fifo;
      EXPECT_EQ(fd.error().sys_errno, no_reader ? ENXIO : EINVAL) << path;
    }
    EXPECT_TRUE(OpenRegular(Make("f", "content"), flags, 0600));
  }
}

TEST_F(File, ReadingADescriptorIgnoresItsOffset) {
  UniqueFd fd(open(Make("f", "content").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(lseek(fd.get(), 3, SEEK_SET), 3);
  EXPECT_EQ(*ReadFileFrom(fd.get(), "f", 10), "content");
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_CUR), 3);
}

TEST_F(File, SealedMemfdHoldsItsContent) {
  const std::string content = std::string("a\0b", 3) + std::string(200000, 'x');
  const Result<UniqueFd> fd = SealedMemfd("test", content);
  ASSERT_TRUE(fd) << fd.error().Message();
  EXPECT_EQ(lseek(fd->get(), 0, SEEK_CUR), 0);
  EXPECT_EQ(*ReadFileFrom(fd->get(), "test", 1 << 20), content);
  EXPECT_NE(fcntl(fd->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(File, SealedMemfdNeverChanges) {
  const Result<UniqueFd> fd = SealedMemfd("test", "content");
  ASSERT_TRUE(fd);
  EXPECT_EQ(write(fd->get(), "x", 1), -1);
  EXPECT_EQ(errno, EPERM);
  EXPECT_EQ(ftruncate(fd->get(), 0), -1);
  EXPECT_EQ(ftruncate(fd->get(), 100), -1);
  EXPECT_EQ(mmap(nullptr, 7, PROT_READ | PROT_WRITE, MAP_SHARED, fd->get(), 0), MAP_FAILED);
  EXPECT_EQ(fcntl(fd->get(), F_ADD_SEALS, F_SEAL_WRITE), -1);
  EXPECT_EQ(*ReadFileFrom(fd->get(), "test", 100), "content");
}

TEST_F(File, WriteAllWritesMoreThanAPipeTakesAtATime) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const std::string data(1 << 20, 'x');
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(WriteAll(writer.get(), data) ? 0 : 1);
  writer.reset();
  std::size_t total = 0;
  char buffer[8192];
  while (true) {
    const ssize_t got = read(reader.get(), buffer, sizeof(buffer));
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(total, data.size());
  EXPECT_EQ(status, 0);
}

TEST_F(File, NamesAreReadOrThatIsAnError) {
  const testing::TempDir dir;
  const std::string top = dir.path();
  for (const char* name : {"b", "a", "c"}) testing::WriteText(top + "/" + name, "");
  EXPECT_EQ(*ReadNames(top), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(ReadNames(top, 0, 2)->size(), 2u);
  EXPECT_EQ(ReadNames(top + "/none").error().sys_errno, ENOENT);
  EXPECT_EQ(ReadNames(top + "/a").error().sys_errno, ENOTDIR);
  std::filesystem::create_directory_symlink(top, top + "/link");
  EXPECT_EQ(ReadNames(top + "/link")->size(), 4u);
  EXPECT_EQ(ReadNames(top + "/link", O_NOFOLLOW).error().sys_errno, ENOTDIR);
}

TEST_F(File, WriteAllReportsErrors) {
  UniqueFd fd(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Result<void> written = WriteAll(fd.get(), "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().sys_errno, ENOSPC);
  EXPECT_TRUE(WriteAll(fd.get(), ""));
}

}  // namespace
}  // namespace pa
