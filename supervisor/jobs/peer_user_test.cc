#include "supervisor/jobs/peer_user.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "tests/support/loopback.h"

namespace pa {
namespace {

struct Pair {
  UniqueFd client;
  UniqueFd accepted;
};

// A connection over the loopback, whose client socket `user` makes.
Pair Connection(uid_t user) {
  const testing::LoopbackListener listener;
  const uid_t own = geteuid();
  EXPECT_EQ(user == own ? 0 : seteuid(user), 0);
  UniqueFd client = testing::ConnectLoopback(listener.port());
  EXPECT_EQ(user == own ? 0 : seteuid(own), 0);
  return {std::move(client), listener.Accept()};
}

TEST(PeerUser, IsWhoeverMadeTheOtherSocket) {
  const Pair own = Connection(geteuid());
  const Result<uid_t> user = UserOfPeer(own.accepted.get());
  ASSERT_TRUE(user) << user.error().Message();
  EXPECT_EQ(*user, geteuid());
  if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
  const Pair others = Connection(65534);
  const Result<uid_t> other = UserOfPeer(others.accepted.get());
  ASSERT_TRUE(other) << other.error().Message();
  EXPECT_EQ(*other, 65534u);
}

TEST(PeerUser, ASocketThatIsGoneIsNobodys) {
  Pair pair = Connection(geteuid());
  const linger at_once = {.l_onoff = 1, .l_linger = 0};
  setsockopt(pair.client.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  pair.client.reset();
  EXPECT_FALSE(UserOfPeer(pair.accepted.get()));
  const UniqueFd unconnected(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  EXPECT_FALSE(UserOfPeer(unconnected.get()));
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one(ends[0]);
  const UniqueFd two(ends[1]);
  EXPECT_FALSE(UserOfPeer(one.get())) << "another family";
}

}  // namespace
}  // namespace pa
