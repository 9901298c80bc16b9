#include "base/pack.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <expected>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pa {

enum class Colour : std::uint8_t { kRed, kGreen };

struct Leaf {
  std::string name = {};
  bool operator==(const Leaf&) const = default;
};

struct Tree {
  Colour colour = Colour::kRed;
  std::map<std::string, Tree> below = {};
  std::shared_ptr<const Leaf> leaf = {};
};

template <>
inline constexpr auto kLastOf<Colour> = Colour::kGreen;
template <>
struct PackedFields<Leaf> {
  static bool Visit(auto& io, auto& leaf) { return io(leaf.name); }
};
template <>
struct PackedFields<Tree> {
  static bool Visit(auto& io, auto& tree) { return io(tree.colour, tree.below, tree.leaf); }
};

namespace {

template <typename T>
std::optional<T> Unpacked(std::string_view bytes) {
  T value{};
  Unpacker unpacker(bytes);
  if (!unpacker(value) || !unpacker.AtEnd()) return std::nullopt;
  return value;
}

template <typename T>
void ExpectSame(const T& value) {
  const std::optional<T> again = Unpacked<T>(Pack(value));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(*again, value);
}

TEST(Pack, ValuesStayWhatTheyAre) {
  ExpectSame(true);
  ExpectSame(std::numeric_limits<std::int64_t>::min());
  ExpectSame(std::string("with\0nul", 8));
  ExpectSame(std::optional<int>());
  ExpectSame(std::optional<int>(3));
  ExpectSame(std::pair<std::string, bool>("a", true));
  ExpectSame(std::vector<std::string>{"a", "", "b"});
  ExpectSame(std::set<std::string>{"a", "b"});
  ExpectSame(std::chrono::milliseconds(-3));
  ExpectSame(std::map<int, std::string>{{1, "a"}, {-2, "b"}});
  ExpectSame(std::unordered_map<std::string, int>{{"a", 1}, {"b", 2}});
  ExpectSame(std::expected<std::string, int>("fine"));
  ExpectSame(std::expected<std::string, int>(std::unexpected(7)));
  ExpectSame(std::expected<void, int>(std::unexpected(7)));
  ExpectSame(Colour::kGreen);
  ExpectSame(Leaf{"x"});
}

TEST(Pack, WhatIsSharedStaysShared) {
  const auto leaf = std::make_shared<const Leaf>(Leaf{"one"});
  const std::vector<std::shared_ptr<const Leaf>> leaves = {leaf, nullptr, leaf};
  const auto again = Unpacked<std::vector<std::shared_ptr<const Leaf>>>(Pack(leaves));
  ASSERT_TRUE(again);
  EXPECT_EQ(again->at(0)->name, "one");
  EXPECT_EQ(again->at(1), nullptr);
  EXPECT_EQ(again->at(0), again->at(2));
}

TEST(Pack, NoPrefixIsAValue) {
  Tree tree{.colour = Colour::kGreen, .leaf = std::make_shared<const Leaf>(Leaf{"x"})};
  tree.below["a"].below["b"].leaf = tree.leaf;
  const std::string bytes = Pack(tree, std::vector<std::string>{"a", "b"});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Tree cut;
    std::vector<std::string> names;
    EXPECT_FALSE(Unpacker(std::string_view(bytes).substr(0, size))(cut, names)) << size;
  }
}

TEST(Pack, WhatNoPackerWritesIsRefused) {
  EXPECT_FALSE(Unpacked<bool>("\x02"));
  EXPECT_FALSE(Unpacked<Colour>("\x02"));
  EXPECT_TRUE(Unpacked<Colour>("\x01"));
  // More elements than there are bytes.
  EXPECT_FALSE(Unpacked<std::vector<Leaf>>(Pack(std::uint64_t{1} << 60)));
  EXPECT_FALSE(Unpacked<std::string>(Pack(std::uint64_t{1} << 60) + "x"));
  // An object that is not there yet, itself, or of another type.
  using Leaves = std::vector<std::shared_ptr<const Leaf>>;
  EXPECT_FALSE(Unpacked<Leaves>(Pack(std::uint64_t{1}, std::uint32_t{2}, std::string())));
  using Both = std::pair<std::shared_ptr<const Leaf>, std::shared_ptr<const Tree>>;
  EXPECT_FALSE(Unpacked<Both>(Pack(std::uint32_t{1}, std::string("x"), std::uint32_t{1})));
  EXPECT_FALSE(Unpacked<Tree>(Pack(Leaf{"x"})));
}

TEST(Pack, ElementsAndDepthHaveLimits) {
  std::string many = Pack(static_cast<std::uint64_t>(kMaxPackedElements + 1));
  many.resize(many.size() + kMaxPackedElements + 1, '\x01');
  EXPECT_FALSE(Unpacked<std::vector<char>>(many));
  const auto nested = [](int depth) {
    Tree top;
    Tree* at = &top;
    for (int i = 1; i < depth; ++i) at = &at->below["x"];
    return Pack(top);
  };
  Tree tree;
  EXPECT_TRUE(Unpacker(nested(kMaxPackedDepth))(tree));
  EXPECT_FALSE(Unpacker(nested(kMaxPackedDepth + 1))(tree));
}

}  // namespace
}  // namespace pa
