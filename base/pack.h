// Packer, Unpacker: values as bytes, for a process of the same build on the same machine. Not a
// file format: nothing of it is kept, and no other version has to read it.
//
//    const std::string bytes = Pack(found, quarantine);
//    Unpacker unpacker(bytes);                            // the bytes may be hostile
//    if (!unpacker(found, quarantine) || !unpacker.AtEnd()) ...   // no Packer wrote that
//
// Numbers, bool, strings, durations, std::optional, std::pair, std::vector, std::set, std::map,
// std::unordered_map, std::expected and std::shared_ptr<const T> are packed as they are; objects
// that several pointers share stay shared. An enum needs its last value, a struct its fields
// (PackedMembers: all of them):
//
//    template <> inline constexpr Kind pa::kLastOf<Kind> = Kind::kTree;
//    template <> struct pa::PackedFields<PathStamp> {
//      static bool Visit(auto& io, auto& stamp) { return io(stamp.exists, stamp.inode); }
//    };
//
// The Unpacker never reads beyond its bytes, makes at most kMaxPackedElements elements, and goes at
// most kMaxPackedDepth structs deep.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <expected>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace pa {

inline constexpr std::size_t kMaxPackedElements = 4u << 20;
inline constexpr int kMaxPackedDepth = 256;

template <typename T>
struct PackedFields;

template <typename Enum>
inline constexpr Enum kLastOf = {};

class Packer {
 public:
  template <typename... T>
  bool operator()(const T&... values) {
    return (Put(values) && ...);
  }
  std::string Take() { return std::move(bytes_); }

 private:
  void PutRaw(const void* data, std::size_t size) {
    bytes_.append(static_cast<const char*>(data), size);
  }
  void PutCount(std::size_t count) {
    const auto number = static_cast<std::uint64_t>(count);
    PutRaw(&number, sizeof(number));
  }
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  bool Put(const T& value) {
    PutRaw(&value, sizeof(value));
    return true;
  }
  template <typename Rep, typename Period>
  bool Put(const std::chrono::duration<Rep, Period>& value) {
    return Put(value.count());
  }
  bool Put(const std::string& text) {
    PutCount(text.size());
    bytes_ += text;
    return true;
  }
  template <typename T>
  bool Put(const std::optional<T>& value) {
    return Put(value.has_value()) && (!value || Put(*value));
  }
  template <typename A, typename B>
  bool Put(const std::pair<A, B>& value) {
    return Put(value.first) && Put(value.second);
  }
  template <typename T, typename E>
  bool Put(const std::expected<T, E>& value) {
    if (!Put(value.has_value())) return false;
    if (!value) return Put(value.error());
    if constexpr (std::is_void_v<T>) {
      return true;
    } else {
      return Put(*value);
    }
  }
  template <typename T>
  bool Put(const std::vector<T>& values) {
    return PutAll(values);
  }
  template <typename T>
  bool Put(const std::set<T>& values) {
    return PutAll(values);
  }
  template <typename K, typename V, typename Compare>
  bool Put(const std::map<K, V, Compare>& values) {
    return PutAll(values);
  }
  template <typename K, typename V>
  bool Put(const std::unordered_map<K, V>& values) {
    return PutAll(values);
  }
  bool PutAll(const auto& values) {
    PutCount(values.size());
    for (const auto& value : values) {
      if (!Put(value)) return false;
    }
    return true;
  }
  // A number, and the object with the first mention of that number. 0: null.
  template <typename T>
  bool Put(const std::shared_ptr<const T>& value) {
    if (value == nullptr) return Put(std::uint32_t{0});
    const auto [known, is_new] =
        shared_.try_emplace(value.get(), static_cast<std::uint32_t>(shared_.size() + 1));
    return Put(known->second) && (!is_new || Put(*value));
  }
  template <typename T>
    requires requires { sizeof(PackedFields<T>); }
  bool Put(const T& value) {
    return PackedFields<T>::Visit(*this, value);
  }

  std::string bytes_;
  std::unordered_map<const void*, std::uint32_t> shared_;
};

template <typename... T>
std::string Pack(const T&... values) {
  Packer packer;
  packer(values...);
  return packer.Take();
}

class Unpacker {
 public:
  // Borrows `bytes`.
  explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

  // False: the bytes are not those of such values, and nothing more can be unpacked.
  template <typename... T>
  bool operator()(T&... values) {
    return (Get(values) && ...);
  }
  bool AtEnd() const { return rest_.empty(); }

