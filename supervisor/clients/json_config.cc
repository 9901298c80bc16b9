#include "supervisor/clients/json_config.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Members that are ours, in the order in which a new entry has them.
using Wanted = std::vector<JsonValue::Member>;

// An entry of another kind of server would start two.
constexpr std::string_view kOtherKinds[] = {"url", "httpUrl", "serverUrl"};

JsonValue Strings(const std::vector<std::string>& strings) {
  std::vector<JsonValue> items;
  for (const std::string& text : strings) items.push_back(JsonValue::String(text));
  return JsonValue::Array(std::move(items));
}

Wanted WantedOf(const ServerEntry& entry, bool with_type) {
  Wanted wanted;
  if (with_type) wanted.emplace_back("type", JsonValue::String("stdio"));
  wanted.emplace_back("command", JsonValue::String(entry.command));
  wanted.emplace_back("args", Strings(entry.args));
  return wanted;
}

// What the document shall say, whatever its text looks like.
JsonValue With(const JsonValue* object, std::string_view key, JsonValue value) {
  std::vector<JsonValue::Member> members;
  if (object != nullptr) members = object->Members();
  const auto found = std::ranges::find(members, key, &JsonValue::Member::first);
  if (found != members.end()) {
    found->second = std::move(value);
  } else {
    members.emplace_back(key, std::move(value));
  }
  return JsonValue::Object(std::move(members));
}

// How the members of one object stand: each on a line of its own, or all on one.
struct Layout {
  bool lines = true;
  std::string indent;   // of the members
  std::string closing;  // of the bracket
};

class JsonMerger {
 public:
  JsonMerger(std::string_view text, const ServerEntry& entry, const JsoncDocument& document)
      : text_(text), entry_(entry), document_(document), end_(LineEnd(text)) {
    LookAtStyle();
  }

  std::expected<std::vector<TextEdit>, TextProblem> Edits(const JsonValue& before) {
    const JsoncValue& root = document_.root;
    const JsoncMember* section = root.Find(entry_.section);
    if (section == nullptr) {
      const Layout layout = LayoutOf(root);
      Insert(root, layout, Pair(entry_.section, Section(layout.indent, layout.lines)));
      return std::move(edits_);
    }
    if (section->value.kind != JsoncValue::Kind::kObject) return NoObject(*section);
    const JsoncMember* ours = section->value.Find(entry_.name);
    if (ours == nullptr) {
      const Layout layout = LayoutOf(section->value);
      Insert(section->value, layout, Pair(entry_.name, Entry(layout.indent, layout.lines)));
      return std::move(edits_);
    }
    if (ours->value.kind != JsoncValue::Kind::kObject) return NoObject(*ours);
    return Update(*ours, *before.Find(entry_.section)->Find(entry_.name));
  }

 private:
  std::unexpected<TextProblem> NoObject(const JsoncMember& member) const {
    return std::unexpected(TextProblem{
        member.value.begin, "expected an object as '" + member.key + "'; make it {} or remove it"});
  }

  void LookAtStyle() {
    const JsoncValue& root = document_.root;
    spread_ = Part(root.begin, root.end).contains('\n');
    if (root.members.empty()) return;
    const JsoncMember& first = root.members.front();
    spaced_ = first.value.begin > first.colon + 1;
    const std::string_view inner = IndentOf(text_, first.begin);
    const std::string_view outer = IndentOf(text_, root.begin);
    if (!StandsFirst(text_, first.begin) || !inner.starts_with(outer)) return;
    if (inner.size() > outer.size()) unit_ = inner.substr(outer.size());
  }

  std::string_view Part(std::size_t begin, std::size_t end) const {
    return text_.substr(begin, end - begin);
  }

