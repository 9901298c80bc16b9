#include "supervisor/results/result_store.h"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

namespace pa {
namespace {

class ResultStoreTest : public ::testing::Test {
 protected:
  ResultStoreTest() {
    std::string path = ::testing::TempDir() + "store-XXXXXX";
    directory_ = mkdtemp(path.data());
  }
  ~ResultStoreTest() override { std::filesystem::remove_all(directory_); }

  std::shared_ptr<StoredOutput> Stored(ResultStore& store, std::string_view bytes) {
    auto output = store.Begin(1 << 20);
    EXPECT_TRUE(output && store.Append(**output, bytes));
    return *output;
  }

  std::string directory_;
};

TEST_F(ResultStoreTest, GivesBackWhatWasAppendedAndLeavesNoName) {
  ResultStore store(directory_, 1 << 20);
  auto output = Stored(store, "hello ");
  ASSERT_TRUE(store.Append(*output, std::string_view("w\0rld", 5)));
  const std::string uri = store.Publish(output, "make test: stdout");
  EXPECT_TRUE(uri.starts_with(kResultUriPrefix));
  EXPECT_EQ(uri.size(), std::string_view(kResultUriPrefix).size() + 32);
  const auto chunk = store.Read(uri);
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_EQ((*chunk)->bytes, std::string("hello w\0rld", 11));
  EXPECT_EQ((*chunk)->total, 11u);
  EXPECT_FALSE((*chunk)->next_uri);
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST_F(ResultStoreTest, TouchesNothingUntilSomethingIsStored) {
  ResultStore store(directory_ + "/absent", 1 << 20);
  EXPECT_FALSE(store.Read(std::string(kResultUriPrefix) + "0"));
  const auto output = store.Begin(10);
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().sys_errno, ENOENT);
  EXPECT_EQ(output.error().subject, directory_ + "/absent");
}

TEST_F(ResultStoreTest, KeepsTheBeginningAndCountsTheRest) {
  ResultStore store(directory_, 1 << 20);
  auto output = store.Begin(4);
  ASSERT_TRUE(output);
  EXPECT_TRUE(store.Append(**output, "abc"));
  EXPECT_TRUE(store.Append(**output, "def"));
  EXPECT_TRUE(store.Append(**output, "g"));
  EXPECT_EQ((*output)->size(), 4u);
  EXPECT_EQ((*output)->lost(), 3u);
  EXPECT_EQ((*store.Read(store.Publish(*output, "x")))->bytes, "abcd");
}

TEST_F(ResultStoreTest, ReadsFromAnOffsetInChunks) {
  ResultStore store(directory_, 8 << 20);
  const std::string text = std::string(ResultStore::kMaxReadBytes - 1, 'a') + "\u20ac" + "end";
  auto output = store.Begin(8 << 20);
  ASSERT_TRUE(output && store.Append(**output, text));
  const std::string uri = store.Publish(*output, "x");
  const auto first = store.Read(uri);
  ASSERT_TRUE(first && *first);
  // The euro sign begins one byte before the end of the chunk and goes whole into the next.
  EXPECT_EQ((*first)->bytes.size(), ResultStore::kMaxReadBytes - 1);
  ASSERT_TRUE((*first)->next_uri);
  const auto second = store.Read(*(*first)->next_uri);
  ASSERT_TRUE(second && *second);
  EXPECT_EQ((*second)->bytes,
            "\u20ac"
            "end");
  EXPECT_EQ((*second)->offset, ResultStore::kMaxReadBytes - 1);
  EXPECT_FALSE((*second)->next_uri);
}

TEST_F(ResultStoreTest, TellsUnknownResultsFromBadOffsets) {
  ResultStore store(directory_, 1 << 20);
  const std::string uri = store.Publish(Stored(store, "abc"), "x");
  EXPECT_FALSE(store.Read(uri.substr(0, uri.size() - 1)));
  EXPECT_FALSE(store.Read("file:///etc/passwd"));
  for (const char* query : {"?offset=4", "?offset=-1", "?offset=", "?offset=1x", "?other=1"}) {
    const auto chunk = store.Read(uri + query);
    ASSERT_TRUE(chunk) << query;
    EXPECT_FALSE(*chunk) << query;
  }
  for (const char* query : {"?offset=3", "?offset=4"}) {
    EXPECT_TRUE((*store.Read(uri + query))
                    .error()
                    .subject.ends_with(" is past the end: the result has 3 bytes"))
        << query;
  }
  EXPECT_EQ((*store.Read(uri + "?offset=2"))->bytes, "c");
  const std::string empty = store.Publish(Stored(store, ""), "y");
  EXPECT_EQ((*store.Read(empty + "?offset=0"))->bytes, "");
}

TEST_F(ResultStoreTest, TheOldestGoesWhenTheQuotaIsFull) {
  ResultStore store(directory_, 10);
  const std::string first = store.Publish(Stored(store, "12345"), "first");
  const std::string second = store.Publish(Stored(store, "1234"), "second");
  EXPECT_TRUE(store.Read(first));
  const std::string third = store.Publish(Stored(store, "123"), "third");
  EXPECT_FALSE(store.Read(first));
  EXPECT_TRUE(store.Read(second));
  ASSERT_EQ(store.List().size(), 2u);
  EXPECT_EQ(store.List()[0].uri, third);
  EXPECT_EQ(store.List()[0].name, "third");
  EXPECT_EQ(store.List()[1].size, 4u);
  store.SetQuota(3);
  EXPECT_FALSE(store.Read(second));
  EXPECT_TRUE(store.Read(third));
}

TEST_F(ResultStoreTest, WhatIsBeingWrittenCountsUntilItIsDropped) {
  ResultStore store(directory_, 10);
  auto running = Stored(store, "12345678");
  auto late = store.Begin(100);
  ASSERT_TRUE(late && store.Append(**late, "abcd"));
  EXPECT_EQ((*late)->size(), 2u);
  EXPECT_EQ((*late)->lost(), 2u);
  running.reset();
  // There is room again, but a gap must not be closed silently.
  ASSERT_TRUE(store.Append(**late, "ef"));
  EXPECT_EQ((*late)->size(), 2u);
  EXPECT_EQ(Stored(store, "12345678")->size(), 8u);
}

TEST_F(ResultStoreTest, ADiskThatRefusesIsAnErrorAndTheTextStaysTrue) {
  ResultStore store(directory_, 1 << 20);
  auto output = Stored(store, "abc");
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  struct sigaction action{};
  action.sa_handler = SIG_IGN;
  sigaction(SIGXFSZ, &action, nullptr);
  const rlimit five{5, old.rlim_max};
  setrlimit(RLIMIT_FSIZE, &five);
  const Result<void> refused = store.Append(*output, "defghi");
  setrlimit(RLIMIT_FSIZE, &old);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sys_errno, EFBIG);
  EXPECT_TRUE(store.Append(*output, "jkl"));
  EXPECT_EQ(output->lost(), 7u);
  EXPECT_EQ((*store.Read(store.Publish(output, "x")))->bytes, "abcde");
}

TEST_F(ResultStoreTest, TheNumberOfResultsIsBounded) {
  ResultStore store(directory_, 1 << 20);
  for (int i = 0; i < 200; ++i) store.Publish(Stored(store, "x"), std::to_string(i));
  EXPECT_EQ(store.List().size(), 128u);
  EXPECT_EQ(store.List().front().name, "199");
}

// ---- by lines ----

class ResultLinesTest : public ResultStoreTest {
 protected:
  ResultLinesTest() : store_(directory_, 8 << 20) {}
  std::string Keep(std::string_view text) {
    auto output = store_.Begin(8 << 20);
    EXPECT_TRUE(output && store_.Append(**output, text));
    return store_.Publish(*output, "x");
  }
  std::string Read(const std::string& uri) {
    const auto chunk = store_.Read(uri);
    if (!chunk) return "none";
    return *chunk ? (*chunk)->bytes : "error: " + chunk->error().subject;
  }
  ResultStore store_;
};

TEST_F(ResultLinesTest, FromOneToAnotherOrFromTheEnd) {
  const std::string uri = Keep("one\ntwo\nthree\nfour");
  EXPECT_EQ(Read(uri + "?lines=2-3"), "two\nthree\n");
  EXPECT_EQ(Read(uri + "?lines=3"), "three\nfour");
  EXPECT_EQ(Read(uri + "?lines=1-1"), "one\n");
  EXPECT_EQ(Read(uri + "?lines=4-9"), "four");
  EXPECT_EQ(Read(uri + "?lines=-2"), "three\nfour");
  EXPECT_EQ(Read(uri + "?lines=-99"), "one\ntwo\nthree\nfour");
  EXPECT_EQ(Read(uri + "?lines=5"), "error: line 5 is past the end: the result has 4 lines");
  EXPECT_EQ(Read(Keep("") + "?lines=1"), "");
}

TEST_F(ResultLinesTest, OtherQueriesSayWhatIsExpected) {
  const std::string uri = Keep("one\n");
  for (const char* query : {"?lines=", "?lines=0", "?lines=-0", "?lines=2-1", "?lines=1-2-3",
                            "?lines=a", "?line=1", "?", "?lines=1&offset=2", "?lines=+1"}) {
    EXPECT_TRUE(Read(uri + query).starts_with("error: expected ?offset=BYTE, ?lines=FIRST-LAST"))
        << query << ": " << Read(uri + query);
  }
}

TEST_F(ResultLinesTest, WhatDoesNotFitGoesOnAtALine) {
  std::string text;
  for (int i = 1; i <= 300'000; ++i) text += std::to_string(i) + "\n";
  const std::string uri = Keep(text);
  std::string all;
  std::optional<std::string> next = uri + "?lines=2-299999";
  int reads = 0;
  while (next) {
    const auto chunk = store_.Read(*next);
    ASSERT_TRUE(chunk && *chunk) << *next;
    EXPECT_TRUE((*chunk)->bytes.ends_with('\n'));
    all += (*chunk)->bytes;
    next = (*chunk)->next_uri;
    ++reads;
  }
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(all, text.substr(2, text.size() - 2 - 7));
}

TEST_F(ResultLinesTest, ALineThatIsTooLongByItselfGoesOnAtAByte) {
  const std::string uri = Keep("a\n" + std::string(2U << 20, 'x') + "\nb\n");
  const auto chunk = store_.Read(uri + "?lines=2");
  ASSERT_TRUE(chunk && *chunk);
  EXPECT_EQ((*chunk)->bytes.size(), ResultStore::kMaxReadBytes);
  EXPECT_EQ((*chunk)->next_uri, uri + "?offset=" + std::to_string(2 + ResultStore::kMaxReadBytes));
}

TEST_F(ResultLinesTest, APublishedResultIsReported) {
  int told = 0;
  store_.WhenPublished([&] { ++told; });
  const std::string uri = Keep("x");
  EXPECT_EQ(told, 1);
  const auto opened = store_.Open(uri);
  ASSERT_TRUE(opened && *opened);
  EXPECT_EQ(ReadBytesAt((*opened)->file.get(), 0, 9).value(), "x");
  EXPECT_FALSE(store_.Open(uri + "0").has_value());
}

}  // namespace
}  // namespace pa
