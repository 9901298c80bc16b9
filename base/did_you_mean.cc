#include "base/did_you_mean.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace pa {
namespace {

constexpr std::size_t kLongestName = 64;  // nothing we know is longer; bounds the table below

// Optimal string alignment distance: insert, remove, replace, or swap two neighbours.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last.back();
}

}  // namespace

std::string DidYouMean(std::string_view written, std::span<const std::string_view> known) {
  if (written.size() > kLongestName) return "";
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, written.size() / 3) + 1;
  for (std::string_view name : known) {
    const std::size_t distance = EditDistance(written, name);
    if (distance >= best_distance) continue;
    best = name;
    best_distance = distance;
  }
  if (best.empty()) return "";
  return " - did you mean '" + std::string(best) + "'?";
}

}  // namespace pa
