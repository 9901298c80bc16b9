#include "supervisor/transport/listening_socket.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;
using Kind = ListenAddress::Kind;

class ListeningSocketTest : public ::testing::Test {
 protected:
  ListenAddress At(const std::string& name) const {
    return {.kind = Kind::kUnix, .path = (directory_.path() / name).string()};
  }
  static int ErrorOf(const Result<ListeningSocket>& opened) {
    return opened ? 0 : opened.error().sys_errno;
  }
  static bool Answers(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const UniqueFd client(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return connect(client.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  }

  testing::TempDir directory_;
};

TEST_F(ListeningSocketTest, AUnixSocketIsItsOwnersAlone) {
  const mode_t before = umask(0);
  const Result<ListeningSocket> opened = OpenListeningSocket(At("s"));
  EXPECT_EQ(umask(before), 0u) << "the umask is as it was";
  ASSERT_TRUE(opened) << opened.error().Message();
  struct stat status{};
  ASSERT_EQ(stat(At("s").path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
  EXPECT_TRUE(Answers(At("s").path));
  EXPECT_TRUE((fcntl(opened->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_F(ListeningSocketTest, ItsFileGoesWithIt) {
  Result<ListeningSocket> opened = OpenListeningSocket(At("s"));
  ASSERT_TRUE(opened);
  RemoveSocketFile(*opened);
  EXPECT_FALSE(fs::exists(At("s").path));
  // But not the file of the next server.
  std::ofstream(At("s").path) << "x";
  RemoveSocketFile(*opened);
  EXPECT_TRUE(fs::exists(At("s").path));
}

TEST_F(ListeningSocketTest, OnlyTheSocketOfADeadServerIsReplaced) {
  Result<ListeningSocket> first = OpenListeningSocket(At("s"));
  ASSERT_TRUE(first);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("s"))), EADDRINUSE);
  EXPECT_TRUE(Answers(At("s").path)) << "the first one listens on";
  first->fd.reset();
  EXPECT_TRUE(fs::exists(At("s").path));
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("s"))), 0);
  std::ofstream(At("file").path) << "x";
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("file"))), EEXIST);
  fs::create_symlink(At("nowhere").path, At("link").path);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("link"))), EEXIST);
}

TEST_F(ListeningSocketTest, NobodyElseMayReplaceIt) {
  const fs::path shared = directory_.path() / "shared";
  fs::create_directory(shared);
  chmod(shared.c_str(), 0777);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("shared/s"))), EPERM);
  chmod(shared.c_str(), 0770);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("shared/s"))), EPERM);
  chmod(shared.c_str(), 01777);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("shared/s"))), 0);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(At("absent/s"))), ENOENT);
}

TEST_F(ListeningSocketTest, OfTcpThePortIsTold) {
  const Result<ListeningSocket> opened =
      OpenListeningSocket({.kind = Kind::kTcp, .host = "localhost"});
  ASSERT_TRUE(opened) << opened.error().Message();
  EXPECT_EQ(opened->address.host, "127.0.0.1");
  EXPECT_NE(opened->address.port, 0);
  EXPECT_EQ(ErrorOf(OpenListeningSocket(opened->address)), EADDRINUSE);
  RemoveSocketFile(*opened);  // of which there is none
}

// In a child, whose descriptors 3 and 4 they are.
int ExitOfTaking(int fd, const char* count, bool for_us) {
  const pid_t child = fork();
  if (child == 0) {
    dup2(fd, 3);
    const Result<std::vector<ListeningSocket>> taken = TakePassedSockets(
        {{"LISTEN_FDS", count}, {"LISTEN_PID", std::to_string(for_us ? getpid() : 1)}});
    const bool closed_on_exec = taken && (fcntl(3, F_GETFD) & FD_CLOEXEC) != 0;
    _exit(!taken ? taken.error().sys_errno : closed_on_exec ? 0 : 101);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(ListeningSocketTest, SystemdsAreTaken) {
  const Result<ListeningSocket> opened = OpenListeningSocket(At("s"));
  ASSERT_TRUE(opened);
  EXPECT_EQ(ExitOfTaking(opened->fd.get(), "1", true), 0);
  EXPECT_EQ(ExitOfTaking(opened->fd.get(), "1", false), ENOENT);
  EXPECT_EQ(ExitOfTaking(opened->fd.get(), "0", true), ENOENT);
  EXPECT_EQ(ExitOfTaking(opened->fd.get(), "65", true), ENOENT);
  const UniqueFd connected(socket(AF_UNIX, SOCK_STREAM, 0));
  EXPECT_EQ(ExitOfTaking(connected.get(), "1", true), ENOTSOCK);
  const UniqueFd file(open("/dev/null", O_RDONLY));
  EXPECT_EQ(ExitOfTaking(file.get(), "1", true), ENOTSOCK);
}

}  // namespace
}  // namespace pa
