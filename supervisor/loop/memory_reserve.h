// A reserve of memory, so that what is left to do when there is no more can be done: where a call
// asks for more than there is, std::bad_alloc ends that call (supervisor/audit/audit_log.h,
// supervisor/mcp/session.h), and the server stays.
//
//   KeepMemoryReserve();        // at the start, and now and then: it may have been used up
#pragma once

namespace pa {

// From then on the first allocation that fails gets the reserve, and is tried once more: a small
// one succeeds, and behind a large one there is room to end the call and to say why.
void KeepMemoryReserve();

}  // namespace pa
