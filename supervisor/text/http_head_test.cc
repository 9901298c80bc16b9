#include "supervisor/text/http_head.h"

#include <gtest/gtest.h>

#include <string>

namespace pa {
namespace {

constexpr std::uint16_t kPort = 41234;

HeadVerdict Verdict(std::string_view bytes) { return CheckHttpHead(bytes, kPort).verdict; }

TEST(HttpHead, ARequestToUsIsAccepted) {
  for (const char* head :
       {"GET / HTTP/1.1\r\nHost: localhost:41234\r\n\r\n",
        "GET /a?b=c HTTP/1.0\nHost: 127.0.0.1:41234\n\n",
        "POST /x HTTP/1.1\r\nX-A: b\r\nHOST:LocalHost:41234 \r\nContent-Length: 1\r\n\r\nbody",
        "OPTIONS * HTTP/1.1\r\nHost: localhost:41234\r\n\r\n"}) {
    EXPECT_EQ(Verdict(head), HeadVerdict::kAccepted) << head;
  }
}

TEST(HttpHead, AnotherHostIsRefused) {
  for (const char* host :
       {"evil.example:41234", "localhost", "127.0.0.1", "localhost:4123", "localhost:412345",
        "localhost:41234.evil.example", "evil.example@localhost:41234", "", "127.0.0.2:41234",
        "localhost:41234, evil.example", "[::1]:41234"}) {
    const std::string head = std::string("GET / HTTP/1.1\r\nHost: ") + host + "\r\n\r\n";
    EXPECT_EQ(Verdict(head), HeadVerdict::kRefused) << host;
  }
  EXPECT_EQ(Verdict("GET / HTTP/1.1\r\nX: y\r\n\r\n"), HeadVerdict::kRefused) << "none";
  EXPECT_EQ(Verdict("GET / HTTP/1.1\r\nHost: localhost:41234\r\nHost: localhost:41234\r\n\r\n"),
            HeadVerdict::kRefused)
      << "two";
}

TEST(HttpHead, WhatIsNoRequestOfHttp1IsRefusedAtOnce) {
  for (const std::string& bytes :
       {std::string("\x16\x03\x01"), std::string("PRI * HTTP/2.0\r\n"), std::string("GET /\r\n"),
        std::string("GET http://localhost:41234/ HTTP/1.1\r\n"), std::string("SSH-2.0-x\r\n"),
        std::string("GET / x HTTP/1.1\r\n"), std::string(" GET / HTTP/1.1\r\n"),
        std::string("\r\n"), std::string("G\0T / HTTP/1.1\r\n", 16)}) {
    EXPECT_EQ(Verdict(bytes), HeadVerdict::kRefused) << bytes;
  }
  const std::string start = "GET / HTTP/1.1\r\n";
  for (const char* line : {" Host: localhost:41234\r\n", "Host : localhost:41234\r\n",
                           "nocolon\r\n", ": x\r\n", "X: a\rb\r\n"}) {
    EXPECT_EQ(Verdict(start + line), HeadVerdict::kRefused) << line;
  }
}

TEST(HttpHead, EachBeginningOfARequestIsIncomplete) {
  const std::string head = "GET / HTTP/1.1\r\nAccept: */*\r\nHost: localhost:41234\r\n\r\n";
  for (std::size_t size = 0; size < head.size(); ++size) {
    EXPECT_EQ(Verdict(head.substr(0, size)), HeadVerdict::kIncomplete) << size;
  }
  EXPECT_EQ(Verdict(head), HeadVerdict::kAccepted);
}

TEST(HttpHead, AHeadHasALimit) {
  const std::string start = "GET / HTTP/1.1\r\nX: ";
  EXPECT_EQ(Verdict(start + std::string(kMaxHttpHead - start.size() - 1, 'x')),
            HeadVerdict::kIncomplete);
  EXPECT_EQ(Verdict(start + std::string(kMaxHttpHead, 'x')), HeadVerdict::kRefused);
  EXPECT_EQ(Verdict(start + std::string(kMaxHttpHead, 'x') + "\r\nHost: localhost:41234\r\n\r\n"),
            HeadVerdict::kRefused);
}

}  // namespace
}  // namespace pa
