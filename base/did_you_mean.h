// DidYouMean: the known name that the user probably meant.
//
//    message += DidYouMean("limts", names);   // " - did you mean 'limits'?", or ""
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace pa {

std::string DidYouMean(std::string_view written, std::span<const std::string_view> known);

}  // namespace pa
