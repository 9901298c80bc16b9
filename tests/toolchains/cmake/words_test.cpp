#include <future>

#include "words.h"

int main(int argc, char** argv) {
  std::string text;
  for (int i = 1; i < argc; ++i) text += std::string(argv[i]) + ' ';
  auto count = std::async(std::launch::async, [&] { return CountWords(text); });
  return count.get() == 3 ? 0 : 1;
}
