#include "words.h"

#include <sstream>

unsigned CountWords(const std::string& text) {
  std::istringstream in(text);
  unsigned count = 0;
  for (std::string word; in >> word;) ++count;
  return count;
}
