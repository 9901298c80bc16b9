// Projection: of each row the fields that are wanted, nested as they were.
//
//    Projection projection(paths);                     // {"id", "contact.email", "tags[0]"}
//    JsonValue less = projection.Apply(row);           // {"id": 1, "contact": {"email": ".."}, ..}
//
// A row without any of them stays as {}, and so does an element of a list without the field, so
// that positions hold; the elements that [n] picks stand alone in their array, in their order. What
// is no object or list passes unchanged at the top and is left out further below.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "supervisor/results/field_path.h"

namespace pa {

class Projection {
 public:
  explicit Projection(std::span<const FieldPath> paths);

  JsonValue Apply(const JsonValue& row) const;

 private:
  // The paths as a tree.
  struct Node {
    bool whole = false;  // a path ends here: all of the value is wanted
    std::map<std::string, Node, std::less<>> names;
    std::map<std::size_t, Node> indexes;
    std::vector<Node> each;  // none, or the one of [*]
  };
  static void Add(Node& node, std::span<const PathStep> steps);
  static void Merge(Node& into, const Node& more);
  static std::optional<JsonValue> Pick(const JsonValue& value, const Node& node);
  static JsonValue PickMembers(const JsonValue& value, const Node& node);
  static JsonValue PickItems(const JsonValue& value, const Node& node);

  Node root_;
};

}  // namespace pa