  // Where the last that stands in it ends, a comment perhaps.
  std::size_t TailOf(const JsoncValue& object) const {
    const std::size_t last = object.end - 2;
    for (const JsoncDocument::Range& comment : document_.comments) {
      if (comment.begin > object.begin && comment.end <= object.end - 1 &&
          Part(comment.end, object.end - 1).find_first_not_of(kBlanks) == std::string_view::npos) {
        return comment.end;
      }
    }
    return text_.find_last_not_of(kBlanks, last) + 1;
  }

  Layout LayoutOf(const JsoncValue& object) const {
    Layout layout{.closing = std::string(IndentOf(text_, object.begin))};
    layout.indent = layout.closing + unit_;
    const std::string_view after = Part(TailOf(object), object.end - 1);
    if (object.members.empty()) {
      layout.lines = spread_ || &object == &document_.root;
      return layout;
    }
    const std::size_t first = object.members.front().begin;
    layout.lines = Part(object.begin, first).contains('\n') || after.contains('\n');
    if (StandsFirst(text_, first)) layout.indent = IndentOf(text_, first);
    return layout;
  }

  std::string Pair(std::string_view key, std::string value) const {
    return JsonValue::String(std::string(key)).Dump() + (spaced_ ? ": " : ":") + std::move(value);
  }

  // `items` within brackets.
  std::string Listed(std::string_view brackets, const std::vector<std::string>& items,
                     const Layout& layout) const {
    const std::string line = layout.lines ? end_ + layout.indent : "";
    const std::string between = layout.lines ? "," + line : spaced_ ? ", " : ",";
    std::string out(1, brackets[0]);
    for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? line : between) + items[i];
    if (layout.lines) out += end_ + layout.closing;
    return out + brackets[1];
  }

  std::string Text(const JsonValue& value, const Layout& layout) const {
    if (!value.IsArray()) return value.Dump();
    std::vector<std::string> items;
    for (const JsonValue& item : value.Items()) items.push_back(item.Dump());
    return Listed("[]", items, layout);
  }

  std::string Entry(const std::string& indent, bool lines) const {
    std::vector<std::string> members;
    for (const auto& [key, value] : WantedOf(entry_, entry_.with_type)) {
      members.push_back(Pair(key, Text(value, {.lines = false})));
    }
    return Listed("{}", members, {.lines = lines, .indent = indent + unit_, .closing = indent});
  }

  std::string Section(const std::string& indent, bool lines) const {
    return Listed("{}", {Pair(entry_.name, Entry(indent + unit_, lines))},
                  {.lines = lines, .indent = indent + unit_, .closing = indent});
  }

  // Behind all that stands in the object, comments too, so that these stay with what they are
  // about.
  void Insert(const JsoncValue& object, const Layout& layout, const std::string& members) {
    const std::size_t tail = TailOf(object);
    std::string text = layout.lines ? end_ + layout.indent : "";
    if (!layout.lines && spaced_ && !object.members.empty()) text = " ";
    text += members;
    if (object.trailing_comma) text += ",";
    const bool close = layout.lines && !Part(tail, object.end - 1).contains('\n');
    if (close) text += end_ + layout.closing;
    if (!object.members.empty() && !object.trailing_comma) {
      const std::size_t after = object.members.back().value.end;
      edits_.push_back({after, after, ","});
    }
    edits_.push_back({tail, close ? object.end - 1 : tail, std::move(text)});
  }

  std::expected<std::vector<TextEdit>, TextProblem> Update(const JsoncMember& ours,
                                                           const JsonValue& before) {
    for (const std::string_view kind : kOtherKinds) {
      const JsoncMember* found = ours.value.Find(kind);
      if (found == nullptr) continue;
      return std::unexpected(TextProblem{
          found->begin, "expected an entry that starts a program; this one has '" + found->key +
                            "': remove it, or give it another name than '" + ours.key + "'"});
    }
    std::string missing;
    const Layout layout = LayoutOf(ours.value);
    for (const auto& [key, value] : WantedOf(entry_, HasType(ours.value))) {
      const JsoncMember* found = ours.value.Find(key);
      if (found == nullptr) {
        const std::string between = layout.lines ? "," + end_ + layout.indent
                                    : spaced_    ? ", "
                                                 : ",";
        missing += (missing.empty() ? "" : between) + Pair(key, Text(value, {.lines = false}));
      } else if (before.Find(key)->Dump() != value.Dump()) {
        if (document_.HasComment(found->value)) return HasComment(*found, value);
        edits_.push_back(
            {found->value.begin, found->value.end, Text(value, ItemsOf(found->value))});
      }
    }
    std::ranges::sort(edits_, {}, &TextEdit::begin);
    if (!missing.empty()) Insert(ours.value, layout, missing);
    return std::move(edits_);
  }

  bool HasType(const JsoncValue& ours) const {
    return entry_.with_type || ours.Find("type") != nullptr;
  }

  static std::unexpected<TextProblem> HasComment(const JsoncMember& member,
                                                 const JsonValue& value) {
    return std::unexpected(TextProblem{
        member.value.begin, "expected '" + member.key +
                                "' without a comment, which would be lost; move it away, "
                                "or write yourself: " +
                                value.Dump()});
  }

  Layout ItemsOf(const JsoncValue& value) const {
    const std::size_t first = value.items.empty() ? value.end : value.items.front().begin;
    if (!Part(value.begin, first).contains('\n')) return {.lines = false};
    return {.lines = true,
            .indent = std::string(IndentOf(text_, first)),
            .closing = std::string(IndentOf(text_, value.begin))};
  }

  std::string_view text_;
  const ServerEntry& entry_;
  const JsoncDocument& document_;
  std::string end_;
  std::string unit_ = "  ";
  bool spaced_ = true;   // between key and value
  bool spread_ = false;  // over several lines
  std::vector<TextEdit> edits_;
};

