#include "supervisor/loop/memory_reserve.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace pa {
namespace {

// A line of the audit log, an answer, and what of the call has to be looked after.
constexpr std::size_t kReserve = 1u << 20;

std::atomic<void*>& Reserve() {
  static std::atomic<void*> reserve = nullptr;
  return reserve;
}

void GiveReserve() {
  void* memory = Reserve().exchange(nullptr);
  if (memory == nullptr) throw std::bad_alloc();
  std::free(memory);
}

}  // namespace

void KeepMemoryReserve() {
  std::set_new_handler(GiveReserve);
  if (Reserve() == nullptr) Reserve() = std::malloc(kReserve);
}

}  // namespace pa
