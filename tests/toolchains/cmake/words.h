#include <string>

unsigned CountWords(const std::string& text);
