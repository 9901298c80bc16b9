// The value of a key in a fragment, written out: for the schema's defaults and for `policy show`.
#pragma once

#include <string>
#include <vector>

#include "base/json_writer.h"
#include "policy/fragment.h"
#include "policy/keys.h"

namespace pa::policy {

// False for what has no value: the version, and what the fragment does not set.
bool HasValue(const Key& key, const PolicyFragment& fragment);

// The rest need a value.
void WriteValue(JsonWriter& writer, const Key& key, const PolicyFragment& fragment);
const Place& PlaceOf(const Key& key, const PolicyFragment& fragment);

// The items of a list or mapping; none for other values.
struct Item {
  std::string name;  // of a mapping's member
  std::string json;
  Place at;
};
std::vector<Item> ItemsOf(const Key& key, const PolicyFragment& fragment);

}  // namespace pa::policy
