// Chores of the janitor that do what a test wants, beside those of the guard. The unit tests'
// program is the janitor, too (tests/support/janitor_main.cc).
//
//    Ask<std::string>(janitor, {.chore = testing::kTestEcho}, text)
#pragma once

#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/pack.h"
#include "supervisor/guard/guard_fields.h"
#include "supervisor/janitor/janitor.h"

namespace pa::testing {

inline constexpr std::string_view kTestEcho = "test-echo";  // string -> string
inline constexpr std::string_view kTestPid = "test-pid";    // string -> int
inline constexpr std::string_view kTestRead = "test-read";  // path -> Result<string>
inline constexpr std::string_view kTestCrash = "test-crash";
inline constexpr std::string_view kTestHang = "test-hang";
inline constexpr std::string_view kTestStay = "test-stay";  // says that it is done, and goes on
inline constexpr std::string_view kTestMemory = "test-memory";
inline constexpr std::string_view kTestDescriptors = "test-descriptors";  // -> vector<uint64>

std::vector<Chore> ChoresForTests();  // with those of the server

}  // namespace pa::testing
