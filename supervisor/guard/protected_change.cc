#include "supervisor/guard/protected_change.h"

namespace pa {

std::string_view ChangeText(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::kChanged:
      return "changed";
    case ChangeKind::kAdded:
      return "added";
    case ChangeKind::kRemoved:
      return "removed";
    case ChangeKind::kReplaced:
      return "replaced";
    case ChangeKind::kMoved:
      return "moved";
    case ChangeKind::kLinked:
      return "linked";
    case ChangeKind::kFilled:
      return "filled";
    case ChangeKind::kPermissions:
      return "changed its permissions";
    case ChangeKind::kDamaged:
      return "damaged";
    case ChangeKind::kMadeUnreadable:
      return "made unreadable";
    case ChangeKind::kNotCompared:
      return "not compared";
    case ChangeKind::kOutOfReach:
      return "out of reach";
    case ChangeKind::kNewRepository:
      return "got files that git would execute";
  }
  return "changed";
}

}  // namespace pa
