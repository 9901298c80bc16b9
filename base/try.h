// PA_TRY: takes the value of a std::expected, or returns its error from the function.
//
//    PA_TRY(const UniqueFd fd, OpenRegular(path, O_RDONLY));   // Result<UniqueFd>
//    PA_TRY(content, ReadFile(path, kMaxBytes));               // into a variable that exists
//    PA_TRY_VOID(Attempt(fsync(fd.get()), "fsync", path));     // SysResult<void>
//
// The function must return a std::expected that can hold the error. A coroutine has to co_return:
// PA_CO_TRY and PA_CO_TRY_VOID are the same for it. What they take must contain no co_await.
//
// PA_TRY is several statements: in an `if` or a loop it needs braces.
#pragma once

#include <expected>
#include <utility>

// NOLINTBEGIN(cppcoreguidelines-macro-usage, bugprone-macro-parentheses): it declares and it
// returns.
#define PA_TRY_JOIN_(a, b) a##b
#define PA_TRY_NAME_(line) PA_TRY_JOIN_(pa_try_, line)
#define PA_TRY_(returns, name, declaration, ...)               \
  auto name = (__VA_ARGS__);                                   \
  if (!name) returns std::unexpected(std::move(name).error()); \
  declaration = *std::move(name)
#define PA_TRY_VOID_(returns, ...) \
  if (auto pa_done = (__VA_ARGS__); !pa_done) returns std::unexpected(std::move(pa_done).error())

#define PA_TRY(declaration, ...) PA_TRY_(return, PA_TRY_NAME_(__LINE__), declaration, __VA_ARGS__)
#define PA_TRY_VOID(...) PA_TRY_VOID_(return, __VA_ARGS__)
#define PA_CO_TRY(declaration, ...) \
  PA_TRY_(co_return, PA_TRY_NAME_(__LINE__), declaration, __VA_ARGS__)
#define PA_CO_TRY_VOID(...) PA_TRY_VOID_(co_return, __VA_ARGS__)
// NOLINTEND(cppcoreguidelines-macro-usage, bugprone-macro-parentheses)
