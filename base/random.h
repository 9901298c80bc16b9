// Unpredictable text (getrandom(2)), for names, keys and identifiers.
#pragma once

#include <string>

namespace pa {

// Two lower-case hexadecimal digits per byte. Aborts if the kernel has no getrandom(2), which every
// supported kernel has.
std::string RandomHex(std::size_t bytes);

}  // namespace pa