 private:
  bool GetRaw(void* data, std::size_t size) {
    if (rest_.size() < size) return false;
    std::memcpy(data, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }
  // Each element takes a byte at least.
  bool GetCount(std::size_t& count) {
    std::uint64_t number = 0;
    if (!GetRaw(&number, sizeof(number)) || number > rest_.size()) return false;
    count = static_cast<std::size_t>(number);
    return true;
  }
  bool GetElements(std::size_t& count) {
    if (!GetCount(count) || count > elements_left_) return false;
    elements_left_ -= count;
    return true;
  }
  bool Get(bool& value) {
    unsigned char byte = 0;
    if (!GetRaw(&byte, 1) || byte > 1) return false;
    value = byte == 1;
    return true;
  }
  template <typename T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
  bool Get(T& value) {
    return GetRaw(&value, sizeof(value));
  }
  template <typename T>
    requires std::is_enum_v<T>
  bool Get(T& value) {
    std::underlying_type_t<T> number{};
    if (!GetRaw(&number, sizeof(number))) return false;
    if (!std::in_range<std::size_t>(number)) return false;
    if (static_cast<std::size_t>(number) > static_cast<std::size_t>(kLastOf<T>)) return false;
    value = static_cast<T>(number);
    return true;
  }
  template <typename Rep, typename Period>
  bool Get(std::chrono::duration<Rep, Period>& value) {
    Rep count{};
    if (!Get(count)) return false;
    value = std::chrono::duration<Rep, Period>(count);
    return true;
  }
  bool Get(std::string& text) {
    std::size_t size = 0;
    if (!GetCount(size)) return false;
    text.assign(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return true;
  }
  template <typename T>
  bool Get(std::optional<T>& value) {
    bool has = false;
    value.reset();
    return Get(has) && (!has || Get(value.emplace()));
  }
  template <typename A, typename B>
  bool Get(std::pair<A, B>& value) {
    return Get(value.first) && Get(value.second);
  }
  template <typename T, typename E>
  bool Get(std::expected<T, E>& value) {
    bool has = false;
    if (!Get(has)) return false;
    if (!has) {
      E error{};
      if (!Get(error)) return false;
      value = std::unexpected(std::move(error));
      return true;
    }
    if constexpr (std::is_void_v<T>) {
      value = {};
      return true;
    } else {
      return Get(value.emplace());
    }
  }
  template <typename T>
  bool Get(std::vector<T>& values) {
    std::size_t count = 0;
    if (!GetElements(count)) return false;
    values.clear();
    for (; count > 0; --count) {
      if (!Get(values.emplace_back())) return false;
    }
    return true;
  }
  template <typename T>
  bool Get(std::set<T>& values) {
    std::vector<T> all;
    if (!Get(all)) return false;
    values = {std::make_move_iterator(all.begin()), std::make_move_iterator(all.end())};
    return true;
  }
  template <typename K, typename V, typename Compare>
  bool Get(std::map<K, V, Compare>& values) {
    return GetEach<K, V>(values);
  }
  template <typename K, typename V>
  bool Get(std::unordered_map<K, V>& values) {
    return GetEach<K, V>(values);
  }
  template <typename K, typename V>
  bool GetEach(auto& values) {
    std::size_t count = 0;
    if (!GetElements(count)) return false;
    values.clear();
    for (; count > 0; --count) {
      K key{};
      V value{};
      if (!Get(key) || !Get(value)) return false;
      values.insert_or_assign(std::move(key), std::move(value));
    }
    return true;
  }
  template <typename T>
  bool Get(std::shared_ptr<const T>& value) {
    std::uint32_t number = 0;
    if (!Get(number)) return false;
    value = nullptr;
    if (number == 0) return true;
    if (number <= shared_.size()) {
      const Shared& known = shared_[number - 1];
      if (known.type != &kType<T> || known.object == nullptr) return false;
      value = std::static_pointer_cast<const T>(known.object);
      return true;
    }
    if (number != shared_.size() + 1) return false;
    if (elements_left_ == 0) return false;
    --elements_left_;
    shared_.push_back({&kType<T>, nullptr});  // an object cannot point to itself
    const auto made = std::make_shared<T>();
    if (!Get(*made)) return false;
    shared_[number - 1].object = made;
    value = made;
    return true;
  }
  template <typename T>
    requires requires { sizeof(PackedFields<T>); }
  bool Get(T& value) {
    if (depth_ == kMaxPackedDepth) return false;
    ++depth_;
    const bool got = PackedFields<T>::Visit(*this, value);
    --depth_;
    return got;
  }

  template <typename T>
  static constexpr char kType = 0;
  struct Shared {
    const char* type;
    std::shared_ptr<const void> object;  // null: not complete yet
  };

  std::string_view rest_;
  std::size_t elements_left_ = kMaxPackedElements;
  int depth_ = 0;
  std::vector<Shared> shared_;
};

// Each member of a struct that has kCount of them, all public:
//
//    template <> struct pa::PackedFields<Alias> : PackedMembers<2> {};
//
// A struct that gets a member does not compile before the number is right.
template <std::size_t kCount>
struct PackedMembers {
  static bool Visit(auto& io, auto& v) {
    if constexpr (kCount == 2) {
      auto& [a, b] = v;
      return io(a, b);
    } else if constexpr (kCount == 3) {
      auto& [a, b, c] = v;
      return io(a, b, c);
    } else if constexpr (kCount == 4) {
      auto& [a, b, c, d] = v;
      return io(a, b, c, d);
    } else if constexpr (kCount == 5) {
      auto& [a, b, c, d, e] = v;
      return io(a, b, c, d, e);
    } else if constexpr (kCount == 6) {
      auto& [a, b, c, d, e, f] = v;
      return io(a, b, c, d, e, f);
    } else if constexpr (kCount == 8) {
      auto& [a, b, c, d, e, f, g, h] = v;
      return io(a, b, c, d, e, f, g, h);
    } else {
      auto& [a, b, c, d, e, f, g, h, i] = v;
      return io(a, b, c, d, e, f, g, h, i);
    }
  }
};

template <>
struct PackedFields<Error> {
  static bool Visit(auto& io, auto& error) { return io(error.op, error.subject, error.sys_errno); }
};

}  // namespace pa
