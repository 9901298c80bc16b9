#include "supervisor/text/open_metrics.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace pa {
namespace {

std::string_view NameOf(OpenMetrics::Type type) {
  switch (type) {
    case OpenMetrics::Type::kCounter:
      return "counter";
    case OpenMetrics::Type::kGauge:
      return "gauge";
    case OpenMetrics::Type::kHistogram:
      return "histogram";
  }
  return "unknown";
}

std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : RepairUtf8(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    c == '\n' ? escaped += "\\n" : escaped += c;
  }
  return escaped;
}

}  // namespace

void OpenMetrics::Begin(std::string_view name, Type type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# TYPE {} {}\n", name, NameOf(type));
  for (const std::string_view unit : {"seconds", "bytes"}) {
    if (name.ends_with("_" + std::string(unit))) {
      text_ += fmt::format("# UNIT {} {}\n", name, unit);
    }
  }
  text_ += fmt::format("# HELP {} {}\n", name, Escaped(help));
}

void OpenMetrics::Sample(std::string_view suffix, const Labels& labels, double value) {
  text_.append(name_).append(suffix);
  std::string_view before = "{";
  for (const auto& [name, text] : labels) {
    text_ += fmt::format("{}{}=\"{}\"", before, name, Escaped(text));
    before = ",";
  }
  text_ += fmt::format("{} {}\n", labels.empty() ? "" : "}", value);
}

std::string OpenMetrics::Take() && {
  text_ += "# EOF\n";
  return std::move(text_);
}

}  // namespace pa
