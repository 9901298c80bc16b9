#include "supervisor/loop/task.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace pa {
namespace {

Task<int> Value(int value) { co_return value; }

Task<int> Sum(int count) {
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    Task<int> next = Value(i);
    const int value = co_await next;
    sum += value;
  }
  co_return sum;
}

Task<std::string> Await(Completion<std::string>& completion) {
  std::string text = co_await completion;
  co_return text + "!";
}

Task<int> Touch(bool& ran, std::shared_ptr<int> held) {
  ran = true;
  co_return *held;
}

TEST(Task, RunsNothingUntilDetached) {
  bool ran = false;
  auto held = std::make_shared<int>(7);
  Task<int> task = Touch(ran, held);
  EXPECT_FALSE(ran);
  int result = 0;
  Detach(std::move(task), [&](int value) { result = value; });
  EXPECT_TRUE(ran);
  EXPECT_EQ(result, 7);
  EXPECT_EQ(held.use_count(), 1) << "the frame freed itself and its parameters";
}

TEST(Task, NeverStartedFreesItsParameters) {
  bool ran = false;
  auto held = std::make_shared<int>(7);
  {
    Task<int> task = Touch(ran, held);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(held.use_count(), 1);
}

TEST(Task, AwaitsOthersWithoutGrowingTheStack) {
  int result = 0;
  Detach(Sum(1000), [&](int value) { result = value; });
  EXPECT_EQ(result, 499500);
}

TEST(Completion, SetAfterAwait) {
  Completion<std::string> completion;
  std::string result;
  Detach(Await(completion), [&](std::string value) { result = std::move(value); });
  EXPECT_EQ(result, "");
  completion.Set("late");
  EXPECT_EQ(result, "late!");
}

TEST(Completion, SetBeforeAwait) {
  Completion<std::string> completion;
  completion.Set("early");
  std::string result;
  Detach(Await(completion), [&](std::string value) { result = std::move(value); });
  EXPECT_EQ(result, "early!");
}

TEST(Completion, CarriesWhatCannotBeCopied) {
  Completion<std::unique_ptr<int>> completion;
  completion.Set(std::make_unique<int>(3));
  EXPECT_TRUE(completion.await_ready());
  EXPECT_EQ(*completion.await_resume(), 3);
}

}  // namespace
}  // namespace pa
