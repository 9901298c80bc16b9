#include "supervisor/clients/json_config.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "base/json.h"
#include "base/try.h"

namespace pa {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// Members that are ours, in the order in which a new entry has them.
using Wanted = std::vector<JsonValue::Member>;

// An entry of another kind of server would start two.
constexpr std::string_view kProgram = "command";
constexpr std::string_view kOtherKinds[] = {"url", "httpUrl", "serverUrl"};

JsonValue Strings(const std::vector<std::string>& strings) {
  std::vector<JsonValue> items;
  for (const std::string& text : strings) items.push_back(JsonValue::String(text));
  return JsonValue::Array(std::move(items));
}

// `there`: the entry as it is; null: it is a new one. Headers that it has are the user's.
Wanted WantedOf(const ServerEntry& entry, const JsonValue* there) {
  Wanted wanted;
  const auto has = [&](std::string_view key) {
    return there != nullptr && there->Find(key) != nullptr;
  };
  const bool by_url = !entry.url.empty();
  if (entry.with_type || has("type")) {
    wanted.emplace_back("type", JsonValue::String(by_url ? "http" : "stdio"));
  }
  if (by_url) {
    wanted.emplace_back(entry.url_key, JsonValue::String(entry.url));
    if (has("headers")) return wanted;
    wanted.emplace_back(
        "headers", JsonValue::Object({{"Authorization", JsonValue::String(entry.authorization)}}));
    return wanted;
  }
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

// The members or items between the brackets of a value, where they begin and end.
struct Element {
  std::size_t begin, end;
};
std::vector<Element> ElementsOf(const JsoncValue& value) {
  std::vector<Element> elements;
  for (const JsoncMember& member : value.members) {
    elements.push_back({member.begin, member.value.end});
  }
  for (const JsoncValue& item : value.items) elements.push_back({item.begin, item.end});
  return elements;
}

// Edits of a document in its own style.
class JsonEditor {
 public:
  JsonEditor(std::string_view text, const JsoncDocument& document)
      : text_(text), document_(document), end_(LineEnd(text)) {
    LookAtStyle();
  }

  std::vector<TextEdit> Take() { return std::move(edits_); }

  static std::unexpected<TextProblem> NoObject(const JsoncMember& member) {
    return std::unexpected(TextProblem{
        member.value.begin, "expected an object as '" + member.key + "'; make it {} or remove it"});
  }

  std::string Pair(std::string_view key, std::string value) const {
    return JsonValue::String(std::string(key)).Dump() + (spaced_ ? ": " : ":") + std::move(value);
  }

  // What stands between two elements.
  std::string Between(const Layout& layout) const {
    if (layout.lines) return "," + end_ + layout.indent;
    return spaced_ ? ", " : ",";
  }
  // Of an object that is a member of one that is laid out so.
  Layout Inner(const Layout& layout) const {
    return {.lines = layout.lines, .indent = layout.indent + unit_, .closing = layout.indent};
  }

  // `items` within brackets.
  std::string Listed(std::string_view brackets, const std::vector<std::string>& items,
                     const Layout& layout) const {
    const std::string line = layout.lines ? end_ + layout.indent : "";
    const std::string between = Between(layout);
    std::string out(1, brackets[0]);
    for (std::size_t i = 0; i < items.size(); ++i) out += (i == 0 ? line : between) + items[i];
    if (layout.lines) out += end_ + layout.closing;
    return out + brackets[1];
  }

  Layout LayoutOf(const JsoncValue& object) const {
    Layout layout{.closing = std::string(IndentOf(text_, object.begin))};
    layout.indent = layout.closing + unit_;
    const std::string_view after = Part(TailOf(object), object.end - 1);
    const std::vector<Element> elements = ElementsOf(object);
    if (elements.empty()) {
      layout.lines = spread_ || &object == &document_.root;
      return layout;
    }
    const std::size_t first = elements.front().begin;
    layout.lines = Part(object.begin, first).contains('\n') || after.contains('\n');
    if (StandsFirst(text_, first)) layout.indent = IndentOf(text_, first);
    return layout;
  }

  // Behind all that stands in the object, comments too, so that these stay with what they are
  // about.
  void Insert(const JsoncValue& object, const Layout& layout, const std::string& members) {
    const std::size_t tail = TailOf(object);
    const std::vector<Element> elements = ElementsOf(object);
    std::string text = layout.lines ? end_ + layout.indent : "";
    if (!layout.lines && spaced_ && !elements.empty()) text = " ";
    text += members;
    if (object.trailing_comma) text += ",";
    const bool close = layout.lines && !Part(tail, object.end - 1).contains('\n');
    if (close) text += end_ + layout.closing;
    if (!elements.empty() && !object.trailing_comma) {
      const std::size_t after = elements.back().end;
      edits_.push_back({after, after, ","});
    }
    edits_.push_back({tail, close ? object.end - 1 : tail, std::move(text)});
  }

  // An element with its comma; its comments stay.
  void Remove(const JsoncValue& list, std::size_t index) {
    const std::vector<Element> elements = ElementsOf(list);
    const Element& gone = elements[index];
    const bool last = index + 1 == elements.size();
    const std::size_t before = index == 0 ? list.begin + 1 : elements[index - 1].end;
    if (elements.size() == 1 && !document_.HasComment(list)) {
      edits_.push_back({list.begin + 1, list.end - 1, ""});
    } else if (index > 0 && !HasCommentWithin(before, gone.begin)) {
      edits_.push_back({before, gone.end, ""});
    } else if (!last && !HasCommentWithin(gone.end, elements[index + 1].begin)) {
      edits_.push_back({gone.begin, elements[index + 1].begin, ""});
    } else {
      RemoveAmongComments(gone, !last || list.trailing_comma, index == 0 ? 0 : before);
    }
  }

 protected:
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

  std::string_view text_;
  const JsoncDocument& document_;
  std::string end_;
  std::string unit_ = "  ";
  bool spaced_ = true;   // between key and value
  bool spread_ = false;  // over several lines
  std::vector<TextEdit> edits_;

 private:
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

  // With the comma behind it, or else with the one after `before`, 0: there is none.
  void RemoveAmongComments(const Element& gone, bool comma_behind, std::size_t before) {
    std::size_t begin = gone.begin;
    if (!comma_behind) {
      if (before != 0) edits_.push_back({CommaAfter(before), CommaAfter(before) + 1, ""});
      edits_.push_back({begin, gone.end, ""});
      return;
    }
    const std::size_t comma = CommaAfter(gone.end);
    const std::size_t newline = std::min(text_.find('\n', comma), text_.size());
    const bool alone =
        StandsFirst(text_, begin) &&
        Part(gone.end, comma).find_first_not_of(kBlanks) == std::string_view::npos &&
        Part(comma + 1, newline).find_first_not_of(kBlanks) == std::string_view::npos;
    if (alone) begin = text_.find_last_not_of(" \t\r\n", begin - 1) + 1;
    edits_.push_back({begin, gone.end, ""});
    edits_.push_back({comma, comma + 1, ""});
  }

  bool HasCommentWithin(std::size_t begin, std::size_t end) const {
    return std::ranges::any_of(document_.comments, [&](const JsoncDocument::Range& comment) {
      return comment.begin >= begin && comment.end <= end;
    });
  }

  // The comma behind an element that ends at `at`.
  std::size_t CommaAfter(std::size_t at) const {
    for (;;) {
      at = text_.find_first_not_of(kBlanks, at);
      const auto comment = std::ranges::find(document_.comments, at, &JsoncDocument::Range::begin);
      if (comment == document_.comments.end()) return at;
      at = comment->end;
    }
  }
};

class JsonMerger : public JsonEditor {
 public:
  JsonMerger(std::string_view text, const ServerEntry& entry, const JsoncDocument& document)
      : JsonEditor(text, document), entry_(entry) {}

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
  std::string Text(const JsonValue& value, const Layout& layout) const {
    std::vector<std::string> items;
    if (value.IsObject()) {
      for (const auto& [key, member] : value.Members()) items.push_back(Pair(key, member.Dump()));
      return Listed("{}", items, {.lines = false});
    }
    if (!value.IsArray()) return value.Dump();
    for (const JsonValue& item : value.Items()) items.push_back(item.Dump());
    return Listed("[]", items, layout);
  }

  std::string Entry(const std::string& indent, bool lines) const {
    std::vector<std::string> members;
    for (const auto& [key, value] : WantedOf(entry_, nullptr)) {
      members.push_back(Pair(key, Text(value, {.lines = false})));
    }
    return Listed("{}", members, {.lines = lines, .indent = indent + unit_, .closing = indent});
  }

  std::string Section(const std::string& indent, bool lines) const {
    return Listed("{}", {Pair(entry_.name, Entry(indent + unit_, lines))},
                  {.lines = lines, .indent = indent + unit_, .closing = indent});
  }

  std::expected<std::vector<TextEdit>, TextProblem> Update(const JsoncMember& ours,
                                                           const JsonValue& before) {
    const bool by_url = !entry_.url.empty();
    for (const std::string_view kind : {kOtherKinds[0], kOtherKinds[1], kOtherKinds[2], kProgram}) {
      const JsoncMember* found = ours.value.Find(kind);
      const bool right = by_url ? kind == entry_.url_key : kind == kProgram;
      if (found == nullptr || right) continue;
      return std::unexpected(TextProblem{
          found->begin, std::string("expected an entry that ") +
                            (by_url ? "names a URL" : "starts a program") + "; this one has '" +
                            found->key + "': remove it, or give it another name than '" + ours.key +
                            "'"});
    }
    std::string missing;
    const Layout layout = LayoutOf(ours.value);
    for (const auto& [key, value] : WantedOf(entry_, &before)) {
      const JsoncMember* found = ours.value.Find(key);
      if (found == nullptr) {
        missing +=
            (missing.empty() ? "" : Between(layout)) + Pair(key, Text(value, {.lines = false}));
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

  const ServerEntry& entry_;
};

// The old document with the entry in it: found out from values alone, as its text is from text
// alone.
JsonValue Expected(const JsonValue& before, const ServerEntry& entry) {
  const JsonValue* section = before.Find(entry.section);
  const JsonValue* ours = section != nullptr ? section->Find(entry.name) : nullptr;
  JsonValue now = ours != nullptr ? *ours : JsonValue::Object({});
  for (auto& [key, value] : WantedOf(entry, ours)) {
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

namespace {

// The value at these keys; null: there is none.
const JsonValue* ValueAt(const JsonValue& root, std::initializer_list<std::string_view> keys) {
  const JsonValue* value = &root;
  for (const std::string_view key : keys) {
    if (value != nullptr) value = value->Find(key);
  }
  return value;
}

struct ReadDocument {
  JsoncDocument document;
  JsonValue value;
};
std::expected<ReadDocument, TextProblem> ReadObject(std::string_view text, JsonDialect dialect) {
  PA_TRY(auto document, ReadJsonc(text, dialect));
  if (document.root.kind != JsoncValue::Kind::kObject) {
    return std::unexpected(TextProblem{document.root.begin, "expected an object: {"});
  }
  PA_TRY(auto value, ValueOf(text, dialect));
  return ReadDocument{std::move(document), std::move(value)};
}

// `now`, if it says what is wanted.
std::expected<std::string, TextProblem> Checked(std::string now, const JsonValue& wanted,
                                                JsonDialect dialect) {
  const auto after = ValueOf(now, dialect);
  if (after && after->Dump() == wanted.Dump()) return now;
  return std::unexpected(TextProblem{0,
                                     "expected a document in which the rest stays the same; "
                                     "change it by hand"});
}

std::vector<std::string> StringsOf(const JsonValue* list) {
  std::vector<std::string> strings;
  if (list == nullptr || !list->IsArray()) return strings;
  for (const JsonValue& item : list->Items()) {
    if (item.IsString()) strings.push_back(item.AsString());
  }
  return strings;
}

// The object without a member.
JsonValue Without(const JsonValue& object, std::string_view key) {
  std::vector<JsonValue::Member> members = object.Members();
  std::erase_if(members, [&](const JsonValue::Member& member) { return member.first == key; });
  return JsonValue::Object(std::move(members));
}

void AddItems(JsonEditor& editor, const JsoncValue& list, const std::vector<std::string>& added) {
  const Layout layout = editor.LayoutOf(list);
  std::string items;
  for (const std::string& one : added) {
    items += (items.empty() ? "" : editor.Between(layout)) + JsonValue::String(one).Dump();
  }
  editor.Insert(list, list.items.empty() ? Layout{.lines = false} : layout, items);
}

}  // namespace

std::vector<std::string> StringsInJson(std::string_view text, std::string_view section,
                                       std::string_view key, JsonDialect dialect) {
  const auto value = ValueOf(text, dialect);
  return value ? StringsOf(ValueAt(*value, {section, key})) : std::vector<std::string>();
}

std::expected<std::string, TextProblem> AddToJsonList(std::string_view text,
                                                      std::string_view section,
                                                      std::string_view key,
                                                      const std::vector<std::string>& added,
                                                      JsonDialect dialect) {
  if (added.empty()) return std::string(text);
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) {
    auto whole = AddToJsonList("{}", section, key, added, dialect);
    if (whole) *whole += "\n";
    return whole;
  }
  PA_TRY(const auto read, ReadObject(text, dialect));
  JsonEditor editor(text, read.document);
  std::vector<std::string> quoted;
  for (const std::string& one : added) quoted.push_back(JsonValue::String(one).Dump());
  const std::string list = editor.Pair(key, editor.Listed("[]", quoted, {.lines = false}));
  const JsoncValue& root = read.document.root;
  const JsoncMember* above = root.Find(section);
  const JsoncMember* found = above == nullptr ? nullptr : above->value.Find(key);
  if (above == nullptr) {
    const Layout layout = editor.LayoutOf(root);
    editor.Insert(root, layout,
                  editor.Pair(section, editor.Listed("{}", {list}, editor.Inner(layout))));
  } else if (above->value.kind != JsoncValue::Kind::kObject) {
    return JsonEditor::NoObject(*above);
  } else if (found == nullptr) {
    editor.Insert(above->value, editor.LayoutOf(above->value), list);
  } else if (found->value.kind != JsoncValue::Kind::kArray) {
    return std::unexpected(
        TextProblem{found->value.begin, "expected a list as '" + found->key + "'"});
  } else {
    AddItems(editor, found->value, added);
  }
  std::vector<JsonValue> items;
  const JsonValue* before = ValueAt(read.value, {section, key});
  if (before != nullptr) items = before->Items();
  for (const std::string& one : added) items.push_back(JsonValue::String(one));
  const JsonValue wanted =
      With(&read.value, section, With(read.value.Find(section), key, JsonValue::Array(items)));
  return Checked(Apply(text, editor.Take()), wanted, dialect);
}

std::expected<std::string, TextProblem> RemoveFromJsonList(std::string_view text,
                                                           std::string_view section,
                                                           std::string_view key,
                                                           const std::vector<std::string>& gone,
                                                           JsonDialect dialect) {
  std::string now(text);
  for (const std::string& one : gone) {
    PA_TRY(const auto read, ReadObject(now, dialect));
    const JsonValue* list = ValueAt(read.value, {section, key});
    if (list == nullptr || !list->IsArray()) continue;
    std::vector<JsonValue> items = list->Items();
    const auto is_gone = [&](const JsonValue& item) {
      return item.IsString() && item.AsString() == one;
    };
    const auto at = std::ranges::find_if(items, is_gone);
    if (at == items.end()) continue;
    JsonEditor editor(now, read.document);
    editor.Remove(read.document.root.Find(section)->value.Find(key)->value,
                  static_cast<std::size_t>(at - items.begin()));
    items.erase(at);
    const JsonValue wanted =
        With(&read.value, section, With(read.value.Find(section), key, JsonValue::Array(items)));
    PA_TRY(now, Checked(Apply(now, editor.Take()), wanted, dialect));
  }
  return now;
}

std::expected<std::string, TextProblem> RemoveJsonEntry(std::string_view text,
                                                        std::string_view section,
                                                        std::string_view name,
                                                        JsonDialect dialect) {
  if (text.find_first_not_of(kBlanks) == std::string_view::npos) return std::string(text);
  PA_TRY(const auto read, ReadObject(text, dialect));
  const JsoncMember* above = read.document.root.Find(section);
  const JsoncMember* ours = above == nullptr ? nullptr : above->value.Find(name);
  if (ours == nullptr) return std::string(text);
  JsonEditor editor(text, read.document);
  editor.Remove(above->value, static_cast<std::size_t>(ours - above->value.members.data()));
  const JsonValue wanted = With(&read.value, section, Without(*read.value.Find(section), name));
  return Checked(Apply(text, editor.Take()), wanted, dialect);
}

std::string AuthorizationInJson(std::string_view text, std::string_view section,
                                std::string_view name, JsonDialect dialect) {
  const auto document = ValueOf(text, dialect);
  const JsonValue* const value =
      document ? ValueAt(*document, {section, name, "headers", "Authorization"}) : nullptr;
  return value != nullptr && value->IsString() ? value->AsString() : "";
}

std::optional<std::vector<std::string>> ArgsInJson(std::string_view text, std::string_view section,
                                                   std::string_view name, JsonDialect dialect) {
  const auto document = ValueOf(text, dialect);
  const JsonValue* value = document ? ValueAt(*document, {section, name, "args"}) : nullptr;
  if (value == nullptr || !value->IsArray()) return std::nullopt;
  std::vector<std::string> args;
  for (const JsonValue& item : value->Items()) {
    if (!item.IsString()) return std::nullopt;
    args.push_back(item.AsString());
  }
  return args;
}

}  // namespace pa
