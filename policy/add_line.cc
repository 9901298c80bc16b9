#include "policy/add_line.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/did_you_mean.h"
#include "base/json_writer.h"
#include "base/text_patch.h"
#include "base/text_place.h"
#include "base/try.h"
#include "base/words.h"
#include "policy/yaml.h"

namespace pa::policy {
namespace {

using NodeKind = YamlNode::Kind;

constexpr std::string_view kBlankCharacters = " \t\r\n";
constexpr std::string_view kExample = "filesystem: {read: [/srv/data]}";

// What a line sets.
struct Setting {
  const Key* key;
  std::vector<YamlNode> values;  // scalars; of a key that is no list, one
  bool list;
};

// Whether `text` is the same value without quotes, wherever it stands.
bool IsPlain(std::string_view text) {
  constexpr std::string_view kFirst =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.";
  if (text.starts_with("~/")) text.remove_prefix(1);
  if (text.empty() || !kFirst.contains(text.front())) return false;
  return std::ranges::all_of(text, [&](char c) { return kFirst.contains(c) || c == '-'; });
}

std::string TextOf(const YamlNode& scalar) {
  if (!scalar.quoted) return scalar.scalar;
  JsonWriter quoted;
  quoted.String(scalar.scalar);
  return std::move(quoted).Take();
}

std::string Listed(const std::vector<YamlNode>& values, std::string_view between) {
  std::string out;
  for (const YamlNode& value : values) {
    if (!out.empty()) out += between;
    out += TextOf(value);
  }
  return out;
}

// `read: ["/srv/data"]`
std::string Member(const Setting& setting) {
  std::string values = Listed(setting.values, ", ");
  if (setting.list) values = "[" + values + "]";
  return std::string(setting.key->Word()) + ": " + values;
}

// `filesystem: {read: ["/srv/data"]}`
std::string Whole(const Setting& setting) {
  const std::string_view section = setting.key->Section();
  return section.empty() ? Member(setting) : std::string(section) + ": {" + Member(setting) + "}";
}

std::unexpected<std::string> NoLine(std::string_view found) {
  return std::unexpected("expected a line of policy that sets one key, such as " +
                         std::string(kExample) + "; " + std::string(found));
}

std::unexpected<std::string> UnknownKey(const std::string& name) {
  std::vector<std::string_view> names;
  for (const Key& key : PolicyKeys()) names.push_back(key.name);
  return NoLine("there is no key " + Quoted(name) + DidYouMean(name, names));
}

// The key that a line names, and what it gives it.
std::expected<std::pair<const Key*, const YamlNode*>, std::string> Named(const YamlNode& root) {
  if (root.kind != NodeKind::kMapping) return NoLine(std::string("this is ") + root.KindName());
  const YamlNode* at = &root;
  std::string name;
  for (int depth = 0; depth < 2; ++depth) {
    if (at->children.size() != 1) {
      return NoLine("this sets " + std::to_string(at->children.size()));
    }
    at = &at->children.front();
    if (at->key.contains('.')) return UnknownKey(name + at->key);
    name += at->key;
    if (const Key* key = FindKey(name)) return std::pair(key, at);
    if (at->kind != NodeKind::kMapping) break;
    name += '.';
  }
  return UnknownKey(name.ends_with('.') ? name.substr(0, name.size() - 1) : name);
}

std::expected<Setting, std::string> ReadSetting(std::string_view line) {
  const auto root = ParseYaml(line, "the line");
  if (!root) return std::unexpected(root.error().Format());
  PA_TRY(const auto named, Named(*root));
  const auto& [key, value] = named;
  Setting setting{.key = key, .values = {}, .list = key->IsList()};
  const std::string name = Quoted(key->name);
  const bool is_scalar = !setting.list && key->type != Type::kVersion &&
                         key->type != Type::kRules && key->type != Type::kVariables &&
                         key->type != Type::kSubjects;
  if (!setting.list && !is_scalar) {
    return std::unexpected(name + " is not a key for a single line; write it into the file");
  }
  if (setting.list != (value->kind == NodeKind::kSequence)) {
    return std::unexpected(name + " must be " + (setting.list ? "a list" : "a value") + ", found " +
                           value->KindName());
  }
  setting.values = setting.list ? value->children : std::vector{*value};
  if (setting.values.empty()) return std::unexpected(name + " gets no value from an empty list");
  for (YamlNode& one : setting.values) {
    if (one.kind != NodeKind::kScalar) {
      return std::unexpected("expected single values for " + name + ", found " + one.KindName());
    }
    one.key.clear();
    one.quoted = one.quoted || !IsPlain(one.scalar);
  }
  return setting;
}

const YamlNode* ChildOf(const YamlNode& mapping, std::string_view key) {
  const auto found = std::ranges::find(mapping.children, key, &YamlNode::key);
  return found == mapping.children.end() ? nullptr : &*found;
}

YamlNode& EnsureChild(YamlNode& mapping, std::string_view key, NodeKind kind) {
  auto found = std::ranges::find(mapping.children, key, &YamlNode::key);
  if (found == mapping.children.end()) {
    found = mapping.children.insert(found, YamlNode{.kind = kind, .key = std::string(key)});
  }
  if (found->kind == NodeKind::kNull) found->kind = kind;
  return *found;
}

bool Holds(const YamlNode& list, const YamlNode& value) {
  return std::ranges::find(list.children, value.scalar, &YamlNode::scalar) != list.children.end();
}

// The values that a list lacks, each once.
std::vector<YamlNode> Missing(const YamlNode& list, const Setting& setting) {
  YamlNode with = list;
  for (const YamlNode& value : setting.values) {
    if (!Holds(with, value)) with.children.push_back(value);
  }
  return {with.children.begin() + static_cast<std::ptrdiff_t>(list.children.size()),
          with.children.end()};
}

// The document with the setting in it: found out from values alone, as its text is from text alone.
YamlNode Expected(YamlNode root, const Setting& setting) {
  if (root.kind == NodeKind::kNull) {
    root.kind = NodeKind::kMapping;
    EnsureChild(root, "version", NodeKind::kScalar).scalar = "1";
  }
  const std::string_view section = setting.key->Section();
  YamlNode& above = section.empty() ? root : EnsureChild(root, section, NodeKind::kMapping);
  const NodeKind kind = setting.list ? NodeKind::kSequence : NodeKind::kScalar;
  YamlNode& value = EnsureChild(above, setting.key->Word(), kind);
  if (setting.list) {
    const std::vector<YamlNode> missing = Missing(value, setting);
    value.children.insert(value.children.end(), missing.begin(), missing.end());
  } else if (value.scalar != setting.values.front().scalar) {
    value.scalar = setting.values.front().scalar;
    value.quoted = setting.values.front().quoted;
  }
  return root;
}

// Wherever they stand, and in whatever order the keys.
bool SaysTheSameAs(const YamlNode& a, const YamlNode& b) {
  if (a.kind != b.kind || a.key != b.key || a.scalar != b.scalar || a.quoted != b.quoted ||
      a.children.size() != b.children.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.children.size(); ++i) {
    const YamlNode* other =
        a.kind == NodeKind::kMapping ? ChildOf(b, a.children[i].key) : &b.children[i];
    if (other == nullptr || !SaysTheSameAs(a.children[i], *other)) return false;
  }
  return true;
}

class LineAdder {
 public:
  LineAdder(std::string_view text, const Setting& setting)
      : text_(text), setting_(setting), end_(LineEnd(text)) {}

