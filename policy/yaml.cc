#include "policy/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/utf8.h"

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
};

// Builds the tree from the parser's events. Events, not YAML::Node: a Node has already expanded the
// aliases and forgotten which keys came twice.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(const std::string& source) : source_(source) {}

  YamlNode Take() && { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_) Refuse(mark, "a policy is one YAML document; a second one starts here");
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Add(mark, YamlNode{YamlNode::Kind::kNull, At(mark)});
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    Refuse(mark, "aliases (*name) are not allowed in a policy");
  }
  void OnAnchor(const YAML::Mark& mark, const std::string&) override {
    Refuse(mark, "anchors (&name) are not allowed in a policy");
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    RefuseDecorated(mark, tag, anchor);
    if (value.contains('\0')) Refuse(mark, "a NUL character cannot be part of a value");
    YamlNode node{YamlNode::Kind::kScalar, At(mark)};
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

  SourceLocation At(const YAML::Mark& mark) const {
    return {source_, std::max(mark.line, 0) + 1, std::max(mark.column, 0) + 1};
  }

  [[noreturn]] void Refuse(const YAML::Mark& mark, std::string message) const {
    throw Refused{Diagnostic(At(mark), std::move(message))};
  }

  void RefuseDecorated(const YAML::Mark& mark, const std::string& tag,
                       YAML::anchor_t anchor) const {
    if (anchor != YAML::NullAnchor) Refuse(mark, "anchors (&name) are not allowed in a policy");
    if (!tag.empty() && tag != "?" && tag != "!") {
      Refuse(mark, "tags (" + tag + ") are not allowed in a policy");
    }
  }

  bool ExpectsKey() const {
    return !open_.empty() && open_.back().node.kind == YamlNode::Kind::kMapping &&
           !open_.back().has_key;
  }

  void Open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (ExpectsKey()) Refuse(mark, "a key must be a plain word");
    if (open_.size() == kMaxYamlDepth) Refuse(mark, "nested too deeply");
    open_.push_back(Level{YamlNode{kind, At(mark)}});
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
    if (node.kind != YamlNode::Kind::kScalar) Refuse(mark, "a key must be a plain word");
    Level& level = open_.back();
    if (level.node.children.size() == kMaxYamlMembers) Refuse(mark, "too many keys in one mapping");
    const auto same = [&](const YamlNode& member) { return member.key == node.scalar; };
    if (auto first = std::ranges::find_if(level.node.children, same);
        first != level.node.children.end()) {
      Refuse(mark, "duplicate key '" + node.scalar + "', first at line " +
                       std::to_string(first->key_at.line));
    }
    level.has_key = true;
    level.key = node.scalar;
    level.key_at = At(mark);
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

  std::string source_;
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
  // NUL first: yaml-cpp guesses UTF-16 and UTF-32 from it.
  if (text.contains('\0') || !IsValidUtf8(text)) {
    return std::unexpected(Diagnostic(whole, "a policy must be UTF-8 text"));
  }
  try {
    // yaml-cpp takes a quote that is never closed for closed at the end of the file, but not at the
    // end of the document.
    std::istringstream stream{std::string(text) + "\n...\n"};
    YAML::Parser parser(stream);
    TreeBuilder builder(source);
    while (parser.HandleNextDocument(builder)) {
    }
    return std::move(builder).Take();
  } catch (const Refused& refused) {
    return std::unexpected(refused.diagnostic);
  } catch (const YAML::Exception& error) {
    if (error.mark.is_null()) return std::unexpected(Diagnostic(whole, error.msg));
    return std::unexpected(
        Diagnostic({source, error.mark.line + 1, error.mark.column + 1}, error.msg));
  }
}

}  // namespace pa::policy
