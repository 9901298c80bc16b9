// PathStamp for a Packer (base/pack.h).
#pragma once

#include "base/pack.h"
#include "base/path_stamp.h"

namespace pa {

template <>
struct PackedFields<PathStamp> {
  static bool Visit(auto& io, auto& v) {
    return io(v.exists, v.error, v.device, v.inode, v.mode, v.owner, v.group, v.links, v.size,
              v.modified_ns, v.changed_ns);
  }
};

}  // namespace pa