  // Empty: it has that setting.
  std::vector<TextEdit> Edits(const YamlNode& root) {
    if (root.kind == NodeKind::kNull) {
      AtEnd("version: 1" + end_ + Whole(setting_), "");
      return std::move(edits_);
    }
    const std::string_view section = setting_.key->Section();
    const YamlNode* above = section.empty() ? &root : ChildOf(root, section);
    if (above == nullptr) {
      Add(root, Whole(setting_));
    } else if (above->kind == NodeKind::kNull) {
      Below(*above, std::string(IndentOf(text_, At(above->key_at))) + "  ");
    } else if (const YamlNode* value = ChildOf(*above, setting_.key->Word())) {
      Change(*value);
    } else {
      Add(*above, Member(setting_));
    }
    return std::move(edits_);
  }

 private:
  std::size_t At(const SourceLocation& at) const {
    return OffsetOf(text_, {.line = static_cast<std::size_t>(std::max(at.line, 1)),
                            .column = static_cast<std::size_t>(std::max(at.column, 1))});
  }
  bool IsFlow(const YamlNode& node) const {
    const std::size_t at = At(node.at);
    return at < text_.size() && (text_[at] == '{' || text_[at] == '[');
  }
  // Of the line that holds `at`, without its line end.
  std::size_t EndOfLine(std::size_t at) const {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    return end > at && end < text_.size() && text_[end - 1] == '\r' ? end - 1 : end;
  }

  void AtEnd(const std::string& line, std::string_view indent) {
    const std::string before = text_.empty() || text_.ends_with('\n') ? "" : end_;
    edits_.push_back({text_.size(), text_.size(), before + std::string(indent) + line + end_});
  }

  // A line of its own behind the one with the key of `above`, so that comments stay with what they
  // are about.
  void Below(const YamlNode& above, const std::string& indent) {
    const std::size_t at = EndOfLine(At(above.key_at));
    edits_.push_back({at, at, end_ + indent + Member(setting_)});
  }

  void Add(const YamlNode& mapping, const std::string& member) {
    if (IsFlow(mapping)) return AddToFlow(At(mapping.at), {member});
    const std::string_view indent = IndentOf(text_, At(mapping.children.front().key_at));
    if (mapping.key.empty()) return AtEnd(member, indent);
    Below(mapping, std::string(indent));
  }

