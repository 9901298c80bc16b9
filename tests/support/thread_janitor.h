// ThreadJanitor: does the chores of the janitor on a thread of this process, unconfined, so that a
// test can take memory and descriptors from them.
//
//    testing::ThreadJanitor janitor(&loop);
//    ProtectedPathsGuard guard(&loop, janitor, state_home);
#pragma once

#include <uv.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "supervisor/janitor/janitor.h"
#include "supervisor/loop/background.h"
#include "tests/support/janitor_chores.h"

namespace pa::testing {

class ThreadJanitor : public Janitor {
 public:
  explicit ThreadJanitor(uv_loop_t* loop) : loop_(loop) {}

  Task<Result<std::string>> Do(JanitorOrder order) override {
    const std::vector<Chore> chores = ChoresForTests();
    const auto chore = std::ranges::find(chores, order.chore, &Chore::name);
    if (chore == chores.end())
      co_return std::unexpected(Error("janitor", std::string(order.chore)));
    std::vector<int> descriptors;
    for (const auto& fd : order.descriptors) descriptors.push_back(fd->get());
    Task<std::string> task = InBackground<std::string>(
        loop_, [run = chore->run, &order, &descriptors] { return run(order.input, descriptors); });
    std::string answer = co_await task;
    if (order.given_up && order.given_up->IsSet()) {
      co_return std::unexpected(Error("janitor", std::string(order.chore), ECANCELED));
    }
    co_return answer;
  }

 private:
  uv_loop_t* loop_;
};

}  // namespace pa::testing
