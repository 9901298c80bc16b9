#include "supervisor/text/open_metrics.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

using Type = OpenMetrics::Type;

TEST(OpenMetrics, FamiliesOneAfterTheOther) {
  OpenMetrics metrics;
  metrics.Begin("calls", Type::kCounter, "Calls.");
  metrics.Sample("_total", {{"tool", "make"}, {"outcome", "ok"}}, 7);
  metrics.Sample("_total", {{"tool", "bash"}, {"outcome", "ok"}}, 1'800'000'000);
  metrics.Begin("memory_bytes", Type::kGauge, "Memory.");
  metrics.Sample("", {}, 0.25);
  EXPECT_EQ(std::move(metrics).Take(),
            "# TYPE calls counter\n"
            "# HELP calls Calls.\n"
            "calls_total{tool=\"make\",outcome=\"ok\"} 7\n"
            "calls_total{tool=\"bash\",outcome=\"ok\"} 1800000000\n"
            "# TYPE memory_bytes gauge\n"
            "# UNIT memory_bytes bytes\n"
            "# HELP memory_bytes Memory.\n"
            "memory_bytes 0.25\n"
            "# EOF\n");
}

TEST(OpenMetrics, NoTextBreaksALine) {
  OpenMetrics metrics;
  metrics.Begin("a", Type::kGauge, "x\ny");
  metrics.Sample("", {{"l", "q\"b\\n\nend\xff"}}, 1);
  EXPECT_EQ(std::move(metrics).Take(),
            "# TYPE a gauge\n"
            "# HELP a x\\ny\n"
            "a{l=\"q\\\"b\\\\n\\nend\xef\xbf\xbd\"} 1\n"
            "# EOF\n");
}

TEST(OpenMetrics, NoneIsTheEnd) { EXPECT_EQ(OpenMetrics().Take(), "# EOF\n"); }

}  // namespace
}  // namespace pa
