#include "base/packet.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

#include "base/unique_fd.h"

namespace pa {
namespace {

class PacketTest : public ::testing::Test {
 protected:
  PacketTest() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    ours_.reset(ends[0]);
    theirs_.reset(ends[1]);
  }
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(PacketTest, BytesArriveWithDescriptorsInTheirOrder) {
  int pipe_ends[2] = {-1, -1};
  ASSERT_EQ(pipe(pipe_ends), 0);
  const int number = 42;
  ASSERT_EQ(SendPacket(ours_.get(), AsBytes(number), pipe_ends, MSG_NOSIGNAL), 4);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
  int got = 0;
  const ReceivedPacket packet = ReceivePacket(theirs_.get(), AsWritableBytes(got), 0);
  EXPECT_EQ(packet.size, 4);
  EXPECT_EQ(got, 42);
  EXPECT_FALSE(packet.cut);
  ASSERT_EQ(packet.count, 2u);
  const UniqueFd read_end(packet.descriptors[0]);
  const UniqueFd write_end(packet.descriptors[1]);
  EXPECT_EQ(write(write_end.get(), "x", 1), 1);
  char byte = 0;
  EXPECT_EQ(read(read_end.get(), &byte, 1), 1);
}

TEST_F(PacketTest, WithoutDescriptorsThereAreNone) {
  EXPECT_EQ(SendPacket(ours_.get(), AsBytes(1), {}, MSG_NOSIGNAL), 4);
  int got = 0;
  EXPECT_EQ(ReceivePacket(theirs_.get(), AsWritableBytes(got), 0).count, 0u);
}

TEST_F(PacketTest, WhatDoesNotFitIsCutAndSaysSo) {
  EXPECT_EQ(SendPacket(ours_.get(), AsBytes(1), {}, MSG_NOSIGNAL), 4);
  char small = 0;
  EXPECT_TRUE(ReceivePacket(theirs_.get(), {&small, 1}, 0).cut);
}

TEST_F(PacketTest, MoreDescriptorsThanAPacketTakesAreRefused) {
  const std::array<int, kMaxPacketDescriptors + 1> many{};
  EXPECT_EQ(SendPacket(ours_.get(), AsBytes(1), many, MSG_NOSIGNAL), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(PacketTest, TheHangUpIsAPacketOfNothing) {
  ours_.reset();
  int got = 0;
  EXPECT_EQ(ReceivePacket(theirs_.get(), AsWritableBytes(got), 0).size, 0);
}

TEST_F(PacketTest, WhatWaitsIsReceivedThoughTheOtherEndDiedWithSomethingUnread) {
  int got = 0;
  EXPECT_EQ(ReceiveWaiting(theirs_.get(), AsWritableBytes(got)), -1);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(SendPacket(ours_.get(), AsBytes(7), {}, MSG_NOSIGNAL), 4);
  EXPECT_EQ(SendPacket(theirs_.get(), AsBytes(1), {}, MSG_NOSIGNAL), 4);
  ours_.reset();
  EXPECT_EQ(ReceiveWaiting(theirs_.get(), AsWritableBytes(got)), 4);
  EXPECT_EQ(got, 7);
  EXPECT_EQ(ReceiveWaiting(theirs_.get(), AsWritableBytes(got)), 0);
}

}  // namespace
}  // namespace pa
