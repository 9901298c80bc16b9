// Precompiled header: what most of the supervisor includes of the standard library, libuv and fmt.
// Sources still include what they use: the lint and the packages compile without this
// (-Db_pch=false).
#include <fmt/format.h>
#include <uv.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>
