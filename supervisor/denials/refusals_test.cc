#include "supervisor/denials/refusals.h"

#include <gtest/gtest.h>

#include <ostream>

namespace pa {

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << "reason " << static_cast<int>(refusal.reason) << " uses " << refusal.uses << " names";
  for (const std::string& name : refusal.names) *out << " <" << name << ">";
}

namespace {

constexpr Uses kR = kTriedRead;
constexpr Uses kW = kTriedWrite;
constexpr Uses kC = kTriedChange;
constexpr Uses kX = kTriedExecute;
constexpr Uses kAny = kR | kW | kC;

struct Message {
  const char* text;
  const char* name;  // the likeliest; null: no refusal of a path
  Uses uses = 0;
};

void Check(const Message& message) {
  const std::vector<Refusal> refusals = ReadRefusals(message.text);
  if (message.name == nullptr) {
    EXPECT_TRUE(refusals.empty()) << message.text << "\n  " << ::testing::PrintToString(refusals);
    return;
  }
  ASSERT_EQ(refusals.size(), 1u) << message.text;
  EXPECT_EQ(refusals[0].reason, Reason::kRefused) << message.text;
  EXPECT_EQ(refusals[0].names.front(), message.name) << message.text;
  EXPECT_EQ(refusals[0].uses, message.uses) << message.text;
}

// As programs of Debian 12 print them.
TEST(RefusalsTest, Coreutils) {
  for (const Message& message : {
           Message{"cat: /h/.ssh/id: Permission denied", "/h/.ssh/id", kR},
           {"cat: '/h/a b': Permission denied", "/h/a b", kR},
           {"head: cannot open '/h/x' for reading: Permission denied", "/h/x", kR},
           {"cp: cannot open '/h/x' for reading: Permission denied", "/h/x", kR},
           {"cp: cannot access '/h/d': Permission denied", "/h/d", kR},
           {"cp: cannot create regular file '/h/new': Permission denied", "/h/new", kW},
           {"rm: cannot remove '/h/x': Permission denied", "/h/x", kC},
           {"ln: failed to create symbolic link '/h/l': Permission denied", "/h/l", kC},
           {"mkdir: cannot create directory \u2018/h/m\u2019: Permission denied", "/h/m", kC},
           {"touch: cannot touch '/h/t': Permission denied", "/h/t", kW},
           {"tee: /h/t: Permission denied", "/h/t", kW},
           {"ls: cannot open directory '/h': Permission denied", "/h", kR},
           {"find: \u2018/h\u2019: Permission denied", "/h", kTriedList | kX},
           {"sed: can't read /h/x: Permission denied", "/h/x", kR},
           {"sort: open failed: /h/x: Permission denied", "/h/x", kR},
           {"du: cannot read directory '/h': Permission denied", "/h", kR},
           {"dd: failed to open '/h/x': Permission denied", "/h/x", kR | kW},
           {"truncate: cannot open '/h/x' for writing: Permission denied", "/h/x", kW},
           {"mktemp: failed to create file via template \u2018/h/tmp.XX\u2019: Permission denied",
            "/h/tmp.XX", kC},
           {"mkfifo: cannot create fifo '/h/f': Permission denied", "/h/f", kC},
           {"rmdir: failed to remove '/h/d': Permission denied", "/h/d", kC},
           {"unlink: cannot unlink '/h/x': Permission denied", "/h/x", kC},
           {"env: \u2018/h/prog\u2019: Permission denied", "/h/prog", kX},
           {"timeout: failed to run command \u2018/h/prog\u2019: Permission denied", "/h/prog", kX},
           {"install: cannot create regular file '/usr/local/bin/x': Permission denied",
            "/usr/local/bin/x", kW},
       }) {
    Check(message);
  }
}

// chdir, stat and chmod are beyond Landlock: it did not refuse them.
TEST(RefusalsTest, WhatTheSandboxNeverRefuses) {
  for (const char* text : {
           "ls: cannot access '/h/x': Permission denied",
           "stat: cannot statx '/h/x': Permission denied",
           "bash: line 1: cd: /h: Permission denied",
           "dash: 1: cd: can't cd to /h",
           "touch: setting times of '/h/x': Operation not permitted",
           "chown: changing ownership of '/h/x': Operation not permitted",
           "chmod: changing permissions of '/h/x': Permission denied",
           "Error: EACCES: permission denied, stat '/h/x'",
           "rm: cannot remove '/h/x': Operation not permitted",
       }) {
    Check({text, nullptr});
  }
}

// Set-id bits, or somebody else's file; who judges looks at it.
TEST(RefusalsTest, ModesThatMayNotBeSet) {
  const Refusal mode{.reason = Reason::kNotPermitted, .names = {"/h/x"}, .uses = kTriedMode};
  for (const char* text : {
           "chmod: changing permissions of '/h/x': Operation not permitted",
           "install: cannot change permissions of \u2018/h/x\u2019: Operation not permitted",
           "cp: preserving permissions for '/h/x': Operation not permitted",
           "tar: /h/x: Cannot change mode to rwsr-xr-x: Operation not permitted",
           "rsync: [receiver] failed to set permissions on \"/h/x\": Operation not permitted (1)",
           "Error: EPERM: operation not permitted, chmod '/h/x'",
           "chmod /h/x: operation not permitted",
           "Traceback (most recent call last):\n  File \"<string>\", line 1, in <module>\n"
           "    os.chmod('/h/x', 0o4755)\n"
           "PermissionError: [Errno 1] Operation not permitted: '/h/x'",
       }) {
    EXPECT_EQ(ReadRefusals(text), std::vector{mode}) << text;
  }
}

TEST(RefusalsTest, TwoNames) {
  const Refusal moved{.names = {"Makefile", "/h/m"}, .uses = kC};
  for (const char* text : {
           "mv: cannot move 'Makefile' to '/h/m': Permission denied",
           "ln: failed to create hard link 'Makefile' => '/h/m': Permission denied",
           "Error: EACCES: permission denied, rename 'Makefile' -> '/h/m'",
       }) {
    EXPECT_EQ(ReadRefusals(text), std::vector{moved}) << text;
  }
}

TEST(RefusalsTest, Shells) {
  for (const Message& message : {
           Message{"dash: 1: cannot create /h/x: Permission denied", "/h/x", kW},
           {"/bin/sh: 1: cannot open /h/x: Permission denied", "/h/x", kR},
           {"/bin/sh: 1: /h/prog: Permission denied", "/h/prog", kX},
           {"dash: 1: exec: /h/prog: Permission denied", "/h/prog", kX},
           {"./x.sh: 3: /h/prog: Permission denied", "/h/prog", kX},
           {"bash: line 1: /h/x: Permission denied", "/h/x", kR | kW | kX},
           {"./x.sh: line 12: /h/x: Permission denied", "/h/x", kR | kW | kX},
           {"bash: /h/script: Permission denied", "/h/script", kR | kW | kX},
           {"/bin/bash: ./x.py: /h/python3: bad interpreter: Permission denied", "/h/python3", kX},
           {"zsh:1: permission denied: /h/x", "/h/x", kR | kW | kX},
           {"bash: line 1: ./prog: Permission denied", "./prog", kR | kW | kX},
           {"sh: 1: prog: Permission denied", "prog", kX},
       }) {
    Check(message);
  }
}

TEST(RefusalsTest, BuildTools) {
  for (const Message& message : {
           Message{"make[1]: /h/prog: Permission denied", "/h/prog", kR | kX},
           {"b.mk:1: /h/x.mk: Permission denied", "/h/x.mk", kR},
           {"t.c:1:10: fatal error: /h/x.h: Permission denied", "/h/x.h", kR},
           {"cc1: fatal error: /h/u.c: Permission denied", "/h/u.c", kR},
           {"u.c:1:1: fatal error: opening dependency file /h/u.d: Permission denied", "/h/u.d",
            kW},
           {"Fatal error: can't create /h/u.o: Permission denied", "/h/u.o", kW},
           {"/usr/bin/ld: cannot open output file /h/bin: Permission denied", "/h/bin", kW},
           {"error: unable to open output file '/h/u.o': 'Permission denied'", "/h/u.o", kW},
           {"t.c:1:10: fatal error: cannot open file '/h/x': Permission denied", "/h/x", kR},
           {"tar: /h/a.tar: Cannot open: Permission denied", "/h/a.tar", kR | kW},
           {"tar: /h/d: Cannot mkdir: Permission denied", "/h/d", kC},
           {"awk: cannot open /h/x (Permission denied)", "/h/x", kR | kW},
           {"jq: error: Could not open file /h/x: Permission denied", "/h/x", kR | kW},
           {"Warning: Failed to open the file /h/z: Permission denied", "/h/z", kR | kW},
           {"Load key \"/h/.ssh/id\": Permission denied", "/h/.ssh/id", kR},
           {"wget: Cannot read /etc/wgetrc (Permission denied).", "/etc/wgetrc", kR},
           {"W: Unable to read /etc/apt/conf.d/ - opendir (13: Permission denied)",
            "/etc/apt/conf.d/", kR},
           {"ar: /h/l.a: Permission denied", "/h/l.a", kAny},
           {"tool: /h/.toolrc: Permission denied", "/h/.toolrc", kAny},
       }) {
    Check(message);
  }
}

TEST(RefusalsTest, Git) {
  for (const Message& message : {
           Message{"fatal: could not open '/h/x' for reading: Permission denied", "/h/x", kR},
           {"fatal: cannot mkdir /h/repo: Permission denied", "/h/repo", kC},
           {"fatal: could not create leading directories of '/h/a/b': Permission denied", "/h/a/b",
            kC},
           {"fatal: Unable to create '/h/.git/index.lock': Permission denied", "/h/.git/index.lock",
            kW},
           {"warning: unable to access '/h/.config/git/attributes': Permission denied",
            "/h/.config/git/attributes", kR},
           {"error: could not lock config file /h/cfg: Permission denied", "/h/cfg.lock", kC},
           {"fatal: cannot exec '/h/hook': Permission denied", "/h/hook", kX},
           {"error: open(\"secret\"): Permission denied", "secret", kR | kW},
           {"/h/x.git: Permission denied", "/h/x.git", kAny},
       }) {
    Check(message);
  }
}

TEST(RefusalsTest, OtherLanguages) {
  for (const Message& message : {
           Message{"PermissionError: [Errno 13] Permission denied: '/h/x'", "/h/x", kAny},
           {"E   PermissionError: [Errno 13] Permission denied: b'/h/x'", "/h/x", kAny},
           {"python3: can't open file '/h/x': [Errno 13] Permission denied", "/h/x", kR | kW},
           {"Error: EACCES: permission denied, open '/h/x'", "/h/x", kR | kW},
           {"npm error Error: EACCES: permission denied, mkdir '/h/.npm'", "/h/.npm", kC},
           {"Error: EACCES: permission denied, scandir '/h'", "/h", kR},
           {"Error: EACCES: permission denied, unlink '/h/x'", "/h/x", kC},
           {"Error: spawn /h/prog EACCES", "/h/prog", kX},
           {"open /h/x: permission denied", "/h/x", kR | kW},
           {"go: could not create module cache: mkdir /h/go: permission denied", "/h/go", kC},
           {"fork/exec /h/prog: permission denied", "/h/prog", kX},
           {"rg: /h/x: Permission denied (os error 13)", "/h/x", kR},
           {"error: couldn't read /h/x.rs: Permission denied (os error 13)", "/h/x.rs", kR},
           {"error: failed to create directory `/h/.cargo/registry`\n\nCaused by:\n"
            "  Permission denied (os error 13)",
            "/h/.cargo/registry", kC},
           {"java.io.FileNotFoundException: /h/x (Permission denied)", "/h/x", kR | kW},
           {"java.nio.file.AccessDeniedException: /h/x", "/h/x", kAny},
           {"Cannot run program \"/h/prog\": error=13, Permission denied", "/h/prog", kX},
           {"Can't open '/h/x': Permission denied at -e line 1.", "/h/x", kR | kW},
           {"Can't open perl script \"/h/x\": Permission denied", "/h/x", kR},
           {"mkdir /h/q: Permission denied at -e line 1.", "/h/q", kC},
           {"x.rb:1:in `read': Permission denied @ rb_sysopen - /h/x (Errno::EACCES)", "/h/x", kR},
           {"foo: /h/x: openFile: permission denied (Permission denied)", "/h/x", kR | kW},
           {"Fatal error: exception Sys_error(\"/h/x: Permission denied\")", "/h/x", kAny},
       }) {
    Check(message);
  }
}

TEST(RefusalsTest, PythonSaysAboveWhatItTried) {
  const std::string error = "PermissionError: [Errno 13] Permission denied: '/h/x'";
  const auto uses = [&](const std::string& above) {
    const std::vector<Refusal> refusals =
        ReadRefusals("Traceback (most recent call last):\n" + above + error);
    return refusals.empty() ? 0 : refusals[0].uses;
  };
  EXPECT_EQ(uses("  File \"/create/exec.py\", line 1, in <module>\n"), kAny);
  EXPECT_EQ(uses("    with open(dst, 'wb') as fdst:\n         ^^^^^^^^^^^^^\n"), kW);
  EXPECT_EQ(uses("    with open(name) as file:\n"), kR | kW);
  EXPECT_EQ(uses("  File \"<frozen os>\", line 225, in makedirs\n"), kC);
  EXPECT_EQ(uses("    os.stat(name)\n"), 0u);
  EXPECT_EQ(uses("  File \"/usr/lib/python3.11/subprocess.py\", line 1950, in _execute_child\n"
                 "    raise child_exception_type(errno_num, err_msg, err_filename)\n"),
            kX);
}

TEST(RefusalsTest, OtherErrnos) {
  const std::vector<Refusal> read_only =
      ReadRefusals("touch: cannot touch '/usr/x': Read-only file system");
  ASSERT_EQ(read_only.size(), 1u);
  EXPECT_EQ(read_only[0].reason, Reason::kReadOnly);
  const std::vector<Refusal> absent = ReadRefusals("cat: /h/x: No such file or directory");
  ASSERT_EQ(absent.size(), 1u);
  EXPECT_EQ(absent[0].reason, Reason::kAbsent);
}

TEST(RefusalsTest, SharedMemoryIsAFileInDevShm) {
  const std::string error = "PermissionError: [Errno 13] Permission denied: '/psm_4afa58b4'";
  const auto read = [&](const std::string& above) {
    return ReadRefusals("Traceback (most recent call last):\n" + above + error);
  };
  const std::vector<Refusal> memory = {{.names = {"/dev/shm/psm_4afa58b4"}, .uses = kW}};
  const std::string frame =
      "  File \"/usr/lib/python3.11/multiprocessing/shared_memory.py\", line 93, in __init__\n";
  EXPECT_EQ(read(frame + "    self._fd = _posixshmem.shm_open(\n"), memory) << "until 3.10";
  EXPECT_EQ(read(frame + "    self._fd = _posixshmem.shm_open(\n"
                         "               ^^^^^^^^^^^^^^^^^^^^^\n"),
            memory);
  EXPECT_EQ(read(frame + "    self._fd = _posixshmem.shm_open(\n"
                         "               ~~~~~~~~~~~~~~~~~~~~^\n"
                         "        self._name,\n        ^^^^^^^^^^^\n"
                         "        flags,\n        ^^^^^^\n"
                         "        mode=self._mode\n        ^^^^^^^^^^^^^^^\n    )\n    ^\n"),
            memory)
      << "3.13";
  EXPECT_EQ(read(frame + "    _posixshmem.shm_unlink(self._name)\n")[0].uses, kC);
  Check({"FATAL:  could not open shared memory segment \"/PostgreSQL.42\": Permission denied",
         "/dev/shm/PostgreSQL.42", kW});
}

// A file at the root, whatever was done with shared memory before.
TEST(RefusalsTest, APathAtTheRootIsOne) {
  const std::string error = "PermissionError: [Errno 13] Permission denied: '/psm_x'";
  const std::string frame = "  File \"shm.py\", line 1, in <module>\n";
  for (const std::string& text : {
           error,
           "Traceback (most recent call last):\n" + frame + "    open('/psm_x')\n" + error,
           "    self._fd = _posixshmem.shm_open(\n" + frame + "    open('/psm_x')\n" + error,
           "    self._fd = _posixshmem.shm_open(\nTraceback (most recent call last):\n" + error,
           std::string("cat: /psm_x: Permission denied"),
       }) {
    ASSERT_EQ(ReadRefusals(text).size(), 1u) << text;
    EXPECT_EQ(ReadRefusals(text)[0].names, std::vector<std::string>{"/psm_x"}) << text;
  }
  Check({"could not open shared memory segment \"/a/b\": Permission denied", "/a/b", kR | kW});
}

// What answers so is a mount.
TEST(RefusalsTest, MountsThatKeepWhatIsThere) {
  struct Line {
    const char* text;
    Reason reason;
    std::vector<std::string> names;
    Uses uses;
  };
  constexpr Reason kRo = Reason::kReadOnly;
  constexpr Reason kBusy = Reason::kBusy;
  for (
      const Line& line : {
          Line{"error: could not write config file .git/config: Device or resource busy",
               kBusy,
               {".git/config"},
               kW},
          {"/bin/sh: 1: cannot create .git/hooks/x: Read-only file system",
           kRo,
           {".git/hooks/x"},
           kW},
          {"mv: cannot move '.git' to 'x': Device or resource busy", kBusy, {".git", "x"}, kC},
          {"mv: inter-device move failed: 'x' to '.git/config'; unable to remove target: Device or "
           "resource busy",
           kBusy,
           {"x", ".git/config"},
           kC},
          {"OSError: [Errno 16] Device or resource busy: '.git' -> 'x'",
           kBusy,
           {".git", "x"},
           kAny},
          {"OSError: [Errno 30] Read-only file system: '.git/config'", kRo, {".git/config"}, kAny},
          {"Error: EBUSY: resource busy or locked, rename '.git' -> 'x'", kBusy, {".git", "x"}, kC},
          {"Error: EROFS: read-only file system, open '.git/config'",
           kRo,
           {".git/config"},
           kR | kW},
          {"Cannot open .git/config: Read-only file system at -e line 1.",
           kRo,
           {".git/config"},
           kR | kW},
          {"chmod: changing permissions of '.git/config': Read-only file system",
           kRo,
           {".git/config"},
           kTriedMode},
          {"sed: cannot rename .git/sedOwxoqt: Device or resource busy",
           kBusy,
           {".git"},
           kTriedReplace},
          {"sed: cannot rename ./sedOwxoqt: Device or resource busy", kBusy, {"."}, kTriedReplace},
      }) {
    const std::vector<Refusal> expected = {
        {.reason = line.reason, .names = line.names, .uses = line.uses}};
    EXPECT_EQ(ReadRefusals(line.text), expected) << line.text;
  }
  Check({"sed: couldn't open temporary file ci/sedOwxoqt: Permission denied", "ci/sedOwxoqt", kC});
  for (const char* text : {
           "sed: cannot rename sedOwxoqt: Device or resource busy",
           "chown: changing ownership of 'x': Read-only file system",
           "Device or resource busy",
       }) {
    Check({text, nullptr});
  }
}

TEST(RefusalsTest, FilesThatGrewTooLarge) {
  const std::vector<Refusal> ended = {{.reason = Reason::kFileSignal}};
  for (const char* text : {
           "make: *** [Makefile:3: t] File size limit exceeded",
           "make[1]: *** [Makefile:3: t] File size limit exceeded (core dumped)",
           "File size limit exceeded",
           "./recipe.sh: line 1: 25098 File size limit exceededhead -c 50 /dev/zero > big",
           "bash: line 1:     4 File size limit exceeded(core dumped) head -c 50 /dev/zero > big",
           "g++: fatal error: File size limit exceeded signal terminated program as",
           "  process didn't exit successfully: `x` (signal: 25, SIGXFSZ: file size limit "
           "exceeded)",
           "died with <Signals.SIGXFSZ: 25>.",
       }) {
    EXPECT_EQ(ReadRefusals(text), ended) << text;
  }
  for (const char* text : {
           "upload: File size limit exceeded",
           "File size limit exceeded: at most 20 MB",
           "file size limit exceeded",
       }) {
    EXPECT_TRUE(ReadRefusals(text).empty()) << text;
  }
  const std::vector<Refusal> unnamed = {{.reason = Reason::kFileTooLarge}};
  EXPECT_EQ(ReadRefusals("OSError: [Errno 27] File too large"), unnamed);
  for (const char* text : {
           "dd: error writing 'big': File too large",
           "Error: EFBIG: file too large, write 'big'",
       }) {
    ASSERT_EQ(ReadRefusals(text).size(), 1u) << text;
    EXPECT_EQ(ReadRefusals(text)[0].reason, Reason::kFileTooLarge) << text;
    EXPECT_EQ(ReadRefusals(text)[0].names, std::vector<std::string>{"big"}) << text;
  }
}

TEST(RefusalsTest, NoNameNoRefusal) {
  for (const char* text : {
           "Permission denied",
           "Permission denied (publickey).",
           "  code: 'EACCES',",
           "npm error code EACCES",
           "Os { code: 13, kind: PermissionDenied, message: \"Permission denied\" }",
           "zip I/O error: Permission denied",
           "80:error:8000000D:system library:BIO_new_file:Permission "
           "denied:../crypto/bss_file.c:67",
           "make: *** [Makefile:9: key] Error 1",
           "",
           "cat: /h/a\x01: Permission denied",
           "cat: /h/\xff: Permission denied",
       }) {
    Check({text, nullptr});
  }
  Check({("cat: /" + std::string(5000, 'x') + ": Permission denied").c_str(), nullptr});
}

TEST(RefusalsTest, BlanksInBareNamesMayBelongToThem) {
  const std::vector<Refusal> refusals = ReadRefusals("cat: /h/a b: Permission denied");
  ASSERT_EQ(refusals.size(), 1u);
  EXPECT_EQ(refusals[0].names, (std::vector<std::string>{"/h/a b", "/h/a"}));
}

TEST(RefusalsTest, ColoursAndCarriageReturns) {
  Check({"50%\r\x1b[1m\x1b[31mcat\x1b[0m: /h/x: Permission denied\r\n", "/h/x", kR});
}

TEST(RefusalsTest, Network) {
  using enum Peer;
  struct Line {
    const char* text;
    Peer peer;
  };
  for (const Line& line : {
           Line{"curl: (6) Could not resolve host: example.com", kElsewhere},
           {"curl: (7) Failed to connect to 1.2.3.4 port 80 after 0 ms: Couldn't connect",
            kElsewhere},
           {"curl: (7) Failed to connect to localhost port 1 after 0 ms: Couldn't connect",
            kThisMachine},
           {"wget: unable to resolve host address \u2018example.com\u2019", kElsewhere},
           {"fatal: unable to access 'https://x/': Could not resolve host: x", kElsewhere},
           {"ssh: Could not resolve hostname x: Temporary failure in name resolution", kElsewhere},
           {"socket.gaierror: [Errno -3] Temporary failure in name resolution", kElsewhere},
           {"Error: getaddrinfo EAI_AGAIN registry.npmjs.org", kElsewhere},
           {"Error: connect EAFNOSUPPORT 127.0.0.1:80 - Local (undefined:undefined)", kThisMachine},
           {"Error: connect EAFNOSUPPORT 1.2.3.4:80 - Local (undefined:undefined)", kElsewhere},
           {"Error: listen EAFNOSUPPORT: address family not supported 0.0.0.0:3000", kThisMachine},
           {"Error: listen EAFNOSUPPORT: address family not supported :::3000", kThisMachine},
           {"bash: socket: Address family not supported by protocol", kUnknown},
           {"dial tcp: lookup x on [::1]:53: dial udp [::1]:53: socket: address family not "
            "supported by protocol",
            kElsewhere},
           {"connection to server at \"127.0.0.1\", port 5432 failed: could not create socket: "
            "Address family not supported by protocol",
            kThisMachine},
           {"urlopen error [Errno 97] Address family not supported by protocol", kUnknown},
           {"connect: Network is unreachable", kElsewhere},
           {"Can't find a non busy port in the 21111-29110 range.", kThisMachine},
           {"Can't call method \"sockhost\" on an undefined value at t/a.t line 16.", kThisMachine},
           {"  File \"socket.py\", line 8, in create_connection\n"
            "    sock = socket(af, socktype, proto)\n"
            "OSError: [Errno 97] Address family not supported by protocol",
            kUnknown},
       }) {
    const std::vector<Refusal> refusals = ReadRefusals(line.text);
    ASSERT_EQ(refusals.size(), 1u) << line.text;
    EXPECT_EQ(refusals[0].reason, Reason::kNoNetwork) << line.text;
    EXPECT_EQ(refusals[0].peer, line.peer) << line.text;
  }
}

TEST(RefusalsTest, OtherSockets) {
  const std::vector<Refusal> docker = ReadRefusals(
      "dial unix /var/run/docker.sock: socket: address family not supported by protocol");
  ASSERT_EQ(docker.size(), 1u);
  EXPECT_EQ(docker[0].reason, Reason::kLocalSocket);
  for (const char* text : {
           "OSError: [Errno 97] Address family not supported by protocol",
           "socket: Address family not supported by protocol",
           "Exception in thread \"main\" java.net.SocketException: Address family not supported by "
           "protocol",
           "no daemon: Address family not supported by protocol at -e line 1.",
       }) {
    const std::vector<Refusal> refusals = ReadRefusals(text);
    ASSERT_EQ(refusals.size(), 1u) << text;
    EXPECT_EQ(refusals[0].reason, Reason::kSomeSocket) << text;
    EXPECT_EQ(refusals[0].peer, Peer::kUnknown) << text;
  }
  for (const char* text : {
           "Cannot open netlink socket: Address family not supported by protocol",
           "Connection refused",
           "Name or service not known",
       }) {
    EXPECT_TRUE(ReadRefusals(text).empty()) << text;
  }
}

TEST(RefusalsTest, NoTerminal) {
  for (const char* text : {
           "OSError: out of pty devices",
           "script: failed to create pseudo-terminal: Permission denied",
           "pty_allocate(nonfatal): posix_openpt(): Permission denied at Pty.pm line 24.",
           "bash: line 1: /dev/ptmx: Permission denied",
           "Error: forkpty(3) failed.",
           "You have too many files are open.  Close some files or increase your per-process "
           "descriptor limit.",
       }) {
    const std::vector<Refusal> refusals = ReadRefusals(text);
    ASSERT_EQ(refusals.size(), 1u) << text;
    EXPECT_EQ(refusals[0].reason, Reason::kNoTerminal) << text;
  }
  for (const char* text : {
           "checking for openpty... no",
           "checking for /dev/ptmx... yes",
           "main.c:(.text+0x1a): undefined reference to `openpty'",
           "error: implicit declaration of function 'forkpty'",
       }) {
    EXPECT_TRUE(ReadRefusals(text).empty()) << text;
  }
}

TEST(RefusalsTest, AFloodIsBounded) {
  std::string flood;
  for (int i = 0; i < 100'000; ++i)
    flood += "cat: /h/" + std::to_string(i) + ": Permission denied\n";
  EXPECT_EQ(ReadRefusals(flood).size(), kMaxRefusals);
  std::string same;
  for (int i = 0; i < 1000; ++i) same += "cat: /h/x: Permission denied\n";
  EXPECT_EQ(ReadRefusals(same).size(), 1u);
  std::string quotes;
  while (quotes.size() < 2 * kMaxRefusalText) quotes += " 'a";
  EXPECT_TRUE(ReadRefusals(quotes + ": Permission denied").empty());
}

}  // namespace
}  // namespace pa