  void Change(const YamlNode& value) {
    if (!setting_.list) {
      if (value.scalar != setting_.values.front().scalar) Replace(At(value.at));
      return;
    }
    std::vector<std::string> missing;
    for (const YamlNode& one : Missing(value, setting_)) missing.push_back(TextOf(one));
    if (missing.empty()) return;
    if (value.children.empty() || IsFlow(value)) return AddToFlow(At(value.at), missing);
    const std::size_t last = At(value.children.back().at);
    std::string lines;
    for (const std::string& one : missing) {
      lines += end_ + std::string(IndentOf(text_, last)) + "- " + one;
    }
    edits_.push_back({EndOfLine(last), EndOfLine(last), std::move(lines)});
  }

  // Of a value that is a word, or in quotes.
  void Replace(std::size_t begin) {
    const char first = begin < text_.size() ? text_[begin] : '\0';
    const bool quoted = first == '"' || first == '\'';
    const std::size_t end =
        quoted ? text_.find(first, begin + 1) : text_.find_first_of(" \t\r\n,]}", begin);
    const std::size_t behind = quoted && end != text_.npos ? end + 1 : end;
    edits_.push_back({begin, std::min(behind, text_.size()), TextOf(setting_.values.front())});
  }

  // Behind the last that stands in brackets, which begin at `open`.
  void AddToFlow(std::size_t open, const std::vector<std::string>& members) {
    const Inside inside = Look(open);
    const bool empty = inside.last == open + 1;
    const bool comma = !empty && text_[inside.last - 1] == ',';
    const bool lines =
        !empty && text_.substr(inside.last, inside.close - inside.last).contains('\n');
    std::string between = ", ";
    if (lines) {
      const bool first_line = !text_.substr(open, inside.last - open).contains('\n');
      between = "," + end_ + std::string(IndentOf(text_, inside.last)) + (first_line ? "  " : "");
    }
    std::string added;
    for (const std::string& member : members) added += (added.empty() ? "" : between) + member;
    if (comma) added += ",";
    if (!empty && !comma) edits_.push_back({inside.last, inside.last, ","});
    // The comment on the line of the last one is about that.
    const std::size_t at = lines ? EndOfLine(inside.last) : inside.last;
    edits_.push_back({at, at, (empty ? "" : between.substr(1)) + added});
  }

  struct Inside {
    std::size_t last;   // behind the last that is neither blank nor comment
    std::size_t close;  // the closing bracket
  };
  Inside Look(std::size_t open) const {
    Inside inside{.last = open + 1, .close = text_.size()};
    int depth = 0;
    bool may_begin = true;  // a value, so that a quote is one
    for (std::size_t at = open; at < text_.size(); ++at) {
      const char c = text_[at];
      const bool blank = kBlankCharacters.contains(c);
      if (c == '#' && kBlankCharacters.contains(text_[at - 1])) {
        at = EndOfLine(at) - 1;
        continue;
      }
      if (blank) continue;
      if ((c == ']' || c == '}') && --depth == 0) {
        inside.close = at;
        break;
      }
      if (may_begin && (c == '"' || c == '\'')) at = EndOfQuote(at);
      const bool opens = c == '[' || c == '{';
      if (opens) ++depth;
      may_begin = opens || c == ',' || c == ':';
      inside.last = std::min(at + 1, text_.size());
    }
    return inside;
  }

  std::size_t EndOfQuote(std::size_t at) const {
    const char quote = text_[at];
    for (++at; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || text_.substr(at + 1, 1) != "'") break;
        ++at;
      }
    }
    return at;
  }

  std::string_view text_;
  const Setting& setting_;
  std::string end_;
  std::vector<TextEdit> edits_;
};

}  // namespace

std::expected<AddedLine, std::string> AddLine(std::string_view text, const std::string& source,
                                              std::string_view line) {
  PA_TRY(const auto setting, ReadSetting(line));
  const std::size_t mark = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::string_view body = text.substr(mark);
  const auto before = ParseYaml(body, source);
  if (!before) return std::unexpected(before.error().Format());
  if (before->kind != NodeKind::kNull && before->kind != NodeKind::kMapping) {
    return std::unexpected(before->at.Format() +
                           ": expected a mapping of keys such as `version: 1`");
  }
  const std::vector<TextEdit> edits = LineAdder(body, setting).Edits(*before);
  std::string now = Apply(body, edits);
  const auto after = ParseYaml(now, source);
  if (!after || !SaysTheSameAs(*after, Expected(*before, setting))) {
    return std::unexpected(source + ": this cannot be added without a change of something else; " +
                           "write it into the file yourself: " + Whole(setting));
  }
  return AddedLine{.text = std::string(text.substr(0, mark)) + now, .key = setting.key};
}

}  // namespace pa::policy
