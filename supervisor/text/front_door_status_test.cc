#include "supervisor/text/front_door_status.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(FrontDoorStatus, WrittenAndReadItIsTheSame) {
  const FrontDoorStatus status{.tenants = 2, .answers = {{200, 7}, {401, 3}, {503, 1}}};
  for (const FrontDoorStatus& one : {status, FrontDoorStatus{}}) {
    const Result<FrontDoorStatus> read = ParseFrontDoorStatus(FormatStatus(one));
    ASSERT_TRUE(read) << read.error().Message();
    EXPECT_EQ(*read, one);
  }
  EXPECT_EQ(status.asked(), 11u);
  EXPECT_EQ(status.refused(), 4u);
  EXPECT_EQ(FrontDoorStatus{}.refused(), 0u);
}

TEST(FrontDoorStatus, AnythingElseIsRefused) {
  for (const char* text :
       {"", "{}", "7", R"({"tenants":-1,"answers":{}})", R"({"tenants":1,"answers":[]})",
        R"({"tenants":1,"answers":{"2000":1}})", R"({"tenants":1,"answers":{"20x":1}})",
        R"({"tenants":1,"answers":{"200":"1"}})", R"({"tenants":1})"}) {
    EXPECT_FALSE(ParseFrontDoorStatus(text)) << text;
  }
}

TEST(FrontDoorStatus, AsMetrics) {
  OpenMetrics metrics;
  AddMetrics(metrics, {.tenants = 2, .answers = {{200, 7}, {401, 3}}});
  EXPECT_EQ(std::move(metrics).Take(),
            "# TYPE project_actions_tenants gauge\n"
            "# HELP project_actions_tenants Tenants of the machine.\n"
            "project_actions_tenants 2\n"
            "# TYPE project_actions_front_door_requests counter\n"
            "# HELP project_actions_front_door_requests Requests that the front door has judged, "
            "by the status for the client.\n"
            "project_actions_front_door_requests_total{status=\"200\"} 7\n"
            "project_actions_front_door_requests_total{status=\"401\"} 3\n"
            "# EOF\n");
}

}  // namespace
}  // namespace pa
