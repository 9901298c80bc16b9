// Projection: of each row the fields that are wanted, nested as they were.
//
//    Projection projection(paths);                     // {"id", "contact.email", "tags[0]"}
//    projection.Write(row, writer);                    // {"id": 1, "contact": {"email": ".."}, ..}
//
// A row without any of them stays as {}, and so does an element of a list without the field, so
// that positions hold; the elements that [n] picks stand alone in their array, in their order. What
// is no object or list passes unchanged at the top and is left out further below.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json_writer.h"
#include "supervisor/results/field_path.h"

namespace pa {

class Projection {
 public:
  explicit Projection(std::span<const FieldPath> paths);

  // A JsonValue or a JsonView.
  template <typename Json>
  void Write(const Json& row, JsonWriter& writer) const;

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
  template <typename Json>
  static bool Has(const Json& value, const Node& node);
  template <typename Json>
  static void WritePicked(const Json& value, const Node& node, JsonWriter& writer);
  template <typename Json>
  static void WriteMembers(const Json& value, const Node& node, JsonWriter& writer);
  template <typename Json>
  static void WriteItems(const Json& value, const Node& node, JsonWriter& writer);

  Node root_;
};

}  // namespace pa
