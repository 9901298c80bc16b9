// Precompiled header: what nearly every unit test includes, for all tests of a folder. Tests still
// include what they use: clang-tidy and -Db_pch=false compile without this.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>
