// QuoteCommand: a command as people read it, quoted as for a shell. The result is never run.
//
//    QuoteCommand({"git", "commit", "a b"})      // git commit 'a b'
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa {

std::string QuoteWord(std::string_view word);
std::string QuoteCommand(std::span<const std::string> argv);

}  // namespace pa
