// A configuration that a command may have written: what is read from it is read again from what git
// would have written for it.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "policy/git_config.h"
#include "tests/fuzz/check.h"

namespace pa::policy {
namespace {

std::string Quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

// `a.b.c` is `[a "b"]` with `c`, `a.c` is `[a]`. git's own names hold no dot; a subsection any.
std::string Written(const GitVariable& variable) {
  const std::string& name = variable.name;
  const std::size_t last = name.rfind('.');
  if (last == std::string::npos) return name + " = " + Quoted(variable.value) + '\n';
  const std::size_t first = name.find('.');
  std::string section = name.substr(0, first);
  if (first != last) section += ' ' + Quoted(name.substr(first + 1, last - first - 1));
  return '[' + section + "]\n\t" + name.substr(last + 1) + " = " + Quoted(variable.value) + '\n';
}

void CheckConfig(std::string_view text) {
  const auto read = ParseGitConfig(text);
  const std::vector<GitVariable>* variables = Given(read);
  if (variables == nullptr) return;
  std::string again;
  for (const GitVariable& variable : *variables) again += Written(variable);
  const auto read_again = ParseGitConfig(again);
  Check(Given(read_again) != nullptr && *Given(read_again) == *variables);
}

}  // namespace
}  // namespace pa::policy

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  pa::policy::CheckConfig({reinterpret_cast<const char*>(data), size});
  return 0;
}
