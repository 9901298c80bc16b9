// Text that nobody can guess (getrandom(2)): names, keys, identifiers.
#pragma once

#include <string>

namespace pa {

// Two lower-case digits a byte. Aborts where the kernel has none, which no supported one does.
std::string RandomHex(std::size_t bytes);

}  // namespace pa
