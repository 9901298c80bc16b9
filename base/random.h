// Unpredictable text (getrandom(2)), for names, keys and identifiers.
//
//    const std::string id = RandomHex(16);   // 32 digits: nobody guesses it
#pragma once

#include <string>

namespace pa {

// Two lower-case hexadecimal digits per byte. Aborts if the kernel has no getrandom(2), which every
// supported kernel has.
std::string RandomHex(std::size_t bytes);

}  // namespace pa
