// SourceLocation, Located, Diagnostic: a position in a policy, a value with its position, and an
// error at a position.
//
//    Located<std::string> network{"full", {"policy.yaml", 7, 10}};
//    Diagnostic d{network.at, "the administrator allows 'none' only"};
//    d.Format();  // policy.yaml:7:10: the administrator allows 'none' only
#pragma once

#include <string>
#include <utility>

namespace pa::policy {

struct SourceLocation {
  std::string source;  // a file, `--enable`, `ENABLE_ADDITIONAL_TOOLS` or `default`
  int line = 0;        // 1-based; 0 if the source is not a file
  int column = 0;
  std::string Format() const;  // `policy.yaml:3:5`, `--enable`
  bool operator==(const SourceLocation&) const = default;
};

template <typename T>
struct Located {
  T value{};
  SourceLocation at;
};

struct Diagnostic {
  std::string file;  // as SourceLocation::source
  int line = 0;
  int column = 0;
  std::string message;  // what was expected, what was found, did-you-mean

  Diagnostic() = default;
  Diagnostic(const SourceLocation& place, std::string text)
      : file(place.source), line(place.line), column(place.column), message(std::move(text)) {}
  std::string Format() const;  // `policy.yaml:3:5: unknown key 'limts' - did you mean 'limits'?`
};

}  // namespace pa::policy
