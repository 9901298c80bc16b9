// The only file that includes simdjson. On-demand, because the DOM turns numbers into doubles;
// every scalar is visited, so nothing stays unvalidated. Compiles with simdjson 3.0 to 4.x: only
// calls that all of them have, and error codes instead of exceptions.
//
// Its checks of whoever uses it, in builds for debugging, write where they got no memory.
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/json_view.h"
#include "base/utf8.h"

namespace pa {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view TrimRight(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Room for the padding that simdjson wants to read behind the text.
std::unique_ptr<char[]> RoomFor(std::size_t size) {
  auto room = std::make_unique_for_overwrite<char[]>(size + simdjson::SIMDJSON_PADDING);
  std::fill_n(room.get() + size, simdjson::SIMDJSON_PADDING, '\0');
  return room;
}

// simdjson does not look whether it got the memory for what strings are unescaped into, and writes
// there.
struct Document : ondemand::document {
  bool HasRoomForStrings() { return iter.string_buf_loc() != nullptr; }
};

}  // namespace

class JsonReader::Parser {
 public:
  explicit Parser(const JsonLimits& limits) : limits_(limits) {
    // Sizes of nodes are of 32 bits. There are fewer nodes than bytes.
    limits_.max_bytes =
        std::min<std::size_t>(limits_.max_bytes, std::numeric_limits<std::uint32_t>::max());
  }

  Result<JsonView> Read(std::string_view text) {
    if (text.size() > limits_.max_bytes) {
      return std::unexpected(
          Error("parse JSON", "longer than " + std::to_string(limits_.max_bytes) + " bytes"));
    }
    Take(text);
    if (!ReadRoot()) return std::unexpected(Error("parse JSON", std::move(problem_)));
    return JsonView(nodes_.data());
  }

 private:
  using Node = JsonView::Node;
  using Kind = JsonValue::Kind;
  static constexpr std::size_t kFewNodes = 64;

  void Take(std::string_view text) {
    used_ = 0;
    values_ = 0;
    size_ = text.size() + 2;
    if (size_ > capacity_) {
      room_ = RoomFor(size_);
      capacity_ = size_;
    }
    // Within brackets a scalar at the root is nothing special; for simdjson it would be.
    room_[0] = '[';
    text.copy(room_.get() + 1, text.size());
    room_[text.size() + 1] = ']';
  }

  bool Refuse(std::string problem, std::string_view where = {}) {
    problem_ = std::move(problem);
    const char* begin = room_.get() + 1;
    const std::size_t size = size_ - 2;
    const char* at = where.begin();
    if (at >= begin && at <= begin + size) {
      problem_ += " at byte " + std::to_string(at - begin);
    }
    return false;
  }

  // What simdjson says, with where it stands.
  bool Refuse(simdjson::error_code error) {
    const char* where = nullptr;
    if (document_.current_location().get(where) != simdjson::SUCCESS) where = nullptr;
    return Refuse(simdjson::error_message(error), std::string_view(where, where));
  }

  bool ReadRoot() {
    // Stage 1: UTF-8, control characters in strings, unclosed strings.
    const simdjson::padded_string_view text(room_.get(), size_,
                                            capacity_ + simdjson::SIMDJSON_PADDING);
    if (const auto error = parser_.iterate(text).get(static_cast<ondemand::document&>(document_))) {
      if (error == simdjson::MEMALLOC) throw std::bad_alloc();  // which says nothing about the text
      return Refuse(simdjson::error_message(error));
    }
    if (!document_.HasRoomForStrings()) throw std::bad_alloc();
    ondemand::array root;
    if (const auto error = document_.get_array().get(root)) return Refuse(error);
    std::size_t count = 0;
    for (auto element : root) {
      ondemand::value value;
      if (const auto error = element.get(value)) return Refuse(error);
      if (++count > 1) return Refuse("more than one value", value.raw_json_token());
      if (!ReadValue(value, 1)) return false;
    }
    if (count == 0) return Refuse("no value");
    // A `]` in the text may have ended our own bracket early.
    const char* rest = nullptr;
    if (document_.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
      return Refuse("trailing bytes", std::string_view(rest, rest));
    }
    return true;
  }

  bool ReadValue(ondemand::value& value, std::size_t depth) {
    const std::string_view token = value.raw_json_token();
    if (++values_ > limits_.max_values) {
      return Refuse("more than " + std::to_string(limits_.max_values) + " values", token);
    }
    const char first = token.empty() ? '\0' : token[0];
    if (first == '"') return ReadString(value, token);
    if (first != '{' && first != '[') return ReadScalar(token);
    if (depth > limits_.max_depth) {
      return Refuse("nested deeper than " + std::to_string(limits_.max_depth), token);
    }
    return first == '{' ? ReadObject(value, depth) : ReadArray(value, depth);
  }

  // Nodes of the document before are written over: push_back would cost a tenth of reading a row.
  Node& Push(Kind kind, std::string_view text = {}) {
    if (used_ == room_for_nodes_) {
      nodes_.resize(2 * used_ + kFewNodes);
      room_for_nodes_ = nodes_.size();
    }
    Node& node = nodes_[used_++];
    node = {.data = text.data(), .size = static_cast<std::uint32_t>(text.size()), .kind = kind};
    return node;
  }

