// FileTurns: calls that change the same file take turns, in the order in which they came. Calls
// with other files do not wait for them.
//
//    FileTurn turn(call.runner.file_turns(), {"/project/a", "/project/b"});
//    if (!turn.Enter(call.cancel, limits.queue)) ...                           // too many wait
//    Completion<bool>& granted = turn.granted();
//    const bool ours = co_await granted;                                       // false: cancelled
//    ... until the end of its scope ...
//
// A call keeps its turn from reading to writing, so it replaces what it has read. It asks for all
// its files at once: nobody holds one file and waits for another, so there is no deadlock. All this
// holds within one server; between servers the worker's lock and its comparison do
// (worker/write_file.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "supervisor/loop/cancel_source.h"
#include "supervisor/loop/task.h"

namespace pa {

class FileTurns {
 public:
  using Ticket = std::uint64_t;  // never 0

  // `granted` is called once, at once or later. `paths`: sorted, without duplicates.
  Ticket Enter(std::vector<std::string> paths, std::function<void()> granted);
  void Leave(Ticket ticket);  // whether granted or not
  std::size_t waiting() const;
  std::size_t Before(Ticket ticket) const;  // earlier ones with a file of this one

 private:
  struct Entry {
    std::vector<std::string> paths;
    std::function<void()> granted;  // null: it was called
  };
  bool IsFirst(Ticket ticket) const;

  std::map<Ticket, Entry> places_;  // in order of arrival
  Ticket last_ = 0;
};

class FileTurn {
 public:
  FileTurn(FileTurns& turns, std::vector<std::string> paths);  // canonical paths
  ~FileTurn();
  FileTurn(const FileTurn&) = delete;
  FileTurn& operator=(const FileTurn&) = delete;

  bool Enter(CancelSource& cancel, std::size_t most_waiting);
  Completion<bool>& granted() { return granted_; }
  std::size_t Before() const { return ticket_ == 0 ? 0 : turns_.Before(ticket_); }

 private:
  FileTurns& turns_;
  std::vector<std::string> paths_;
  CancelSource* cancel_ = nullptr;
  FileTurns::Ticket ticket_ = 0;
  bool done_ = false;  // granted_ is set
  Completion<bool> granted_;
};

}  // namespace pa
