// KeepMemoryReserve: keeps a reserve of memory, so that the work that has to follow a failed
// allocation can be done. If a call asks for more memory than there is, std::bad_alloc ends that
// call (supervisor/audit/audit_log.h, supervisor/mcp/session.h), and the server goes on.
//
//    KeepMemoryReserve();        // at the start, and now and then: it may have been used up
#pragma once

namespace pa {

// From then on the first allocation that fails releases the reserve and is tried once more. A small
// one succeeds; after a large one there is room to end the call and to say why.
void KeepMemoryReserve();

}  // namespace pa
