#include "supervisor/jobs/batch.h"

#include <gtest/gtest.h>

#include "tests/support/failing_calls.h"
#include "tests/support/fake_calls.h"
#include "tests/support/parsed_json.h"

namespace pa {
namespace {

using testing::ParsedJson;

class BatchTest : public ::testing::Test {
 protected:
  static Batch Of(std::initializer_list<const char*> texts) {
    Batch batch{.tool = "note", .items = {}};
    for (const char* text : texts) {
      batch.items.push_back(JsonValue::Object({{"text", JsonValue::String(text)}}));
    }
    return batch;
  }
  JsonValue Run(Batch batch) {
    result_ = calls_.Await(RunBatch(std::move(batch), calls_.outer()));
    return ParsedJson(result_.data);
  }
  std::string Counts(const JsonValue& data) {
    return data.Find("total")->NumberToken() + " " + data.Find("succeeded")->NumberToken() + " " +
           data.Find("failed")->NumberToken() + " " + data.Find("skipped")->NumberToken();
  }
  // `text` fails, and so does BUSY as often as `busy` says.
  void FailOn(const std::string& failing, int busy = 0) {
    calls_.On("note", [failing, busy](const JsonValue& arguments, CallContext&) mutable {
      ToolResult result;
      result.data = arguments.Dump();
      result.text = "note: done";
      if (arguments.Find("text")->AsString() != failing) return result;
      if (busy-- > 0) return RefusedCall(Busy());
      return RefusedCall(NotFound("there is none", "Look."));
    });
  }

  FakeCalls calls_;
  ToolResult result_;
};

TEST_F(BatchTest, ResultsKeepTheirOrder) {
  const JsonValue data = Run(Of({"a", "b", "c"}));
  EXPECT_EQ(Counts(data), "3 3 0 0");
  EXPECT_FALSE(result_.error);
  ASSERT_EQ(data.Find("results")->Items().size(), 3u);
  EXPECT_EQ(data.Find("results")->Items()[2].Dump(),
            R"({"index":2,"success":true,"data":{"text":"c"}})");
  EXPECT_TRUE(result_.text.starts_with("batch of note: 3 of 3 succeeded, 0 failed, 0 skipped"));
}

TEST_F(BatchTest, NoneIsSuccess) {
  EXPECT_EQ(Counts(Run(Of({}))), "0 0 0 0");
  EXPECT_FALSE(result_.error);
}

TEST_F(BatchTest, AFailureIsOneOfThem) {
  FailOn("b");
  const JsonValue data = Run(Of({"a", "b", "c"}));
  EXPECT_EQ(Counts(data), "3 2 1 0");
  ASSERT_TRUE(result_.error);
  EXPECT_EQ(result_.error->code, ErrorCode::kNotFound);
  EXPECT_EQ(result_.error->message, "1 of 3 calls failed; call 1: there is none");
  EXPECT_EQ(result_.error->details, R"({"index":1})");
  EXPECT_EQ(data.Find("results")->Items()[1].Find("error")->Find("code")->AsString(), "NOT_FOUND");
}

TEST_F(BatchTest, StopsIfAskedTo) {
  FailOn("b");
  Batch batch = Of({"a", "b", "c", "d"});
  batch.concurrency = 1;
  batch.stops = true;
  EXPECT_EQ(Counts(Run(batch)), "4 1 1 2");
  EXPECT_EQ(calls_.made().size(), 2u);
}

TEST_F(BatchTest, WithoutDetailOnlyFailuresAreTold) {
  FailOn("b");
  Batch batch = Of({"a", "b"});
  batch.detail = false;
  const JsonValue data = Run(batch);
  EXPECT_EQ(Counts(data), "2 1 1 0");
  ASSERT_EQ(data.Find("results")->Items().size(), 1u);
  EXPECT_EQ(data.Find("results")->Items()[0].Find("index")->AsInteger(), 1);
}

// Nothing ran of a call that was BUSY; of any other failure that is not known.
TEST_F(BatchTest, OnlyWhatWasBusyIsTriedAgain) {
  FailOn("b", 2);
  Batch batch = Of({"a", "b"});
  batch.retries = 2;
  EXPECT_EQ(Counts(Run(batch)), "2 1 1 0");
  EXPECT_EQ(result_.error->code, ErrorCode::kNotFound);
  EXPECT_EQ(calls_.made().size(), 4u);
  FailOn("b", 9);
  Run(batch);
  EXPECT_EQ(result_.error->code, ErrorCode::kBusy);
  EXPECT_EQ(calls_.made().size(), 8u);
}

TEST_F(BatchTest, WhatCameTooOftenComesAgainWhenItMay) {
  const auto may = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
  calls_.On("note", [may](const JsonValue&, CallContext&) {
    const auto now = std::chrono::steady_clock::now();
    if (now >= may) return ToolResult{.data = "{}"};
    return RefusedCall(RateLimited(60, std::chrono::ceil<std::chrono::milliseconds>(may - now)));
  });
  Batch batch = Of({"a"});
  batch.retries = 1;
  EXPECT_EQ(Counts(Run(batch)), "1 1 0 0");
  EXPECT_EQ(calls_.made().size(), 2u);
}

TEST_F(BatchTest, ACancelEndsIt) {
  calls_.On("note", [this](const JsonValue&, CallContext& context) {
    calls_.cancel().Cancel();
    EXPECT_TRUE(context.cancel.cancelled());
    return RefusedCall(Cancelled("note"));
  });
  Batch batch = Of({"a", "b", "c"});
  batch.concurrency = 1;
  EXPECT_EQ(Counts(Run(batch)), "3 0 0 3");
  EXPECT_EQ(result_.error->code, ErrorCode::kCancelled);
  EXPECT_EQ(calls_.made().size(), 1u);
}

// As what waits in a queue does: each ends within the cancel.
TEST_F(BatchTest, ACancelThatEndsAllAtOnce) {
  calls_.Hang("note");
  std::optional<ToolResult> result;
  Detach(RunBatch(Of({"a", "b", "c", "d", "e", "f", "g"}), calls_.outer()),
         [&](ToolResult value) { result = std::move(value); });
  EXPECT_FALSE(result);
  calls_.cancel().Cancel();
  ASSERT_TRUE(result);
  EXPECT_EQ(Counts(ParsedJson(result->data)), "7 0 0 7");
  EXPECT_EQ(calls_.made().size(), 5u) << "as many as run at once";
}

TEST_F(BatchTest, OfACancelledCallNothingBegins) {
  calls_.cancel().Cancel();
  EXPECT_EQ(Counts(Run(Of({"a", "b"}))), "2 0 0 2");
  EXPECT_TRUE(calls_.made().empty());
}

// Each allocation that there is fails once. A batch has counted each call, or ends as a whole.
TEST(BatchMemory, IsEndedAndNotTheServer) {
  testing::EachAllocationFailsOnce([](FakeCalls& calls) {
    Batch batch{.tool = "note", .items = {}};
    for (const char* text : {"a", "b", "c"}) {
      batch.items.push_back(JsonValue::Object({{"text", JsonValue::String(text)}}));
    }
    return RunBatch(std::move(batch), calls.outer());
  });
}

}  // namespace
}  // namespace pa
