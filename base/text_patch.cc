#include "base/text_patch.h"

#include <algorithm>
#include <cassert>

namespace pa {
namespace {

std::size_t LineBegin(std::string_view text, std::size_t at) {
  if (at == 0) return 0;
  const std::size_t end = text.rfind('\n', at - 1);
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace

std::string Apply(std::string_view text, std::span<const TextEdit> edits) {
  std::string out;
  std::size_t at = 0;
  for (const TextEdit& edit : edits) {
    assert(at <= edit.begin && edit.begin <= edit.end && edit.end <= text.size());
    out += text.substr(at, edit.begin - at);
    out += edit.text;
    at = edit.end;
  }
  return out += text.substr(at);
}

std::string LineEnd(std::string_view text) {
  const std::size_t end = text.find('\n');
  const bool crlf = end != std::string_view::npos && end > 0 && text[end - 1] == '\r';
  return crlf ? "\r\n" : "\n";
}

std::string_view IndentOf(std::string_view text, std::size_t at) {
  const std::string_view line = text.substr(LineBegin(text, at));
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

bool StandsFirst(std::string_view text, std::size_t at) {
  return LineBegin(text, at) + IndentOf(text, at).size() >= at;
}

}  // namespace pa
