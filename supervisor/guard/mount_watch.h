// MountWatch: finds out who has changed a protected path that the views of commands had mounted
// read-only or on itself. Such a mount keeps the command from changing the path, but not the user.
// The mount is gone as soon as a program outside replaces the file by rename(2), as editors and git
// do. The order of events (inotify(7)) shows whose work the present file is:
//
//    MountWatch watch(read);
//    watch.Add(guarded, sealed.read_only);     // right before the command starts
//    watch.Drain();                            // whenever fd() is readable
//    MountRecord record = watch.record();      // when its tree is dead; may be read on a thread
//    switch (record.JudgeOf(guarded).by) ...
//
// It costs one watch for each directory that holds such a path. Every change in that directory is
// an event, so only names that are mounted are looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "supervisor/guard/file_image.h"
#include "supervisor/guard/restorer.h"
#include "supervisor/loop/inotify.h"

namespace pa {

template <typename T>
struct PackedFields;  // base/pack.h

// The events so far.
class MountRecord {
 public:
  struct Judgement {
    enum class By {
      kUser,  // no command can have changed it: it stays
      // A command may have changed it: it is compared with `saved` if that is certain, otherwise
      // with what was there before.
      kUnknown,
    };
    By by = By::kUnknown;
    // The file that the user put there, if it was read in time. `certain`: no command had a part in
    // it.
    std::shared_ptr<const FileImage> saved = nullptr;
    bool certain = false;
  };

  Judgement JudgeOf(const GuardedPath& guarded) const;

 private:
  friend class MountWatch;
  template <typename T>
  friend struct PackedFields;
  struct Seen {
    bool read_only = true;  // in each view; otherwise anybody may have written in it
    bool replaced = false;  // by the user: nobody else could
    bool again = false;     // changed again, by the user or a command
    bool certain = false;   // of `saved`, as in Judgement
    bool young = false;     // `saved` was just read: queued events may be older
    std::shared_ptr<const FileImage> saved = nullptr;
  };
  struct Directory {
    std::string path;
    std::map<std::string, Seen, std::less<>> names;
    bool lost = false;  // moved or gone: its names say nothing about `path`
  };

  const Seen* ReplacedAbove(const std::string& path, std::string* above) const;

  std::map<int, Directory> directories_;  // by watch descriptor
  std::map<std::string, int> by_path_;
  bool exposed_ = false;
};

// What the user has put in the place of a protected file, read as soon as that is known.
struct SavedFile {
  std::shared_ptr<const FileImage> image = nullptr;  // null: it could not be read
  // Nobody had it open to write while it was read: whoever did before has left their event.
  bool certain = false;
};
// For a janitor's process: reads a regular file.
SavedFile ReadSaved(const std::string& directory, const std::string& name);

class MountWatch {
 public:
  // Reads that file and calls `done` with it, at once or later, on the loop.
  using Read = std::function<void(const std::string& directory, const std::string& name,
                                  std::function<void(SavedFile)> done)>;
  explicit MountWatch(Read read) : read_(std::move(read)) {}

  // `guarded` is mounted in the view of each command that could write it, until Forget(). Not
  // `read_only`: it is mounted on itself, so a command can neither move nor remove it, but can
  // write in it.
  void Add(const GuardedPath& guarded, bool read_only);
  // A command writes without such mounts: from now on every judgement is kUnknown.
  void Expose() { record_.exposed_ = true; }
  void Drain();
  const MountRecord& record() const { return record_; }
  // Files that are being read: what the record says of them is not complete.
  std::size_t reading() const { return reading_; }
  void Forget();

  int fd() const { return inotify_.fd(); }  // -1: nothing is watched

 private:
  using Seen = MountRecord::Seen;

  void OnEvent(int watch, std::uint32_t mask, std::string_view name);
  void Save(int watch, const std::string& name);
  void TakeSaved(int watch, const std::string& name, SavedFile saved);

  Read read_;
  std::size_t reading_ = 0;
  std::uint64_t forgotten_ = 0;  // how often
  Inotify inotify_;
  MountRecord record_;
};

}  // namespace pa
