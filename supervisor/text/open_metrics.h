// OpenMetrics: writes metrics in the text format of OpenMetrics 1.0, which Prometheus reads.
//
//    OpenMetrics metrics;
//    metrics.Begin("project_actions_calls", OpenMetrics::Type::kCounter, "Calls that have ended.");
//    metrics.Sample("_total", {{"tool", "make"}}, 7);
//    std::string text = std::move(metrics).Take();
//
// https://github.com/prometheus/OpenMetrics/blob/v1.0.0/specification/OpenMetrics.md
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pa {

inline constexpr std::string_view kOpenMetricsType =
    "application/openmetrics-text; version=1.0.0; charset=utf-8";

class OpenMetrics {
 public:
  enum class Type : std::uint8_t { kCounter, kGauge, kHistogram };
  using Labels = std::vector<std::pair<std::string_view, std::string>>;

  // A family: all of its samples follow. A name that ends with `_seconds` or `_bytes` has that
  // unit.
  void Begin(std::string_view name, Type type, std::string_view help);
  // Of the family that was begun last. `suffix`: `_total` for a counter, `_bucket`, `_count` and
  // `_sum` for a histogram, "" for a gauge. A value of a label may be any text.
  void Sample(std::string_view suffix, const Labels& labels, double value);
  std::string Take() &&;

 private:
  std::string name_;
  std::string text_;
};

}  // namespace pa
