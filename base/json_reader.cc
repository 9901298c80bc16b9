// The only file that includes simdjson. On-demand, because the DOM turns numbers into doubles;
// every scalar is visited, so nothing stays unvalidated. Compiles with simdjson 3.0 to 4.x: only
// calls that all of them have, and error codes instead of exceptions.
//
// Its checks of whoever uses it, in builds for debugging, write where they got no memory.
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>

#include <algorithm>
#include <new>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"

namespace pa {
namespace {

namespace ondemand = simdjson::ondemand;

std::string_view TrimRight(std::string_view token) {
  const std::size_t last = token.find_last_not_of(" \t\r\n");
  return token.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

// Sorted views instead of a pairwise search: a hostile object has as many keys as fit the line.
const std::string* DuplicateKey(const std::vector<JsonValue::Member>& members) {
  std::vector<const std::string*> keys;
  keys.reserve(members.size());
  for (const JsonValue::Member& member : members) keys.push_back(&member.first);
  const auto value = [](const std::string* key) -> std::string_view { return *key; };
  std::ranges::sort(keys, {}, value);
  const auto twice = std::ranges::adjacent_find(keys, {}, value);
  return twice == keys.end() ? nullptr : *twice;
}

// simdjson does not look whether it got the memory for what strings are unescaped into, and writes
// there.
struct Document : ondemand::document {
  bool HasRoomForStrings() { return iter.string_buf_loc() != nullptr; }
};

class Reader {
 public:
  Reader(std::string_view text, const JsonLimits& limits)
      : limits_(limits), padded_(text.size() + 2) {
    if (padded_.data() == nullptr) throw std::bad_alloc();
    // Within brackets a scalar at the root is nothing special; for simdjson it would be.
    padded_.data()[0] = '[';
    text.copy(padded_.data() + 1, text.size());
    padded_.data()[text.size() + 1] = ']';
  }

  Result<JsonValue> Read() {
    JsonValue value;
    if (!ReadRoot(value)) return std::unexpected(Error("parse JSON", problem_));
    return value;
  }

 private:
  bool Refuse(std::string problem, std::string_view where = {}) {
    problem_ = std::move(problem);
    const char* begin = padded_.data() + 1;
    const std::size_t size = padded_.size() - 2;
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

  bool ReadRoot(JsonValue& out) {
    // Stage 1: UTF-8, control characters in strings, unclosed strings.
    if (const auto error =
            parser_.iterate(padded_).get(static_cast<ondemand::document&>(document_))) {
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
      if (!ReadValue(value, 1, out)) return false;
    }
    if (count == 0) return Refuse("no value");
    // A `]` in the text may have ended our own bracket early.
    const char* rest = nullptr;
    if (document_.current_location().get(rest) != simdjson::OUT_OF_BOUNDS) {
      return Refuse("trailing bytes", std::string_view(rest, rest));
    }
    return true;
  }

  bool ReadValue(ondemand::value& value, std::size_t depth, JsonValue& out) {
    const std::string_view token = value.raw_json_token();
    if (++values_ > limits_.max_values) {
      return Refuse("more than " + std::to_string(limits_.max_values) + " values", token);
    }
    const char first = token.empty() ? '\0' : token[0];
    if (first == '"') return ReadString(value, token, out);
    if (first != '{' && first != '[') return ReadScalar(token, out);
    if (depth > limits_.max_depth) {
      return Refuse("nested deeper than " + std::to_string(limits_.max_depth), token);
    }
    return first == '{' ? ReadObject(value, depth, out) : ReadArray(value, depth, out);
  }

  bool ReadScalar(std::string_view raw, JsonValue& out) {
    const std::string_view token = TrimRight(raw);
    if (token == "true" || token == "false") {
      out = JsonValue::Bool(token == "true");
    } else if (token == "null") {
      out = JsonValue();
    } else if (IsJsonNumber(token)) {
      out = JsonValue::Number(std::string(token));
    } else {
      return Refuse("no JSON value", raw);
    }
    return true;
  }

  bool ReadString(ondemand::value& value, std::string_view token, JsonValue& out) {
    std::string_view text;
    if (const auto error = value.get_string().get(text)) {
      return Refuse(simdjson::error_message(error), token);
    }
    const bool has_escapes = token.find('\\') != std::string_view::npos;
    if (has_escapes && !CheckEscapes(text, token)) return false;
    out = JsonValue::String(std::string(text));
    return true;
  }

  // The line is UTF-8, but an escape such as \udc00 can still name what is no character.
  bool CheckEscapes(std::string_view text, std::string_view where) {
    return IsValidUtf8(text) || Refuse("string with a lone surrogate", where);
  }

  bool ReadArray(ondemand::value& value, std::size_t depth, JsonValue& out) {
    ondemand::array array;
    if (const auto error = value.get_array().get(array)) return Refuse(error);
    std::vector<JsonValue> items;
    for (auto element : array) {
      ondemand::value item;
      if (const auto error = element.get(item)) return Refuse(error);
      if (!ReadValue(item, depth + 1, items.emplace_back())) return false;
    }
    out = JsonValue::Array(std::move(items));
    return true;
  }

  bool ReadObject(ondemand::value& value, std::size_t depth, JsonValue& out) {
    const std::string_view where = value.raw_json_token();
    ondemand::object object;
    if (const auto error = value.get_object().get(object)) return Refuse(error);
    std::vector<JsonValue::Member> members;
    for (auto element : object) {
      if (!ReadMember(element, depth, members.emplace_back())) return false;
    }
    if (const std::string* key = DuplicateKey(members)) {
      return Refuse("duplicate key '" + *key + "' in the object", where);
    }
    out = JsonValue::Object(std::move(members));
    return true;
  }

  // Takes the result, not the field: some releases have unescaped_key() without arguments only
  // there.
  bool ReadMember(simdjson::simdjson_result<ondemand::field>& field, std::size_t depth,
                  JsonValue::Member& out) {
    std::string_view key;
    if (const auto error = field.unescaped_key().get(key)) return Refuse(error);
    if (!CheckEscapes(key, {})) return false;
    out.first = key;
    ondemand::value value;
    if (const auto error = field.value().get(value)) return Refuse(error);
    return ReadValue(value, depth + 1, out.second);
  }

  const JsonLimits& limits_;
  simdjson::padded_string padded_;
  ondemand::parser parser_;
  Document document_;
  std::size_t values_ = 0;
  std::string problem_;
};

}  // namespace

Result<JsonValue> ParseJson(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return std::unexpected(
        Error("parse JSON", "longer than " + std::to_string(limits.max_bytes) + " bytes"));
  }
  return Reader(text, limits).Read();
}

}  // namespace pa
