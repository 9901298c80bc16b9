#include "supervisor/text/http_request.h"

#include <gtest/gtest.h>

#include <new>
#include <string>

#include "tests/support/failing_new.h"
#include "tests/support/http_corpus.h"

namespace pa {
namespace {

// As in the corpus.
std::string Verdict(std::string_view bytes, std::size_t piece, HttpLimits limits = {}) {
  HttpReader reader(limits);
  std::string verdict;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.Append(bytes.substr(at, piece));
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      if (const auto head = reader.ReadHead()) {
        if (!*head) return verdict + std::to_string(head->error().status);
        verdict += (*head)->method + " " + (*head)->target.substr(0, 10) + " ";
        if (!(*head)->keep_alive) verdict += "close ";
      }
      if (const auto body = reader.ReadBody()) {
        if (!*body) return verdict + std::to_string(body->error().status);
        verdict += "[" + std::to_string((*body)->size()) + "] ";
        goes_on = true;
      }
    }
  }
  if (reader.at() != HttpReader::At::kStart) {
    return verdict + (reader.at() == HttpReader::At::kHead ? "head.." : "body..");
  }
  if (verdict.ends_with(' ')) verdict.pop_back();
  return verdict;
}

HttpHead Head(std::string_view bytes, HttpLimits limits = {}) {
  HttpReader reader(limits);
  reader.Append(bytes);
  auto head = reader.ReadHead();
  EXPECT_TRUE(head && *head) << bytes;
  return head && *head ? **head : HttpHead{};
}

HttpRefusal Refusal(std::string_view bytes, HttpLimits limits = {}) {
  HttpReader reader(limits);
  reader.Append(bytes);
  const auto head = reader.ReadHead();
  EXPECT_TRUE(head && !*head) << bytes;
  return head && !*head ? head->error() : HttpRefusal{0, ""};
}

TEST(HttpReader, TheCorpusHasOneVerdictInWhateverPieces) {
  for (const testing::HttpCase& one : testing::HttpCorpus()) {
    for (const std::size_t piece : {one.bytes.size(), std::size_t{1}, std::size_t{7}}) {
      EXPECT_EQ(Verdict(one.bytes, piece, {.body = testing::kCorpusBody}), one.verdict)
          << one.name << " in pieces of " << piece;
    }
  }
}

TEST(HttpReader, TheHeadIsGivenBeforeTheBody) {
  HttpReader reader;
  reader.Append(
      "POST /mcp?x=1 HTTP/1.1\r\nHOST: a:1\r\nX-A:  b c \t\r\nContent-Length: 4\r\n\r\nab");
  const auto head = reader.ReadHead();
  ASSERT_TRUE(head && *head);
  EXPECT_EQ((*head)->method, "POST");
  EXPECT_EQ((*head)->target, "/mcp?x=1");
  EXPECT_EQ(*(*head)->Find("host"), "a:1");
  EXPECT_EQ(*(*head)->Find("x-a"), "b c");
  EXPECT_EQ((*head)->Find("X-A"), nullptr);
  EXPECT_TRUE((*head)->has_body);
  EXPECT_FALSE((*head)->expects_continue);
  EXPECT_EQ(reader.at(), HttpReader::At::kBody);
  EXPECT_FALSE(reader.ReadHead()) << "the body comes first";
  EXPECT_FALSE(reader.ReadBody());
  reader.Append("cdGET");
  const auto body = reader.ReadBody();
  ASSERT_TRUE(body && *body);
  EXPECT_EQ(**body, "abcd");
  EXPECT_FALSE(reader.ReadHead());
  EXPECT_EQ(reader.at(), HttpReader::At::kHead);
}

TEST(HttpReader, WhatComesSeveralTimesIsOneField) {
  const HttpHead head = Head(
      "GET / HTTP/1.1\r\nHost: a\r\nAccept: x\r\nY: z\r\n"
      "accept: w\r\nOrigin: o\r\nOrigin: p\r\n\r\n");
  EXPECT_EQ(*head.Find("accept"), "x, w");
  EXPECT_EQ(*head.Find("origin"), "o, p") << "which is none that can be allowed";
  EXPECT_EQ(head.fields.size(), 4u);
}

TEST(HttpReader, SaysWhoWaitsForLeaveToSendTheBody) {
  const std::string head = "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-Continue\r\n";
  EXPECT_TRUE(Head(head + "Content-Length: 2\r\n\r\n").expects_continue);
  EXPECT_TRUE(Head(head + "Transfer-Encoding: chunked\r\n\r\n").expects_continue);
  EXPECT_FALSE(Head(head + "Content-Length: 0\r\n\r\n").expects_continue) << "there is none";
}

