// Precompiled header: what nearly every test of a real server includes, for all of them. Tests
// still include what they use: clang-tidy and -Db_pch=false compile without this.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
