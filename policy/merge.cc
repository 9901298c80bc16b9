#include "policy/merge.h"

#include <algorithm>

#include "base/words.h"
#include "policy/keys.h"
#include "policy/path.h"

namespace pa::policy {
namespace {

template <typename T>
using Optional = std::optional<Located<T>>;

// `all` names no tool: nobody has chosen those that it enables. What only makes calls needs no
// name.
Located<Strings> NamedOneByOne(const Located<Strings>& enabled) {
  Located<Strings> named{{}, enabled.at};
  for (const Located<std::string>& tool : enabled.value) {
    if (tool.value != "all" && !MakesCalls(tool.value)) named.value.push_back(tool);
  }
  return named;
}

bool SameItems(const Strings& one, const Strings& other) {
  constexpr auto kText = &Located<std::string>::value;
  return std::ranges::equal(one, other, {}, kText, kText);
}

class Merger {
 public:
  Merger(const Layers& layers, std::vector<Diagnostic>& diagnostics)
      : layers_(layers), diagnostics_(diagnostics) {
    merged_.source = "policy";
  }

  PolicyFragment Merge() {
    for (const Key& key : PolicyKeys()) {
      std::visit([&](auto field) { MergeKey(key, field); }, key.field);
    }
    if (!merged_.pipeline_tools) merged_.pipeline_tools = NamedOneByOne(*merged_.tools_enable);
    return std::move(merged_);
  }

 private:
  // The administrator's value, or null.
  template <typename Field>
  auto* Ceiling(Field field) const {
    const bool set = layers_.administrator && (*layers_.administrator).*field;
    return set ? &*((*layers_.administrator).*field) : nullptr;
  }

  // The value of the strongest layer that has one.
  template <typename Field>
  auto Strongest(Field field) const {
    for (const PolicyFragment& layer : layers_.others) {
      if (layer.*field) return layer.*field;
    }
    if (layers_.administrator && (*layers_.administrator).*field) {
      return (*layers_.administrator).*field;
    }
    return layers_.defaults.*field;
  }

  void Complain(const SourceLocation& at, const std::string& what, const SourceLocation& ceiling) {
    diagnostics_.emplace_back(at, what + " (" + ceiling.Format() + ")");
  }

  void NotTheirs(const Key& key, const SourceLocation& at, const SourceLocation& ceiling) {
    Complain(at, Quoted(key.name) + " is the administrator's alone", ceiling);
  }

  void MergeKey(const Key&, std::monostate) {}
  void MergeKey(const Key& key, Optional<Strings> PolicyFragment::* field);
  void MergeKey(const Key& key, Optional<std::string> PolicyFragment::* field);
  void MergeKey(const Key& key, Optional<std::vector<Variable>> PolicyFragment::* field);
  void MergeKey(const Key& key, Optional<std::vector<RuleText>> PolicyFragment::* field);
  void MergeKey(const Key& key, std::chrono::milliseconds Limits::*) { MergeLimit(key); }
  void MergeKey(const Key& key, std::uint64_t Limits::*) { MergeLimit(key); }

  void MergeLimit(const Key& key);
  void CheckList(const Key& key, const Strings& items, const Located<Strings>& ceiling);
  void CheckWriteAgainstRead();
  void MergeTools();
  void MergePlaces();

