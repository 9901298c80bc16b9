#include "supervisor/spawner/serve_spawner.h"

#include <gtest/gtest.h>

namespace pa {
namespace {

TEST(SpawnerTest, Placeholder) {}

}  // namespace
}  // namespace pa
