// SlotPool: private TMPDIRs with the Landlock rulesets that grant them. A slot is made once and
// used by one command after another, because a ruleset costs more than the rest of a spawn
// (docs/adr/0003).
//
//    SlotPool slots("/tmp", remove);   // creates nothing yet
//    SlotOr slot = slots.Acquire(allow.confinement());
//    ... run with (*slot)->prepared and TMPDIR=(*slot)->tmp_dir ...
//    slots.Release(std::move(*slot), command.tmp_clean());
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "sandbox/confinement.h"
#include "sandbox/prepared.h"
#include "sandbox/view_plan.h"
#include "supervisor/state/instance_dir.h"

namespace pa {

// What the slot of a command with namespaces has in addition.
struct SlotView {
  std::shared_ptr<const sandbox::View> base;  // null: no namespaces
  std::string directory;                      // the command's working directory
  std::vector<sandbox::Mount> mounts;         // in addition to those of `base`
  std::string shm_dir;                        // mounted at /dev/shm; otherwise like tmp_dir
  std::string tmp_name;  // path of tmp_dir in the view: /tmp, unless that is taken
  int uses = 0;
};

struct Slot {
  sandbox::Confinement confinement;          // as requested
  std::string tmp_dir;                       // mode 0700, empty
  std::shared_ptr<const UniqueFd> instance;  // the directory that holds tmp_dir
  sandbox::PreparedSandbox prepared;         // of `confinement` and tmp_dir
  SlotView view;
  std::uint64_t generation = 0;  // of the pool, when it was made
};

// Why there is no slot: the kernel cannot make the sandbox (`sandbox`), or a directory could not be
// made.
struct SlotFailure : Error {
  // NOLINTNEXTLINE(google-explicit-constructor): an error like others, and one thing more
  SlotFailure(Error error, bool by_sandbox = false)
      : Error(std::move(error)), sandbox(by_sandbox) {}
  bool sandbox;
};
using SlotOr = std::expected<std::unique_ptr<Slot>, SlotFailure>;

// What a command may do in its TMPDIR. It may execute files that it wrote there only if it may do
// so elsewhere: read-only inspection and git without hooks keep writable and executable paths
// apart.
sandbox::Access TmpDirAccess(const sandbox::Confinement& confinement);

class SlotPool {
 public:
  // Removes a tree later, and holds the lock until then: TreeRemover::Add.
  using Remove = std::function<void(HeldTree tree, UniqueFd lock)>;
  SlotPool(std::string tmp_base, Remove remove)
      : tmp_base_(std::move(tmp_base)), remove_(std::move(remove)) {}

  // A free slot for the same confinement, if the granted paths still lead to the same files;
  // otherwise a new one.
  SlotOr Acquire(const sandbox::Confinement& confinement);
  // The same for a command with namespaces, which sees `base`.
  SlotOr Acquire(const sandbox::Confinement& confinement, std::shared_ptr<const sandbox::View> base,
                 const std::string& directory);
  // `clean`: tmp_dir is empty. If it is not, the slot is discarded and its directory removed.
  void Release(std::unique_ptr<Slot> slot, bool clean);
  // A file for the probe that this confinement must not reach; "" if the policy grants the
  // temporary directory itself, so that there is no such file.
  Result<std::string> Canary(const sandbox::Confinement& confinement);
  // Makes the directory of TMPDIRs now, if it can be made: otherwise Acquire says why not. `made`
  // is called whenever another one takes its place.
  void Prepare(std::function<void()> made);
  // Lets no present slot serve another command: free slots are discarded now, the others when they
  // are released.
  void Renew();
  // Removes all free slots, and has the instance directory removed. No slot may be in use.
  void RemoveAll();

  // The directory of TMPDIRs; "": it cannot be made.
  std::string Instance();
  std::uint64_t made() const { return next_number_; }  // slots since the start
  std::size_t free_slots() const { return free_.size(); }

 private:
  static constexpr std::size_t kMaxFree = 64;  // at most: each holds a descriptor and a directory

  std::unique_ptr<Slot> TakeFree(const sandbox::Confinement& confinement, const SlotView& view);
  SlotOr Make(const sandbox::Confinement& confinement, SlotView view);
  Result<std::string> MakeDirectory(const std::string& name);
  void Discard(const Slot& slot);
  Result<void> EnsureInstance();

  std::string tmp_base_;
  Remove remove_;
  std::optional<InstanceDir> instance_;
  std::function<void()> made_;
  bool removed_ = false;           // somebody has removed the directory, and we may make no other
  std::uint64_t next_number_ = 0;  // names are not used twice
  std::uint64_t generation_ = 0;
  std::list<std::unique_ptr<Slot>> free_;  // the most recently used first
};

}  // namespace pa
