// Writers: the workers of file tools that are at work now, for the comparison after a command.
//
//    Writers::Writer work(writers);                              // until the worker has ended
//    ...
//    Task<bool> settled = writers.Settled();  // a command's tree is dead, and is compared next
//    [[maybe_unused]] const bool all = co_await settled;
//
// A worker checks a path, then holds that directory open and writes in it. A command that runs
// meanwhile can rename the directory, to `.vscode` for example. So the comparison waits for all
// workers that are at work when the command ends: what they put into that directory counts as the
// command's. A worker that begins later finds no live command that could rename, or one whose
// comparison will wait for it in turn.
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

  // Waits until all workers that are at work now have ended. Always true.
  Task<bool> Settled();

 private:
  struct Waiting {
    std::uint64_t last;  // later workers are not waited for
    bool told = false;
    Completion<bool> settled = {};
  };

  void End(std::uint64_t number);

  std::uint64_t last_ = 0;
  std::set<std::uint64_t> at_work_;
  std::list<Waiting> waiting_;
};

}  // namespace pa