  // The list or object whose node is at `at` has no more nodes.
  void Close(std::size_t at, std::uint32_t size) {
    nodes_[at].size = size;
    nodes_[at].span = static_cast<std::uint32_t>(used_ - at);
  }

  bool ReadScalar(std::string_view raw) {
    const std::string_view token = TrimRight(raw);
    if (token == "true" || token == "false") {
      Push(Kind::kBool).size = token == "true" ? 1 : 0;
    } else if (token == "null") {
      Push(Kind::kNull);
    } else if (IsJsonNumber(token)) {
      Push(Kind::kNumber, token);
    } else {
      return Refuse("no JSON value", raw);
    }
    return true;
  }

  bool ReadString(ondemand::value& value, std::string_view token) {
    std::string_view text;
    if (const auto error = value.get_string().get(text)) {
      return Refuse(simdjson::error_message(error), token);
    }
    Push(Kind::kString, text);
    return CheckEscapes(text, token);
  }

  // The line is UTF-8, but an escape such as \udc00 names what is no character; all of those begin
  // with this byte. simdjson 3.0 refuses them itself, but promises it nowhere.
  bool CheckEscapes(std::string_view text, std::string_view where) {
    if (!text.contains('\xED') || IsValidUtf8(text)) return true;
    return Refuse("string with a lone surrogate", where);
  }

  bool ReadArray(ondemand::value& value, std::size_t depth) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return Refuse(error);
    const std::size_t at = used_;
    Push(Kind::kArray);
    std::uint32_t size = 0;
    for (auto element : array) {
      ondemand::value item;
      if (const auto error = element.get(item)) return Refuse(error);
      if (!ReadValue(item, depth + 1)) return false;
      ++size;
    }
    Close(at, size);
    return true;
  }

  bool ReadObject(ondemand::value& value, std::size_t depth) {
    const std::string_view where = value.raw_json_token();
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return Refuse(error);
    const std::size_t at = used_;
    Push(Kind::kObject);
    std::uint32_t size = 0;
    for (auto element : object) {
      if (!ReadMember(element, depth)) return false;
      ++size;
    }
    Close(at, size);
    if (const auto key = DuplicateKey(JsonView(&nodes_[at]))) {
      return Refuse("duplicate key '" + std::string(*key) + "' in the object", where);
    }
    return true;
  }

  // Takes the result, not the field: some releases have unescaped_key() without arguments only
  // there.
  bool ReadMember(simdjson::simdjson_result<ondemand::field>& field, std::size_t depth) {
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return Refuse(error);
    if (!CheckEscapes(key, {})) return false;
    Push(Kind::kString, key);
    ondemand::value value;
    if (const auto error = field.value().get(value)) return Refuse(error);
    return ReadValue(value, depth + 1);
  }

  // A few are compared with each other. Many are sorted: a hostile object has as many keys as fit
  // the line.
  std::optional<std::string_view> DuplicateKey(const JsonView& object) {
    constexpr std::size_t kFew = 16;
    keys_.clear();
    const bool few = object.Members().size() <= kFew;
    for (const auto& [key, value] : object.Members()) {
      if (few && std::ranges::find(keys_, key) != keys_.end()) return key;
      keys_.push_back(key);
    }
    if (few) return std::nullopt;
    std::ranges::sort(keys_);
    const auto twice = std::ranges::adjacent_find(keys_);
    return twice == keys_.end() ? std::nullopt : std::optional(*twice);
  }

  JsonLimits limits_;
  std::unique_ptr<char[]> room_;  // the text in brackets, and the padding
  std::size_t size_ = 0;          // with the brackets
  std::size_t capacity_ = 0;      // without the padding
  ondemand::parser parser_;
  Document document_;
  std::vector<Node> nodes_;
  std::size_t used_ = 0;            // of nodes_
  std::size_t room_for_nodes_ = 0;  // nodes_.size(), which takes a division
  std::vector<std::string_view> keys_;
  std::size_t values_ = 0;
  std::string problem_;
};

JsonReader::JsonReader(const JsonLimits& limits) : parser_(std::make_unique<Parser>(limits)) {}
JsonReader::~JsonReader() = default;

Result<JsonView> JsonReader::Read(std::string_view text) { return parser_->Read(text); }

JsonValue JsonView::ToValue() const {
  switch (kind()) {
    case Kind::kNull:
      return {};
    case Kind::kBool:
      return JsonValue::Bool(AsBool());
    case Kind::kNumber:
      return JsonValue::Number(std::string(NumberToken()));
    case Kind::kString:
      return JsonValue::String(std::string(AsString()));
    case Kind::kArray: {
      std::vector<JsonValue> items;
      items.reserve(Items().size());
      for (const JsonView& item : Items()) items.push_back(item.ToValue());
      return JsonValue::Array(std::move(items));
    }
    case Kind::kObject: {
      std::vector<JsonValue::Member> members;
      members.reserve(Members().size());
      for (const auto& [name, value] : Members()) members.emplace_back(name, value.ToValue());
      return JsonValue::Object(std::move(members));
    }
  }
  return {};
}

Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits) {
  JsonReader reader(limits);
  const Result<JsonView> document = reader.Read(text);
  if (!document) return std::unexpected(document.error());
  return document->ToValue();
}

}  // namespace pa
