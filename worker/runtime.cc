// What header-only parts of the standard library want from libstdc++, which the worker is not
// linked against (docs/adr/0002). Each is for a mistake of ours that no input can cause.
#include <cstdlib>
#include <string_view>

namespace std {

// string_view::substr and copy beyond the end.
void __throw_out_of_range_fmt(const char*, ...) { abort(); }  // NOLINT: the library's name

}  // namespace std
