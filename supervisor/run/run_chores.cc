#include "supervisor/run/run_chores.h"

#include <span>

#include "supervisor/guard/guard_chores.h"
#include "supervisor/janitor/file_chores.h"
#include "supervisor/run/full_file.h"
#include "supervisor/run/repository_finder.h"
#include "supervisor/run/repository_lock.h"
#include "supervisor/run/tracked_files.h"

namespace pa {

std::vector<Chore> RunChores() {
  std::vector<Chore> chores;
  for (const std::span<const Chore> room :
       {FileChores(), GuardChores(), RepositoryChores(), GitLockChores(), InsideChores(),
        TrackedFilesChores()}) {
    chores.insert(chores.end(), room.begin(), room.end());
  }
  return chores;
}

}  // namespace pa
