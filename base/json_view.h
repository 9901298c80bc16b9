// JsonReader, JsonView: JSON documents read one after the other with the same buffers, as views of
// them: for rows that are looked at once, where a JsonValue for each would be most of the work.
//
//    JsonReader reader;
//    Result<JsonView> row = reader.Read(line);        // valid until the next Read
//    const auto name = row->Find("name");
//    if (name && name->IsString()) Use(name->AsString());
//
// Accepts and refuses what ParseJson does, which is a JsonReader for one document. A view is the
// size of a pointer and has the names of JsonValue's members, so that a template takes both. Like
// ParseJson, Read throws std::bad_alloc if there is no memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json.h"

namespace pa {

class JsonView {
 public:
  using Kind = JsonValue::Kind;
  using Member = std::pair<std::string_view, JsonView>;

  // What a reader writes for each value, and for the key before each member's value.
  struct Node {
    const char* data = nullptr;  // a string's content, a number's token
    std::uint32_t size = 0;      // its bytes; of a list or object how many it has; of true 1
    std::uint32_t span = 1;      // how many nodes the value has, with itself
    Kind kind = Kind::kNull;

    std::string_view Text() const { return {data, size}; }
  };

  explicit JsonView(const Node* node) : node_(node) {}

  Kind kind() const { return node_->kind; }
  bool IsNull() const { return kind() == Kind::kNull; }
  bool IsBool() const { return kind() == Kind::kBool; }
  bool IsNumber() const { return kind() == Kind::kNumber; }
  bool IsString() const { return kind() == Kind::kString; }
  bool IsArray() const { return kind() == Kind::kArray; }
  bool IsObject() const { return kind() == Kind::kObject; }

  // The caller must have checked the kind.
  bool AsBool() const { return node_->size == 1; }
  std::string_view AsString() const { return node_->Text(); }
  std::string_view NumberToken() const { return node_->Text(); }

  // Over a list's items: JsonView; over an object's members: Member.
  template <typename Value>
  class Iterator {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(const Node* node) : node_(node) {}
    Value operator*() const {
      if constexpr (kHasKey) {
        return {node_->Text(), JsonView(node_ + 1)};
      } else {
        return JsonView(node_);
      }
    }
    Iterator& operator++() {
      node_ += kHasKey ? 1 + node_[1].span : node_->span;
      return *this;
    }
    Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
    bool operator==(const Iterator&) const = default;

   private:
    static constexpr bool kHasKey = std::is_same_v<Value, Member>;
    const Node* node_ = nullptr;
  };
  template <typename Value>
  class Range {
   public:
    Range(const Node* first, const Node* end, std::size_t size)
        : first_(first), end_(end), size_(size) {}
    Iterator<Value> begin() const { return Iterator<Value>(first_); }
    Iterator<Value> end() const { return Iterator<Value>(end_); }
    std::size_t size() const { return size_; }

   private:
    const Node* first_;
    const Node* end_;
    std::size_t size_;
  };
  Range<JsonView> Items() const { return {node_ + 1, node_ + node_->span, node_->size}; }
  Range<Member> Members() const { return {node_ + 1, node_ + node_->span, node_->size}; }

  // The member of that name; nothing if this is not an object or has no such member.
  std::optional<JsonView> Find(std::string_view key) const {
    if (!IsObject()) return std::nullopt;
    for (const auto& [name, value] : Members()) {
      if (name == key) return value;
    }
    return std::nullopt;
  }

  JsonValue ToValue() const;

 private:
  const Node* node_;
};

class JsonReader {
 public:
  explicit JsonReader(const JsonLimits& limits = {});
  ~JsonReader();

  // Errors as ParseJson's.
  Result<JsonView> Read(std::string_view text);

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace pa
