// Janitor: does work in trees that commands write, for a supervisor that opens nothing there. Each
// chore runs in a process of its own, confined to the paths that the order names
// (docs/adr/0060), and exchanges values with the supervisor (base/pack.h).
//
//    JanitorOrder order{.chore = "search", .read = {"/srv/project"}};
//    Task<Result<Found>> task = Ask<Found>(janitor, std::move(order), query);
//    Result<Found> found = co_await task;
//
// An error: the chore was not done, or not wholly. Its process was killed, took too long or too
// much memory, could not be started or confined, or gave an answer that is none.
//
// To add a chore: a function and its line in the table of chores of its room; a new room in
// supervisor/run/run_chores.cc.
#pragma once

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/pack.h"
#include "base/unique_fd.h"
#include "supervisor/loop/give_up.h"
#include "supervisor/loop/task.h"

namespace pa {

struct JanitorOrder {
  std::string_view chore;
  std::string input = {};  // by a Packer
  // The working directory that it is about, if what it reads may lie elsewhere; "": it does not.
  std::string about = {};
  // Beneath which it may read, and may also change what is there. A path that does not exist is
  // left out.
  std::vector<std::string> read = {};
  std::vector<std::string> write = {};
  // For the chore as its `descriptors`, in this order; at most kMaxJanitorDescriptors.
  std::vector<std::shared_ptr<const UniqueFd>> descriptors = {};
  std::chrono::milliseconds time = std::chrono::seconds(60);  // then its process is killed
  // Set when nobody waits for the chore any more: its process is killed, and the answer is an error
  // (ECANCELED). Null: nobody sets it.
  std::shared_ptr<GiveUp> given_up = nullptr;
};

inline constexpr std::size_t kMaxJanitorDescriptors = 128;
// Of input and answer: what a guard may hold (ImageBudget), each byte of it in a name or two.
inline constexpr std::size_t kMaxJanitorBytes = 256u << 20;

class Janitor {
 public:
  virtual ~Janitor() = default;
  // The answer of the chore, which may be hostile.
  virtual Task<Result<std::string>> Do(JanitorOrder order) = 0;
};

// A kind of chore: what a confined process makes of the input. Returns the answer; throws nothing
// but std::bad_alloc. An input that is none is an empty answer.
struct Chore {
  std::string_view name;
  std::string (*run)(std::string_view input, std::span<const int> descriptors);
};

// With the input packed.
template <typename T>
Task<Result<T>> AskPacked(Janitor& janitor, JanitorOrder order) {
  const std::string chore(order.chore);
  Task<Result<std::string>> task = janitor.Do(std::move(order));
  const Result<std::string> answer = co_await task;
  if (!answer) co_return std::unexpected(answer.error());
  T value{};
  Unpacker unpacker(*answer);
  if (unpacker(value) && unpacker.AtEnd()) co_return value;
  co_return std::unexpected(Error("janitor", chore + ": its answer cannot be read", EBADMSG));
}

// No coroutine: the values need not outlive the call.
template <typename T, typename... Values>
Task<Result<T>> Ask(Janitor& janitor, JanitorOrder order, const Values&... values) {
  order.input = Pack(values...);
  return AskPacked<T>(janitor, std::move(order));
}

}  // namespace pa
