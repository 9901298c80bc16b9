#include "tests/support/failing_new.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace pa::testing {
namespace {

constinit std::atomic<std::ptrdiff_t> left = 0;  // 0: none fails
constinit std::atomic<std::size_t> smallest = 0;
constinit std::atomic<bool> has_failed = false;

bool Fails(std::size_t size) {
  if (left == 0 || size < smallest) return false;
  if (left.fetch_sub(1) != 1) return false;
  has_failed = true;
  return true;
}

}  // namespace

FailingNew::FailingNew(std::size_t nth, std::size_t least) {
  has_failed = false;
  smallest = least;
  left = static_cast<std::ptrdiff_t>(nth);
}

void FailingNew::Stop() { left = 0; }

bool FailingNew::failed() const { return has_failed; }

void* Allocate(std::size_t size) {
  if (Fails(size)) throw std::bad_alloc();
  while (true) {
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace pa::testing

// All but those with an alignment: a sanitizer that had made some of them would miss its own
// delete.
void* operator new(std::size_t size) { return pa::testing::Allocate(size); }
void* operator new[](std::size_t size) { return pa::testing::Allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return pa::testing::Allocate(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void* operator new[](std::size_t size, const std::nothrow_t& nothrow) noexcept {
  return operator new(size, nothrow);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
