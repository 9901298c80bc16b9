#include "supervisor/guard/file_image.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class FileImageTest : public ::testing::Test {
 protected:
  FileImageTest() {
    testing::WriteText(base_ / "tree/file", "content");
    testing::WriteText(base_ / "tree/sub/deep", "deep");
    chmod((base_ / "tree/file").c_str(), 0751);
    fs::create_symlink("file", base_ / "tree/link");
  }
  Result<FileImage> Read(const std::string& name, ImageDepth depth = ImageDepth::kTree) {
    return ReadImage(fd_.get(), name, depth, budget_);
  }
  static void Settle() { std::this_thread::sleep_for(std::chrono::milliseconds(60)); }

  testing::TempDir dir_;
  const fs::path base_ = fs::canonical(dir_.path());
  const UniqueFd fd_{open(base_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  ImageBudget budget_;
};

TEST_F(FileImageTest, IsMadeAgainAsItWas) {
  const FileImage image = Read("tree").value();
  ASSERT_TRUE(MakeFrom(image, fd_.get(), "copy").has_value());
  EXPECT_EQ(testing::ReadText(base_ / "copy/file"), "content");
  EXPECT_EQ(testing::ReadText(base_ / "copy/sub/deep"), "deep");
  EXPECT_EQ(fs::read_symlink(base_ / "copy/link"), "file");
  EXPECT_EQ(LookAt(base_ / "copy/file").mode & 07777u, 0751u);
  EXPECT_EQ(LookAt(base_ / "copy/file").modified_ns, image.children.at("file").stamp.modified_ns);
  // Never over something.
  EXPECT_EQ(MakeFrom(image.children.at("file"), fd_.get(), "copy").error().sys_errno, EEXIST);
  EXPECT_EQ(MakeFrom(image, fd_.get(), "copy").error().sys_errno, EEXIST);
}

TEST_F(FileImageTest, DepthIsWhatWasAskedFor) {
  EXPECT_TRUE(Read("tree", ImageDepth::kSelf)->children.empty());
  EXPECT_EQ(Read("tree", ImageDepth::kNames)->children.size(), 3u);
  EXPECT_TRUE(Read("tree", ImageDepth::kNames)->children.at("sub").children.empty());
  EXPECT_EQ(Read("tree")->children.at("sub").children.at("deep").content, "deep");
}

TEST_F(FileImageTest, WhatIsNotThereIsAnImageToo) {
  const FileImage image = Read("nothing").value();
  EXPECT_FALSE(image.stamp.exists);
  EXPECT_TRUE(StampsHold(image, base_ / "nothing"));
  testing::WriteText(base_ / "nothing", "");
  EXPECT_FALSE(StampsHold(image, base_ / "nothing"));
}

TEST_F(FileImageTest, StampsTellAnyTouchOnceTheyAreSettled) {
  // On a loaded machine it may be old by the time that it is looked at.
  bool told = true;
  for (int i = 0; told && i < 100; ++i) {
    testing::WriteText(base_ / "tree/file", "content");
    told = StampsHold(*Read("tree"), base_ / "tree");
  }
  EXPECT_FALSE(told) << "too young to tell";
  Settle();
  const auto holds_after = [&](auto touch) {
    const FileImage image = Read("tree").value();
    EXPECT_TRUE(StampsHold(image, base_ / "tree"));
    touch();
    const bool holds = StampsHold(image, base_ / "tree");
    Settle();
    return holds;
  };
  EXPECT_TRUE(holds_after([] {}));
  EXPECT_FALSE(holds_after([&] { testing::WriteText(base_ / "tree/sub/deep", "peed"); }));
  EXPECT_FALSE(holds_after([&] { testing::WriteText(base_ / "tree/sub/new", ""); }));
  EXPECT_FALSE(holds_after([&] { chmod((base_ / "tree/file").c_str(), 0755); }));
  EXPECT_FALSE(holds_after([&] { fs::remove(base_ / "tree/link"); }));
  const FileImage names = Read("tree", ImageDepth::kNames).value();
  testing::WriteText(base_ / "tree/sub/deep", "free");
  EXPECT_TRUE(StampsHold(names, base_ / "tree"));
}

TEST_F(FileImageTest, ContentIsCompared) {
  const FileImage file = Read("tree/file").value();
  EXPECT_TRUE(HoldsContent(file, fd_.get(), "tree/file").value_or(false));
  testing::WriteText(base_ / "tree/file", "content");
  EXPECT_TRUE(HoldsContent(file, fd_.get(), "tree/file").value_or(false)) << "the same again";
  for (const char* other : {"Content", "conten", "content and more", ""}) {
    testing::WriteText(base_ / "tree/file", other);
    EXPECT_FALSE(HoldsContent(file, fd_.get(), "tree/file").value_or(true)) << other;
  }
  fs::resize_file(base_ / "tree/file", 1ull << 40);
  EXPECT_FALSE(HoldsContent(file, fd_.get(), "tree/file").value_or(true)) << "of any size";
  fs::remove(base_ / "tree/file");
  EXPECT_EQ(mkfifo((base_ / "tree/file").c_str(), 0600), 0);
  EXPECT_FALSE(HoldsContent(file, fd_.get(), "tree/file").value_or(true)) << "nobody waits";
  const FileImage link = Read("tree/link").value();
  EXPECT_TRUE(HoldsContent(link, fd_.get(), "tree/link").value_or(false));
  fs::remove(base_ / "tree/link");
  fs::create_symlink("sub", base_ / "tree/link");
  EXPECT_FALSE(HoldsContent(link, fd_.get(), "tree/link").value_or(true));
}

TEST_F(FileImageTest, MoreThanCanBeHeldIsRefused) {
  budget_ = {.bytes = 10, .nodes = 100};
  const Result<FileImage> bytes = Read("tree");
  ASSERT_FALSE(bytes.has_value());
  EXPECT_EQ(bytes.error().sys_errno, EFBIG);
  EXPECT_TRUE(bytes.error().subject.starts_with("tree/")) << bytes.error().subject;
  budget_ = {.bytes = 100, .nodes = 4};
  EXPECT_EQ(Read("tree").error().sys_errno, E2BIG);
  budget_ = {.bytes = 11, .nodes = 5};
  EXPECT_TRUE(Read("tree").has_value());
}

TEST_F(FileImageTest, WhatHasNoContentCannotBeMade) {
  ASSERT_EQ(mkfifo((base_ / "fifo").c_str(), 0600), 0);
  const FileImage image = Read("fifo").value();
  EXPECT_EQ(MakeFrom(image, fd_.get(), "copy").error().sys_errno, ENOTSUP);
  EXPECT_FALSE(fs::exists(base_ / "copy"));
}

TEST_F(FileImageTest, MetadataComesBackAndNoSymlinkIsFollowed) {
  const FileImage image = Read("tree").value();
  chmod((base_ / "tree/file").c_str(), 0);
  EXPECT_TRUE(RestoreMetadata(image.children.at("file").stamp, fd_.get(), "tree/file"));
  EXPECT_EQ(LookAt(base_ / "tree/file").mode & 07777u, 0751u);
  EXPECT_TRUE(
      RestoreMetadata({.mode = 0, .owner = geteuid(), .group = getegid()}, fd_.get(), "tree/link"));
  EXPECT_EQ(LookAt(base_ / "tree/file").mode & 07777u, 0751u);
}

TEST_F(FileImageTest, DirectoriesAreOpenedThroughNoSymlink) {
  EXPECT_TRUE(OpenDirectory(base_ / "tree/sub"));
  fs::create_directory_symlink("tree", base_ / "alias");
  EXPECT_FALSE(OpenDirectory(base_ / "alias"));
  EXPECT_FALSE(OpenDirectory(base_ / "alias/sub"));
  EXPECT_FALSE(OpenDirectory(base_ / "tree/file"));
}

}  // namespace
}  // namespace pa
