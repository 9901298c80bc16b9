#include "supervisor/results/projection.h"

#include <optional>
#include <utility>

namespace pa {

Projection::Projection(std::span<const FieldPath> paths) {
  for (const FieldPath& path : paths) Add(root_, path.steps);
}

void Projection::Add(Node& node, std::span<const PathStep> steps) {
  if (steps.empty()) {
    node.whole = true;
    return;
  }
  const PathStep& step = steps.front();
  switch (step.kind) {
    case PathStep::Kind::kName:
      return Add(node.names[step.name], steps.subspan(1));
    case PathStep::Kind::kIndex:
      return Add(node.indexes[step.index], steps.subspan(1));
    case PathStep::Kind::kEach:
      if (node.each.empty()) node.each.emplace_back();
      return Add(node.each.front(), steps.subspan(1));
  }
}

void Projection::Merge(Node& into, const Node& more) {
  into.whole = into.whole || more.whole;
  for (const auto& [name, node] : more.names) Merge(into.names[name], node);
  for (const auto& [index, node] : more.indexes) Merge(into.indexes[index], node);
  if (more.each.empty()) return;
  if (into.each.empty()) into.each.emplace_back();
  Merge(into.each.front(), more.each.front());
}

JsonValue Projection::PickMembers(const JsonValue& value, const Node& node) {
  std::vector<JsonValue::Member> members;
  for (const auto& [name, member] : value.Members()) {
    const auto wanted = node.names.find(name);
    if (wanted == node.names.end()) continue;
    if (auto picked = Pick(member, wanted->second)) members.emplace_back(name, *std::move(picked));
  }
  return JsonValue::Object(std::move(members));
}

JsonValue Projection::PickItems(const JsonValue& value, const Node& node) {
  std::vector<JsonValue> items;
  const std::vector<JsonValue>& all = value.Items();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto index = node.indexes.find(i);
    const bool named = index != node.indexes.end();
    if (node.each.empty() && !named) continue;
    Node wanted = node.each.empty() ? Node() : node.each.front();
    if (named) Merge(wanted, index->second);
    items.push_back(Pick(all[i], wanted).value_or(JsonValue::Object({})));
  }
  return JsonValue::Array(std::move(items));
}

std::optional<JsonValue> Projection::Pick(const JsonValue& value, const Node& node) {
  if (node.whole) return value;
  if (value.IsObject() && !node.names.empty()) return PickMembers(value, node);
  if (value.IsArray() && (!node.indexes.empty() || !node.each.empty())) {
    return PickItems(value, node);
  }
  return std::nullopt;
}

JsonValue Projection::Apply(const JsonValue& row) const {
  if (!row.IsObject() && !row.IsArray()) return row;
  return Pick(row, root_).value_or(JsonValue::Object({}));
}

}  // namespace pa
