#include "worker/transfer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <thread>

#include "base/unique_fd.h"

namespace pa::worker {
namespace {

// More than a pipe takes at once.
constexpr std::size_t kMany = 1'000'000;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    from.reset(ends[0]);
    to.reset(ends[1]);
  }
  UniqueFd from;
  UniqueFd to;
};

TEST(TransferTest, AllOfIt) {
  Pipe pipe;
  const std::string sent(kMany, 'x');
  std::thread writer([&] {
    EXPECT_TRUE(WriteAll(pipe.to.get(), sent.data(), sent.size(), "pipe"));
    pipe.to.reset();
  });
  std::string got(kMany, '\0');
  EXPECT_TRUE(ReadAll(pipe.from.get(), got.data(), got.size(), "pipe"));
  writer.join();
  EXPECT_TRUE(got == sent);
  EXPECT_EQ(ReadSome(pipe.from.get(), got.data(), got.size(), "pipe"), 0u);
}

TEST(TransferTest, AsMuchAsThereIs) {
  Pipe pipe;
  ASSERT_TRUE(WriteAll(pipe.to.get(), "abc", 3, "pipe"));
  char got[8];
  EXPECT_EQ(ReadSome(pipe.from.get(), got, sizeof got, "pipe"), 3u);
}

TEST(TransferTest, HalfOfItIsAnError) {
  Pipe pipe;
  ASSERT_TRUE(WriteAll(pipe.to.get(), "abc", 3, "pipe"));
  pipe.to.reset();
  char got[4];
  const SysResult<void> read = ReadAll(pipe.from.get(), got, sizeof got, "pipe");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().sys_errno, ENODATA);
}

TEST(TransferTest, ErrorsSayWhatAndOfWhat) {
  Pipe pipe;
  char byte = 0;
  const SysResult<void> read = ReadAll(pipe.to.get(), &byte, 1, "one");
  ASSERT_FALSE(read);
  EXPECT_STREQ(read.error().op, "read");
  EXPECT_EQ(read.error().subject, "one");
  EXPECT_EQ(read.error().sys_errno, EBADF);
  const SysResult<void> written = WriteAll(pipe.from.get(), &byte, 1, "other");
  ASSERT_FALSE(written);
  EXPECT_STREQ(written.error().op, "write");
  EXPECT_EQ(written.error().subject, "other");
  EXPECT_EQ(written.error().sys_errno, EBADF);
}

}  // namespace
}  // namespace pa::worker
