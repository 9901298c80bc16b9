// JsonWriter: writes JSON on one line, piece by piece, into a string.
//
//    JsonWriter w;
//    w.BeginObject().Key("id").Raw(id.token()).Key("text").String(bytes).EndObject();
//    transport.Send(std::move(w).Take());
//
// String() repairs its argument: bytes that are not UTF-8 become U+FFFD, one for each maximal
// invalid prefix (Unicode 15, 3.9, "U+FFFD Substitution of Maximal Subparts"), so that the output
// of a command can never break the protocol. Raw() inserts text that is already JSON on one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pa {

class JsonValue;
class JsonView;

class JsonWriter {
 public:
  JsonWriter& BeginObject();
  JsonWriter& EndObject();
  JsonWriter& BeginArray();
  JsonWriter& EndArray();
  JsonWriter& Key(std::string_view key);
  JsonWriter& String(std::string_view bytes);
  JsonWriter& Int(std::int64_t value);
  JsonWriter& Uint(std::uint64_t value);
  JsonWriter& Bool(bool value);
  JsonWriter& Null();
  JsonWriter& Raw(std::string_view json);
  JsonWriter& Value(const JsonValue& value);
  JsonWriter& Value(const JsonView& value);

  // Key and value in one call.
  JsonWriter& Field(std::string_view key, std::string_view value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, const char* value) { return Key(key).String(value); }
  JsonWriter& Field(std::string_view key, bool value) { return Key(key).Bool(value); }
  JsonWriter& Field(std::string_view key, std::int64_t value) { return Key(key).Int(value); }
  JsonWriter& Field(std::string_view key, int value) { return Key(key).Int(value); }
  JsonWriter& Field(std::string_view key, std::uint64_t value) { return Key(key).Uint(value); }

  // Memory for so many bytes in all: what is long is not copied each time that it grows.
  JsonWriter& Reserve(std::size_t bytes);

  // The finished document; asserts that every object and array has been closed.
  std::string Take() &&;

 private:
  void Separate();
  template <typename Json>
  JsonWriter& WriteValue(const Json& value);

  std::string out_;
  std::vector<bool> has_member_;  // one entry per open object or array
  bool after_key_ = false;
};

}  // namespace pa
