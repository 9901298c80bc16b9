#include "policy/diagnostic.h"

#include "base/utf8.h"

namespace pa::policy {

// File names and messages quote what others wrote: one line, valid UTF-8, whatever they hold.
std::string SourceLocation::Format() const {
  std::string text = RepairUtf8(source, true);
  if (line > 0) text += ':' + std::to_string(line) + ':' + std::to_string(column);
  return text;
}

std::string Diagnostic::Format() const {
  return SourceLocation{file, line, column}.Format() + ": " + RepairUtf8(message, true);
}

}  // namespace pa::policy
