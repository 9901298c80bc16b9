// Writes the value of a key in a fragment as JSON, for the defaults in the schema and for `policy
// show`.
//
//    if (HasValue(key, fragment)) WriteValue(writer, key, fragment);
//    for (const Item& item : ItemsOf(key, fragment)) ...   // each with the place that has set it
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "policy/fragment.h"
#include "policy/keys.h"

namespace pa::policy {

// False for a key without a value: the version, and keys that the fragment does not set.
bool HasValue(const Key& key, const PolicyFragment& fragment);

// These two require a value.
void WriteValue(JsonWriter& writer, const Key& key, const PolicyFragment& fragment);
const SourceLocation& PlaceOf(const Key& key, const PolicyFragment& fragment);

// The items of a list or mapping; none for other values.
struct Item {
  std::string name;  // the name of the member, in a mapping
  std::string json;
  SourceLocation at;
};
std::vector<Item> ItemsOf(const Key& key, const PolicyFragment& fragment);

}  // namespace pa::policy