TEST(HttpReader, AfterARefusalThereIsNothingElse) {
  HttpReader reader;
  reader.Append("GET / HTTP/1.1\r\nX: y\r\n\r\n");
  for (int round = 0; round < 2; ++round) {
    const auto head = reader.ReadHead();
    ASSERT_TRUE(head);
    EXPECT_EQ(head->error().status, 400);
    EXPECT_EQ(reader.ReadBody()->error().status, 400);
    reader.Append("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    EXPECT_EQ(reader.buffered(), 0u);
  }
}

TEST(HttpReader, ARefusalSaysWhy) {
  for (const testing::HttpCase& one : testing::HttpCorpus()) {
    HttpReader reader({.body = testing::kCorpusBody});
    reader.Append(one.bytes);
    const auto head = reader.ReadHead();
    if (head && !*head) {
      EXPECT_FALSE(head->error().why.empty()) << one.name;
      EXPECT_LT(head->error().why.size(), 100u) << one.name;
    }
  }
  EXPECT_EQ(Refusal("GET / HTTP/1.1\r\n\r\n").why, "the request has no Host, or several");
}

TEST(HttpReader, EachLimitIsTheLastThatPasses) {
  const auto head = [](std::size_t size) {
    const std::string start = "GET / HTTP/1.1\r\nHost: a\r\nX: ";
    return start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n";
  };
  Head(head(1000), {.head = 1000});
  EXPECT_EQ(Refusal(head(1001), {.head = 1000}).status, 431);
  EXPECT_EQ(Refusal(head(2000).substr(0, 1001), {.head = 1000}).status, 431) << "at once";
  const std::string fields = "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\nX: 2\r\n\r\n";
  Head(fields, {.fields = 3});
  EXPECT_EQ(Refusal(fields, {.fields = 2}).status, 431);
  const std::string target = "GET /" + std::string(86, 'x') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  Head(target, {.target = 100});
  EXPECT_EQ(Refusal(target, {.target = 99}).status, 414);
  const std::string body = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345";
  const std::string chunks =
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
      "\r\n3\r\n123\r\n2\r\n45\r\n0\r\n\r\n";
  EXPECT_EQ(Verdict(body, 100, {.body = 5}), "POST / [5]");
  EXPECT_EQ(Verdict(body, 100, {.body = 4}), "413");
  EXPECT_EQ(Verdict(chunks, 100, {.body = 25}), "POST / [5]");
  EXPECT_EQ(Verdict(chunks, 100, {.body = 4}), "POST / 413");
  EXPECT_EQ(Verdict(chunks, 1, {.body = 8}), "POST / 413") << "more frames than bytes";
}

TEST(HttpReader, WhatIsPassedOnMaySpeakAnythingAfterwards) {
  const HttpHead head = Head(
      "GET /hmr HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
      "Upgrade: websocket\r\nExpect: x\r\n\r\n",
      {.any_protocol = true});
  EXPECT_EQ(*head.Find("upgrade"), "websocket");
}

TEST(HttpReader, WantOfMemoryPassesThroughLlhttp) {
  const std::string bytes = "POST /" + std::string(50, 'x') +
                            " HTTP/1.1\r\nHost: " + std::string(50, 'a') +
                            "\r\nContent-Length: 50\r\n\r\n" + std::string(50, 'b');
  std::size_t length = 0;
  for (std::size_t nth = 1;; ++nth) {
    const testing::FailingNew failing(nth);
    try {
      HttpReader reader;
      reader.Append(bytes);
      const auto head = reader.ReadHead();
      const auto body = reader.ReadBody();
      length = head && *head && body && *body ? (*body)->size() : 0;
    } catch (const std::bad_alloc&) {
      continue;
    }
    if (!failing.failed()) break;
  }
  EXPECT_EQ(length, 50u);
}

TEST(HttpReader, AnUpgradeIsAGetWithoutABody) {
  const auto read = [](std::string_view bytes, std::string_view protocol) {
    HttpReader reader({.protocol = protocol});
    reader.Append(bytes);
    const auto head = reader.ReadHead();
    if (!head) return std::string("more");
    if (!*head) return std::to_string(head->error().status);
    return std::string((*head)->upgrades ? "upgrades" : "stays");
  };
  const std::string host = "/ HTTP/1.1\r\nHost: a\r\n";
  const std::string asks = "Connection: keep-alive, Upgrade\r\nUpgrade: Lines\r\n";
  EXPECT_EQ(read("GET " + host + asks + "\r\n", "lines"), "upgrades");
  EXPECT_EQ(read("GET " + host + asks + "\r\n", ""), "501");
  EXPECT_EQ(read("GET " + host + asks + "\r\n", "other"), "501");
  EXPECT_EQ(read("GET " + host + "\r\n", "lines"), "stays");
  EXPECT_EQ(read("GET " + host + "Upgrade: lines\r\n\r\n", "lines"), "400");
  EXPECT_EQ(read("POST " + host + asks + "\r\n", "lines"), "400");
  EXPECT_EQ(read("GET " + host + asks + "Content-Length: 1\r\n\r\nx", "lines"), "400");
  EXPECT_EQ(read("GET " + host + "Connection: upgrade\r\nUpgrade: lines, h2c\r\n\r\n", "lines"),
            "501");
  EXPECT_EQ(read("GET " + host + "Connection: upgrade\r\nUpgrade: h2c\r\n\r\n", "lines"), "stays");
}

}  // namespace
}  // namespace pa
