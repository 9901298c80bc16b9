// FileTurns: calls that change the same file take turns, in the order in which they came; calls
// with other files do not wait for them.
//
//   FileTurn turn(call.runner.file_turns(), {"/project/a", "/project/b"});
//   if (!turn.Enter(call.cancel, limits.queue)) ...                           // too many wait
//   Completion<bool>& granted = turn.granted();
//   const bool ours = co_await granted;                                       // false: cancelled
//   ... until the end of its scope ...
//
// Whoever has a turn keeps it from the reading to the writing, so what it has read is what it
// replaces. All files of a call at once: nobody holds one and waits for another, so nobody waits
// for ever. Within this server; between servers the worker's lock and its comparison hold
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

  // `granted` is called once, at once or later. `paths`: sorted, each once.
  Ticket Enter(std::vector<std::string> paths, std::function<void()> granted);
  void Leave(Ticket ticket);  // whether granted or not
  std::size_t waiting() const;
  std::size_t Before(Ticket ticket) const;  // with one of its files, waiting or not

 private:
  struct Entry {
    std::vector<std::string> paths;
    std::function<void()> granted;  // null: it was
  };
  bool IsFirst(Ticket ticket) const;

  std::map<Ticket, Entry> places_;  // in their order
  Ticket last_ = 0;
};

class FileTurn {
 public:
  FileTurn(FileTurns& turns, std::vector<std::string> paths);  // canonical
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
