#include "policy/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/text_place.h"
#include "policy/yaml_problem.h"

namespace pa::policy {
namespace {

// The type of the style argument differs between yaml-cpp's versions; what the header says counts.
template <typename T>
struct StyleArgument;
template <typename C, typename S>
struct StyleArgument<void (C::*)(const YAML::Mark&, const std::string&, YAML::anchor_t, S)> {
  using Type = S;
};
using Style = StyleArgument<decltype(&YAML::EventHandler::OnMapStart)>::Type;

// Leaves yaml-cpp's parser at the first thing we refuse; caught in ParseYaml.
struct Refused {
  Diagnostic diagnostic;
  bool no_word = false;  // as a key; a bracket that is not closed is taken for one, too
};

// yaml-cpp's messages, of which some end in a name, by their beginning.
struct KnownMessage {
  const char* text;
  YamlFault fault;
};
const KnownMessage kKnownMessages[] = {
    {YAML::ErrorMsg::DOC_IN_SCALAR, YamlFault::kQuote},
    {YAML::ErrorMsg::EOF_IN_SCALAR, YamlFault::kQuote},
    {YAML::ErrorMsg::END_OF_SEQ_FLOW, YamlFault::kFlow},
    {YAML::ErrorMsg::END_OF_MAP_FLOW, YamlFault::kFlow},
    {YAML::ErrorMsg::FLOW_END, YamlFault::kCloser},
    {YAML::ErrorMsg::MAP_VALUE, YamlFault::kColon},
    {YAML::ErrorMsg::BLOCK_ENTRY, YamlFault::kDash},
    {YAML::ErrorMsg::MAP_KEY, YamlFault::kQuestion},
    {YAML::ErrorMsg::END_OF_MAP, YamlFault::kLine},
    {YAML::ErrorMsg::END_OF_SEQ, YamlFault::kLine},
    {YAML::ErrorMsg::TAB_IN_INDENTATION, YamlFault::kTab},
    {YAML::ErrorMsg::UNKNOWN_TOKEN, YamlFault::kCharacter},
    {YAML::ErrorMsg::UNKNOWN_ANCHOR, YamlFault::kAlias},
    {YAML::ErrorMsg::ALIAS_NOT_FOUND, YamlFault::kAlias},
    {YAML::ErrorMsg::CHAR_IN_ALIAS, YamlFault::kAlias},
    {YAML::ErrorMsg::ALIAS_CONTENT, YamlFault::kAlias},
    {YAML::ErrorMsg::MULTIPLE_ALIASES, YamlFault::kAlias},
    {YAML::ErrorMsg::ANCHOR_NOT_FOUND, YamlFault::kAnchor},
    {YAML::ErrorMsg::CHAR_IN_ANCHOR, YamlFault::kAnchor},
    {YAML::ErrorMsg::MULTIPLE_ANCHORS, YamlFault::kAnchor},
    {YAML::ErrorMsg::CHAR_IN_TAG_HANDLE, YamlFault::kTag},
    {YAML::ErrorMsg::TAG_WITH_NO_SUFFIX, YamlFault::kTag},
    {YAML::ErrorMsg::END_OF_VERBATIM_TAG, YamlFault::kTag},
    {YAML::ErrorMsg::MULTIPLE_TAGS, YamlFault::kTag},
    {YAML::ErrorMsg::INVALID_HEX, YamlFault::kEscape},
    {YAML::ErrorMsg::INVALID_UNICODE, YamlFault::kEscape},
    {YAML::ErrorMsg::INVALID_ESCAPE, YamlFault::kEscape},
    {YAML::ErrorMsg::YAML_DIRECTIVE_ARGS, YamlFault::kDirective},
    {YAML::ErrorMsg::YAML_VERSION, YamlFault::kDirective},
    {YAML::ErrorMsg::YAML_MAJOR_VERSION, YamlFault::kDirective},
    {YAML::ErrorMsg::REPEATED_YAML_DIRECTIVE, YamlFault::kDirective},
    {YAML::ErrorMsg::TAG_DIRECTIVE_ARGS, YamlFault::kDirective},
    {YAML::ErrorMsg::REPEATED_TAG_DIRECTIVE, YamlFault::kDirective},
    {YAML::ErrorMsg::ZERO_INDENT_IN_BLOCK, YamlFault::kBlock},
    {YAML::ErrorMsg::CHAR_IN_BLOCK, YamlFault::kBlock},
};

YamlProblem ProblemOf(std::string_view text, std::size_t at, const std::string& message) {
  for (const KnownMessage& known : kKnownMessages) {
    if (message.starts_with(known.text)) return ExplainYaml(text, known.fault, at);
  }
  return {at, "expected YAML as project-actions.yaml(5) describes it; the parser says: " + message};
}

// Where yaml-cpp's marks, which count bytes, point for people. Marks come nearly in order, so the
// characters of a long line are not counted anew for each.
class Marks {
 public:
  Marks(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  // At most the text's size: it ends before what ParseYaml adds.
  std::size_t Offset(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }
  SourceLocation At(const YAML::Mark& mark) { return At(Offset(mark)); }
  SourceLocation At(std::size_t offset) {
    if (offset < counted_) {
      counted_ = 0;
      place_ = {};
    }
    place_ = Advanced(place_, text_.substr(counted_, offset - counted_));
    counted_ = offset;
    return {source_, static_cast<int>(place_.line), static_cast<int>(place_.column)};
  }
  Diagnostic About(const YamlProblem& problem) { return {At(problem.at), problem.message}; }

 private:
  std::string_view text_;
  std::string source_;
  std::size_t counted_ = 0;
  LineAndColumn place_;
};

// Builds the tree from the parser's events. Events, not YAML::Node: a Node has already expanded the
// aliases and forgotten which keys came twice.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(Marks& marks) : marks_(marks) {}

