#include "supervisor/results/projection.h"

#include "base/json.h"
#include "base/json_view.h"

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

// Whether anything of the value is wanted, be it an empty list.
template <typename Json>
bool Projection::Has(const Json& value, const Node& node) {
  if (node.whole) return true;
  if (value.IsObject()) return !node.names.empty();
  return value.IsArray() && (!node.indexes.empty() || !node.each.empty());
}

template <typename Json>
void Projection::WriteMembers(const Json& value, const Node& node, JsonWriter& writer) {
  writer.BeginObject();
  for (const auto& [name, member] : value.Members()) {
    const auto wanted = node.names.find(name);
    if (wanted == node.names.end() || !Has(member, wanted->second)) continue;
    WritePicked(member, wanted->second, writer.Key(name));
  }
  writer.EndObject();
}

template <typename Json>
void Projection::WriteItems(const Json& value, const Node& node, JsonWriter& writer) {
  writer.BeginArray();
  std::size_t i = 0;
  for (const auto& item : value.Items()) {
    const auto index = node.indexes.find(i++);
    const bool named = index != node.indexes.end();
    if (node.each.empty() && !named) continue;
    if (node.each.empty()) {
      WritePicked(item, index->second, writer);
    } else if (!named) {
      WritePicked(item, node.each.front(), writer);
    } else {
      Node both = node.each.front();
      Merge(both, index->second);
      WritePicked(item, both, writer);
    }
  }
  writer.EndArray();
}

template <typename Json>
void Projection::WritePicked(const Json& value, const Node& node, JsonWriter& writer) {
  if (!Has(value, node)) {
    writer.BeginObject().EndObject();
  } else if (node.whole) {
    writer.Value(value);
  } else if (value.IsObject()) {
    WriteMembers(value, node, writer);
  } else {
    WriteItems(value, node, writer);
  }
}

template <typename Json>
void Projection::Write(const Json& row, JsonWriter& writer) const {
  if (row.IsObject() || row.IsArray()) return WritePicked(row, root_, writer);
  writer.Value(row);
}

template void Projection::Write(const JsonValue& row, JsonWriter& writer) const;
template void Projection::Write(const JsonView& row, JsonWriter& writer) const;

}  // namespace pa
