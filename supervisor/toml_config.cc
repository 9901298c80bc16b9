#include "supervisor/toml_config.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "supervisor/text_cut.h"

// All of it is compiled here: a shared library more would be one to install.
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace pa {
namespace {

// Of toml++, whose columns are characters.
std::size_t OffsetOf(std::string_view text, const toml::source_position& place) {
  std::size_t at = 0;
  for (auto line = place.line; line > 1; --line)
    at = std::min(text.find('\n', at), text.size()) + 1;
  at = std::min(at, text.size());
  for (auto column = place.column; column > 1 && at < text.size(); --column) {
    ++at;
    while (at < text.size() && IsUtf8Continuation(text[at])) ++at;
  }
  return at;
}

TextProblem ProblemAt(std::string_view text, const toml::node& node, std::string message) {
  return {OffsetOf(text, node.source().begin), std::move(message)};
}

std::expected<toml::table, TextProblem> Parse(std::string_view text) {
  toml::parse_result parsed = toml::parse(text);
  if (parsed) return std::move(parsed).table();
  const toml::parse_error& error = parsed.error();
  return std::unexpected(TextProblem{OffsetOf(text, error.source().begin),
                                     "expected TOML: " + std::string(error.description())});
}

// The escapes of JSON are escapes of TOML.
std::string Quoted(const std::string& text) { return JsonValue::String(text).Dump(); }

std::string Quoted(const std::vector<std::string>& strings) {
  std::string out;
  for (const std::string& text : strings) out += (out.empty() ? "" : ", ") + Quoted(text);
  return "[" + out + "]";
}

toml::array ArrayOf(const std::vector<std::string>& strings) {
  toml::array array;
  for (const std::string& text : strings) array.push_back(text);
  return array;
}

std::string NewTable(const ServerEntry& entry, const std::string& end) {
  std::string out = "[" + entry.section + "." + entry.name + "]" + end;
  out += "command = " + Quoted(entry.command) + end;
  out += "args = " + Quoted(entry.args) + end;
  if (entry.tool_timeout_sec == 0) return out;
  return out + "tool_timeout_sec = " + std::to_string(entry.tool_timeout_sec) + end;
}

// At the end, whichever table stands there: a header ends it.
std::string Append(std::string_view text, const ServerEntry& entry) {
  const std::string end = LineEnd(text);
  const bool ended = text.empty() || text.ends_with('\n');
  std::string table = NewTable(entry, end);
  if (!ended) table.resize(table.size() - end.size());
  return std::string(text) + (ended ? "" : end) + (text.empty() ? "" : end) + table;
}

// A `#` that stands in no element begins a comment.
bool HasComment(std::string_view text, const toml::node& value) {
  const toml::array* array = value.as_array();
  if (array == nullptr) return false;
  std::size_t at = OffsetOf(text, value.source().begin);
  for (const toml::node& item : *array) {
    const std::size_t begin = OffsetOf(text, item.source().begin);
    if (text.substr(at, begin - at).contains('#')) return true;
    at = item.is_value() ? OffsetOf(text, item.source().end) : begin;
  }
  const std::size_t end = OffsetOf(text, value.source().end);
  return text.substr(at, end - at).contains('#');
}

class Merger {
 public:
  Merger(std::string_view text, const ServerEntry& entry, const toml::table& document)
      : text_(text), entry_(entry), document_(document) {}

  std::expected<std::string, TextProblem> Merge() {
    const toml::node* section = document_.get(entry_.section);
    if (section == nullptr) return Append(text_, entry_);
    if (!section->is_table()) return ByHand(*section, "a table");
    const toml::node* ours = section->as_table()->get(entry_.name);
    if (ours == nullptr && section->as_table()->is_inline()) {
      return ByHand(*section, "a table that is not inline");
    }
    if (ours == nullptr) return Append(text_, entry_);
    if (!ours->is_table()) return ByHand(*ours, "a table");
    return Update(*ours->as_table());
  }

 private:
  std::unexpected<TextProblem> ByHand(const toml::node& node, const std::string& expected) const {
    return std::unexpected(
        ProblemAt(text_, node,
                  "expected " + expected + "; write by hand: " + entry_.section + "." +
                      entry_.name + " = {command = " + Quoted(entry_.command) +
                      ", args = " + Quoted(entry_.args) + "}, or what that is in its place"));
  }

  std::expected<std::string, TextProblem> Update(const toml::table& ours) {
    if (const toml::node* url = ours.get("url")) {
      return std::unexpected(ProblemAt(text_, *url,
                                       "expected an entry that starts a program; this one has "
                                       "'url': remove it, or give it another name"));
    }
    std::string missing;
    const toml::array* args = ours.get_as<toml::array>("args");
    const std::pair<std::string_view, bool> right[] = {
        {"command", ours["command"].value_exact<std::string>() == entry_.command},
        {"args", args != nullptr && *args == ArrayOf(entry_.args)}};
    for (const auto& [key, is_right] : right) {
      const std::string value = key == "args" ? Quoted(entry_.args) : Quoted(entry_.command);
      const toml::node* now = ours.get(key);
      if (is_right) continue;
      if (now == nullptr) {
        missing += std::string(key) + " = " + value + LineEnd(text_);
      } else if (HasComment(text_, *now)) {
        return std::unexpected(
            ProblemAt(text_, *now,
                      "expected an array without a comment, which would be lost; "
                      "move it away, or write yourself: " +
                          value));
      } else {
        edits_.push_back(
            {OffsetOf(text_, now->source().begin), OffsetOf(text_, now->source().end), value});
      }
    }
    const std::size_t header = OffsetOf(text_, ours.source().begin);
    if (!missing.empty() && (ours.is_inline() || !text_.substr(header).starts_with('['))) {
      return ByHand(ours, "a table with a header of its own");
    }
    if (!missing.empty()) AddBelow(header, missing);
    std::ranges::sort(edits_, {}, &TextEdit::begin);
    return Apply(text_, edits_);
  }

  void AddBelow(std::size_t header, std::string lines) {
    const std::size_t newline = text_.find('\n', header);
    if (newline == std::string_view::npos) {
      const std::string end = LineEnd(text_);
      lines = end + lines.substr(0, lines.size() - end.size());
    }
    const std::size_t at = newline == std::string_view::npos ? text_.size() : newline + 1;
    edits_.push_back({at, at, std::move(lines)});
  }

  std::string_view text_;
  const ServerEntry& entry_;
  const toml::table& document_;
  std::vector<TextEdit> edits_;
};

// The old document with the entry in it, found out from values alone.
toml::table Expected(const toml::table& before, const ServerEntry& entry) {
  toml::table now = before;
  now.emplace<toml::table>(entry.section);
  toml::table& servers = *now.get_as<toml::table>(entry.section);
  const bool is_new = servers.emplace<toml::table>(entry.name).second;
  toml::table& ours = *servers.get_as<toml::table>(entry.name);
  ours.insert_or_assign("command", entry.command);
  ours.insert_or_assign("args", ArrayOf(entry.args));
  if (is_new && entry.tool_timeout_sec != 0) {
    ours.insert_or_assign("tool_timeout_sec", entry.tool_timeout_sec);
  }
  return now;
}

}  // namespace

std::expected<std::string, TextProblem> MergeIntoToml(std::string_view text,
                                                      const ServerEntry& entry) {
  const auto before = Parse(text);
  if (!before) return std::unexpected(before.error());
  auto now = Merger(text, entry, *before).Merge();
  if (!now) return now;
  const auto after = Parse(*now);
  if (after && *after == Expected(*before, entry)) return now;
  return std::unexpected(
      TextProblem{0, "expected a document that stays the same around the entry; write by hand:\n" +
                         NewTable(entry, "\n")});
}

}  // namespace pa