// The old document with the entry in it: found out from values alone, as its text is from text
// alone.
JsonValue Expected(const JsonValue& before, const ServerEntry& entry) {
  const JsonValue* section = before.Find(entry.section);
  const JsonValue* ours = section != nullptr ? section->Find(entry.name) : nullptr;
  const bool has_type = ours != nullptr && ours->Find("type") != nullptr;
  JsonValue now = ours != nullptr ? *ours : JsonValue::Object({});
  for (auto& [key, value] : WantedOf(entry, entry.with_type || has_type)) {
    now = With(&now, key, std::move(value));
  }
  return With(&before, entry.section, With(section, entry.name, std::move(now)));
}

std::expected<JsonValue, TextProblem> ValueOf(std::string_view text, JsonDialect dialect) {
  PA_TRY(auto document, ReadJsonc(text, dialect));
  Result<JsonValue> value = ParseJson(PlainJson(text, document));
  if (!value) return std::unexpected(TextProblem{0, value.error().Message()});
  return *std::move(value);
}

}  // namespace

std::expected<std::string, TextProblem> MergeIntoJson(std::string_view text,
                                                      const ServerEntry& entry,
                                                      JsonDialect dialect) {
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) {
    auto whole = MergeIntoJson("{}", entry, dialect);
    if (whole) *whole += "\n";
    return whole;
  }
  PA_TRY(const auto document, ReadJsonc(text, dialect));
  if (document.root.kind != JsoncValue::Kind::kObject) {
    return std::unexpected(TextProblem{document.root.begin, "expected an object: {"});
  }
  PA_TRY(const auto before, ValueOf(text, dialect));
  PA_TRY(const auto edits, JsonMerger(text, entry, document).Edits(before));
  std::string now = Apply(text, edits);
  const auto after = ValueOf(now, dialect);
  if (!after || after->Dump() != Expected(before, entry).Dump()) {
    return std::unexpected(TextProblem{document.root.begin,
                                       "expected a document that stays the same around the entry; "
                                       "write it by hand"});
  }
  return now;
}

}  // namespace pa
