// What most of the policy includes of the standard library, parsed once. Sources still include what
// they use: the lint and the packages compile without this (-Db_pch=false).
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <functional>
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
