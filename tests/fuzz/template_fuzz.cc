// A text with templates, and the same as a command for bash: what is parsed can be put together
// again, and what is refused says why.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/jobs/shell_template.h"
#include "supervisor/jobs/template_text.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> earlier = {"a", "list"};
  const std::vector<std::string> all = {"a", "list", "last"};
  const auto parsed = pa::ParseTemplateText(text, earlier, all);
  const auto shell = pa::ParseShellTemplate(text, earlier, all);
  if (!parsed) {
    pa::Check(!parsed.error().message.empty() && parsed.error().at < size);
    pa::Check(!shell);
    return 0;
  }
  std::string again;
  std::size_t references = 0;
  for (const pa::TemplatePart& part : parsed->parts) {
    pa::Check(part.reference.has_value() != !part.text.empty());
    again += part.reference ? part.reference->Print() : part.text;
    references += part.reference ? 1 : 0;
  }
  if (!text.contains('\\')) {
    const auto second = pa::ParseTemplateText(again, earlier, all);
    pa::Check(second && *second == *parsed);
  }
  if (!shell) {
    pa::Check(references > 0 && shell.error().message.contains("cannot stand here"));
    return 0;
  }
  pa::Check(shell->references.size() == references);
  if (references == 0) pa::Check(shell->program == again);
  return 0;
}