  const Layers& layers_;
  std::vector<Diagnostic>& diagnostics_;
  PolicyFragment merged_;
};

bool Allows(Type type, const std::string& ceiling, const std::string& item) {
  if (type == Type::kPaths) return IsBeneath(item, ceiling);
  return item == ceiling || (type == Type::kTools && ceiling == "all");
}

bool AnyAllows(Type type, const Strings& ceilings, const std::string& item) {
  return std::ranges::any_of(ceilings, [&](const Located<std::string>& ceiling) {
    return Allows(type, ceiling.value, item);
  });
}

void Merger::CheckList(const Key& key, const Strings& items, const Located<Strings>& ceiling) {
  for (const Located<std::string>& item : items) {
    bool allowed = AnyAllows(key.type, ceiling.value, item.value);
    // Who may write a path may read it.
    if (key.name == "filesystem.read" && layers_.administrator->filesystem_write) {
      allowed = allowed ||
                AnyAllows(key.type, layers_.administrator->filesystem_write->value, item.value);
    }
    if (allowed) continue;
    Complain(item.at,
             Quoted(item.value) + " is beyond the administrator's " + std::string(key.name),
             ceiling.at);
  }
}

// filesystem.write lets commands read, too: it must not be the way around a ceiling on reading.
void Merger::CheckWriteAgainstRead() {
  const Located<Strings>* read = Ceiling(&PolicyFragment::filesystem_read);
  const Located<Strings>* write = Ceiling(&PolicyFragment::filesystem_write);
  if (read == nullptr || write != nullptr) return;
  for (const PolicyFragment& layer : layers_.others) {
    if (!layer.filesystem_write) continue;
    CheckList(*FindKey("filesystem.read"), layer.filesystem_write->value, *read);
  }
}

// Naming a tool switches it on; no layer can say "off", so the layers add up.
void Merger::MergeTools() {
  Located<Strings> all{{}, {}};
  for (const PolicyFragment& layer : layers_.others) {
    if (!layer.tools_enable) continue;
    if (all.at.source.empty()) all.at = layer.tools_enable->at;
    for (const Located<std::string>& tool : layer.tools_enable->value) {
      const bool known = AnyAllows(Type::kNames, all.value, tool.value);
      if (!known) all.value.push_back(tool);
    }
  }
  merged_.tools_enable =
      all.at.source.empty() ? Strongest(&PolicyFragment::tools_enable) : std::move(all);
}

// No layer can take away what another protects, so there is no ceiling to be held to.
void Merger::MergePlaces() {
  Located<Strings> all = *layers_.defaults.filesystem_protect;
  const auto add = [&](const PolicyFragment& layer) {
    if (!layer.filesystem_protect) return;
    if (all.value.empty()) all.at = layer.filesystem_protect->at;
    for (const Located<std::string>& place : layer.filesystem_protect->value) {
      const bool known = AnyAllows(Type::kNames, all.value, place.value);
      if (!known) all.value.push_back(place);
    }
  };
  if (layers_.administrator) add(*layers_.administrator);
  for (const PolicyFragment& layer : layers_.others) add(layer);
  merged_.filesystem_protect = std::move(all);
}

void Merger::MergeKey(const Key& key, Optional<Strings> PolicyFragment::* field) {
  if (key.type == Type::kPlaces) return MergePlaces();
  if (const Located<Strings>* ceiling = Ceiling(field)) {
    for (const PolicyFragment& layer : layers_.others) {
      if (!(layer.*field)) continue;
      // Of scopes fewer would admit more.
      if (key.IsAdministrators() && !SameItems((layer.*field)->value, ceiling->value)) {
        NotTheirs(key, (layer.*field)->at, ceiling->at);
      }
      if (!key.IsAdministrators()) CheckList(key, (layer.*field)->value, *ceiling);
    }
  }
  if (key.name == "filesystem.write") CheckWriteAgainstRead();
  if (key.type == Type::kTools) return MergeTools();
  merged_.*field = Strongest(field);
}

void Merger::MergeKey(const Key& key, Optional<std::string> PolicyFragment::* field) {
  const auto looseness = [&](const std::string& name) {
    return std::ranges::find(key.choices, name, &Choice::name) - key.choices.begin();
  };
  if (const Located<std::string>* ceiling = Ceiling(field)) {
    for (const PolicyFragment& layer : layers_.others) {
      const Optional<std::string>& value = layer.*field;
      if (!value || value->value == ceiling->value) continue;
      if (key.IsAdministrators()) {
        NotTheirs(key, value->at, ceiling->at);
        continue;
      }
      if (looseness(value->value) <= looseness(ceiling->value)) continue;
      Complain(value->at,
               Quoted(key.name) + " " + value->value + " is weaker than the administrator's " +
                   ceiling->value,
               ceiling->at);
    }
  }
  merged_.*field = Strongest(field);
}

void Merger::MergeLimit(const Key& key) {
  const auto find = [&](const PolicyFragment& layer) {
    const auto found = layer.limits.find(key.name);
    return found == layer.limits.end() ? nullptr : &found->second;
  };
  const Located<std::uint64_t>* ceiling =
      layers_.administrator ? find(*layers_.administrator) : nullptr;
  const Located<std::uint64_t>* strongest = nullptr;
  for (const PolicyFragment& layer : layers_.others) {
    const Located<std::uint64_t>* value = find(layer);
    if (value == nullptr) continue;
    if (strongest == nullptr) strongest = value;
    if (ceiling == nullptr || value->value <= ceiling->value) continue;
    Complain(value->at,
             Quoted(key.name) + " " + FormatLimit(key, value->value) +
                 " is more than the administrator's " + FormatLimit(key, ceiling->value),
             ceiling->at);
  }
  if (strongest == nullptr) strongest = ceiling;
  if (strongest == nullptr) strongest = find(layers_.defaults);
  merged_.limits[std::string(key.name)] = *strongest;
}

void Merger::MergeKey(const Key& key, Optional<std::vector<Variable>> PolicyFragment::* field) {
  const Located<std::vector<Variable>>* ceiling = Ceiling(field);
  Optional<std::vector<Variable>> strongest = Strongest(field);
  if (ceiling != nullptr && strongest->at != ceiling->at) {
    std::vector<Variable> all = ceiling->value;
    for (const Variable& variable : strongest->value) {
      const auto same = [&](const Variable& other) {
        return other.name.value == variable.name.value;
      };
      const auto fixed = std::ranges::find_if(ceiling->value, same);
      if (fixed == ceiling->value.end() && key.IsAdministrators()) {
        NotTheirs(key, variable.name.at, ceiling->at);
      } else if (fixed == ceiling->value.end()) {
        all.push_back(variable);
      } else if (fixed->value != variable.value) {
        Complain(variable.name.at,
                 Quoted(variable.name.value) + " in " + std::string(key.name) +
                     " has another value than the administrator's",
                 fixed->name.at);
      }
    }
    strongest->value = std::move(all);
  }
  merged_.*field = std::move(strongest);
}

void Merger::MergeKey(const Key&, Optional<std::vector<RuleText>> PolicyFragment::* field) {
  Located<std::vector<RuleText>> all = *(layers_.defaults.*field);
  if (const auto* ceiling = Ceiling(field)) {
    all = *ceiling;
    for (RuleText& rule : all.value) rule.administrator = true;
  }
  for (const PolicyFragment& layer : layers_.others) {
    if (!(layer.*field)) continue;
    if (all.value.empty()) all.at = (layer.*field)->at;
    for (const RuleText& rule : (layer.*field)->value) all.value.push_back(rule);
  }
  merged_.*field = std::move(all);
}

}  // namespace

PolicyFragment MergeLayers(const Layers& layers, std::vector<Diagnostic>& diagnostics) {
  return Merger(layers, diagnostics).Merge();
}

}  // namespace pa::policy
