// Writers: the file tools' workers that are at work now, for the looks at what commands left
// behind.
//
//   Writers::Writer work(writers);                              // until the worker has ended
//   ...
//   Task<bool> settled = writers.Settled();  // a command's tree is dead, and is looked at next
//   [[maybe_unused]] const bool all = co_await settled;
//
// A worker checks a path, then holds that directory and writes in it. A command that runs meanwhile
// can rename the directory, to `.vscode` for example. So a command is looked at when whoever was at
// work at its end has ended: what comes into that directory counts as the command's. Who begins
// later finds nobody alive who could rename, or one who waits in turn.
#pragma once

#include <cstdint>
#include <list>
#include <set>

#include "supervisor/loop/task.h"

namespace pa {

class Writers {
 public:
  class Writer {
   public:
    explicit Writer(Writers& writers);
    ~Writer();
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

   private:
    Writers& writers_;
    std::uint64_t number_;
  };

  // When all have ended that are at work now. Always true.
  Task<bool> Settled();

 private:
  struct Waiting {
    std::uint64_t last;  // who began later is not waited for
    bool told = false;
    Completion<bool> settled = {};
  };

  void End(std::uint64_t number);

  std::uint64_t last_ = 0;
  std::set<std::uint64_t> at_work_;
  std::list<Waiting> waiting_;
};

}  // namespace pa
