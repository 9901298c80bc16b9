// MountWatch: what became, while commands ran, of the protected paths that their views have mounted
// read-only or on themselves. Such a mount keeps the command from changing them, but not the user,
// and it is gone as soon as a program outside puts another file in that place by rename(2), as
// editors and git do. From the order of events (inotify(7)) follows whose work stands there:
//
//   MountWatch watch;
//   watch.Add(guarded, sealed.read_only);     // right before the command starts
//   watch.Drain();                            // whenever fd() is readable
//   MountRecord record = watch.record();      // when its tree is dead; may be read on a thread
//   switch (record.JudgeOf(guarded).by) ...
//
// Costs a watch for each directory that holds one. Every change in there is an event, so only names
// that are mounted are looked up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/guard/file_image.h"
#include "supervisor/guard/restorer.h"
#include "supervisor/loop/inotify.h"

namespace pa {

// What was seen so far.
class MountRecord {
 public:
  struct Judgement {
    enum class By {
      kUser,     // nobody else can have changed it: it stays
      kUnknown,  // a command may have: it is held against `saved` if that is certain, else what was
                 // there
    };
    By by = By::kUnknown;
    // What the user put there, if it was seen in time; `certain`: no command had a part in it.
    std::shared_ptr<const FileImage> saved = nullptr;
    bool certain = false;
  };

  Judgement JudgeOf(const GuardedPath& guarded) const;

 private:
  friend class MountWatch;
  struct Seen {
    bool read_only = true;  // in each view; else what is in it may be anybody's
    bool replaced = false;  // by the user, since nobody else could
    bool again = false;     // whoever could then
    bool certain = false;   // of `saved`, as Judgement has it
    bool young = false;     // `saved` was read just now: what comes may have come before
    std::shared_ptr<const FileImage> saved = nullptr;
  };
  struct Directory {
    std::string path;
    std::map<std::string, Seen, std::less<>> names;
    bool lost = false;  // moved or gone: its names say nothing of the path
  };

  const Seen* ReplacedAbove(const std::string& path, std::string* above) const;

  std::map<int, Directory> directories_;  // by watch descriptor
  std::map<std::string, int> by_path_;
  bool exposed_ = false;
};

class MountWatch {
 public:
  // `path` is mounted in the view of each command that could write it, until Forget(). Not
  // `read_only`: on itself, so that a command can neither move nor remove it, but fill it.
  void Add(const GuardedPath& guarded, bool read_only);
  // Some command writes without such mounts: of nothing is known any more whose it is.
  void Expose() { record_.exposed_ = true; }
  void Drain();
  const MountRecord& record() const { return record_; }
  void Forget();

  int fd() const { return inotify_.fd(); }  // -1: nothing is watched

 private:
  using Seen = MountRecord::Seen;

  void OnEvent(int watch, std::uint32_t mask, std::string_view name);
  static void Save(const std::string& directory, const std::string& name, Seen& seen);

  Inotify inotify_;
  MountRecord record_;
};

}  // namespace pa
