#include "supervisor/state/tenant_directory.h"

#include <gtest/gtest.h>

#include "base/path_stamp.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

TEST(TenantDirectory, ATenantHasAPlaceOfItsOwn) {
  const TenantPaths paths = TenantPathsOf("/t", 1000);
  EXPECT_EQ(paths.directory, "/t/1000");
  EXPECT_EQ(paths.policy, "/t/1000/policy.yaml");
  EXPECT_EQ(paths.tokens, "/t/1000/tokens.json");
}

TEST(TenantDirectory, AnIdIsWrittenInOneWay) {
  EXPECT_EQ(TenantId("1000"), 1000u);
  EXPECT_EQ(TenantId("4294967294"), 4294967294u);
  for (const char* wrong : {"", "0", "-1", "+1", " 1", "1 ", "01", "0x1", "ann", "4294967295",
                            "4294967296", "1.0", "..", "1/2"}) {
    EXPECT_FALSE(TenantId(wrong)) << wrong;
  }
}

TEST(TenantDirectory, AChangeOfATenantIsSeenAtTheDirectory) {
  const testing::TempDir directory;
  const PathStamp before = LookAt(directory.path());
  while (!LookAt(directory.path()).Settled()) {
  }
  ASSERT_TRUE(MarkTenantsChanged(directory.path()));
  EXPECT_NE(LookAt(directory.path()), before);
  EXPECT_FALSE(MarkTenantsChanged(directory.path() / "none"));
}

}  // namespace
}  // namespace pa