  YamlNode Take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) Refuse(mark, "a policy is one YAML document; a second one starts here; keep one");
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Add(mark, YamlNode{YamlNode::Kind::kNull, marks_.At(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { Refuse(mark, kNoAliases); }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override { Refuse(mark, kNoAnchors); }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseDecorated(mark, tag, anchor);
    if (value.contains('\0')) Refuse(mark, "a NUL character cannot be part of a value; remove it");
    YamlNode node{YamlNode::Kind::kScalar, marks_.At(mark)};
    node.scalar = value;
    node.quoted = tag == "!";  // yaml-cpp: "?" for plain scalars, "!" for quoted ones
    Add(mark, std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       Style) override {
    RefuseDecorated(mark, tag, anchor);
    Open(mark, YamlNode::Kind::kSequence);
  }
  void OnSequenceEnd() override { Close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  Style) override {
    RefuseDecorated(mark, tag, anchor);
    Open(mark, YamlNode::Kind::kMapping);
  }
  void OnMapEnd() override { Close(); }

 private:
  struct Level {
    YamlNode node;
    bool has_key = false;  // of a mapping: the next event is a value
    std::string key;
    SourceLocation key_at;
  };

  [[noreturn]] void Refuse(const YAML::Mark& mark, std::string message, bool no_word = false) {
    throw Refused{Diagnostic(marks_.At(mark), std::move(message)), no_word};
  }
  [[noreturn]] void RefuseKey(const YAML::Mark& mark) {
    Refuse(mark, "a key must be a plain word", true);
  }

  void RefuseDecorated(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) Refuse(mark, kNoAnchors);
    if (!tag.empty() && tag != "?" && tag != "!") Refuse(mark, kNoTags);
  }

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMapping &&
           !open_.back().has_key;
  }

  void Open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (ExpectsKey()) RefuseKey(mark);
    if (open_.size() == kMaxYamlDepth)
      Refuse(mark, "nested too deeply: a policy has at most " + std::to_string(kMaxYamlDepth) +
                       " levels");
    open_.push_back(Level{YamlNode{kind, marks_.At(mark)}});
  }

  void Close() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    Put(std::move(done));
  }

  void Add(const YAML::Mark& mark, YamlNode node) {
    if (ExpectsKey()) {
      TakeKey(mark, node);
    } else {
      Put(std::move(node));
    }
  }

  void TakeKey(const YAML::Mark& mark, const YamlNode& node) {
    if (node.kind != YamlNode::Kind::kScalar) RefuseKey(mark);
    if (node.scalar.contains(kByteOrderMark)) Refuse(mark, kNoMark);
    Level& level = open_.back();
    if (level.node.children.size() == kMaxYamlMembers) Refuse(mark, "too many keys in one mapping");
    const auto same = [&](const YamlNode& member) { return member.key == node.scalar; };
    if (auto first = std::ranges::find_if(level.node.children, same);
        first != level.node.children.end()) {
      Refuse(mark, "duplicate key '" + node.scalar + "', first at line " +
                       std::to_string(first->key_at.line) + "; keep one of them");
    }
    level.has_key = true;
    level.key = node.scalar;
    level.key_at = marks_.At(mark);
  }

  void Put(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = open_.back();
    if (level.has_key) {
      node.key = std::move(level.key);
      node.key_at = level.key_at;
      if (node.kind == YamlNode::Kind::kNull) node.at = level.key_at;  // it stands nowhere itself
      level.has_key = false;
    }
    level.node.children.push_back(std::move(node));
  }

  Marks& marks_;
  YamlNode root_;
  std::vector<Level> open_;
  bool started_ = false;
};

}  // namespace

const char* YamlNode::KindName() const {
  switch (kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "a value";
    case Kind::kSequence:
      return "a list";
    case Kind::kMapping:
      return "a mapping";
  }
  return "";
}

std::expected<YamlNode, Diagnostic> ParseYaml(std::string_view text, const std::string& source) {
  const SourceLocation whole{source};
  if (text.size() > kMaxYamlBytes) {
    return std::unexpected(Diagnostic(whole, "a policy is at most 1 MiB"));
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  Marks marks(text, source);
  if (const auto bad = FindBadBytes(text)) return std::unexpected(marks.About(*bad));
  try {
    // yaml-cpp takes a quote that is never closed for closed at the end of the file, but not at the
    // end of the document.
    std::istringstream stream{std::string(text) + "\n...\n"};
    YAML::Parser parser(stream);
    TreeBuilder builder(marks);
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder).Take();
  } catch (const Refused& refused) {
    const auto unclosed = refused.no_word ? FindUnclosed(text) : std::nullopt;
    return std::unexpected(unclosed ? marks.About(*unclosed) : refused.diagnostic);
  } catch (const YAML::Exception& error) {
    return std::unexpected(marks.About(ProblemOf(text, marks.Offset(error.mark), error.msg)));
  }
}

}  // namespace pa::policy
