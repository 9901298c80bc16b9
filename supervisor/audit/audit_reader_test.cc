#include "supervisor/audit/audit_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "supervisor/audit/audit_file.h"
#include "tests/support/temp_dir.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

class AuditReaderTest : public ::testing::Test {
 protected:
  void Append(const std::string& text) { std::ofstream(path_, std::ios::app) << text; }
  // `1:text`, with `*` before the first of a file and `!` before one that is too long; "" = none.
  static std::string Next(AuditReader& reader) {
    const auto line = reader.Next();
    EXPECT_TRUE(line) << line.error().Message();
    return line && *line ? Shown(**line) : "";
  }
  static std::string Shown(const AuditLine& line) {
    return (line.first_of_file ? "*" : "") + std::string(line.too_long ? "!" : "") +
           line.place.substr(line.place.rfind(':') + 1) + ":" + line.text;
  }

  testing::TempDir dir_;
  const std::string path_ = dir_.path() / "log";
};

TEST_F(AuditReaderTest, ReadsTheLinesOfItsFiles) {
  testing::WriteText(dir_.path() / "log.1", "a\nb\nhal");
  testing::WriteText(path_, "c\n\nrest");
  AuditReader reader({dir_.path() / "log.1", path_});
  for (const char* line : {"*1:a", "2:b", "3:hal", "*1:c", "2:", ""}) {
    EXPECT_EQ(Next(reader), line);
  }
  const auto rest = reader.Rest();
  ASSERT_TRUE(rest);
  EXPECT_EQ(Shown(*rest), "3:rest");
  EXPECT_FALSE(reader.Rest());
}

TEST_F(AuditReaderTest, AFileThatCannotBeReadIsAnError) {
  AuditReader missing({path_});
  EXPECT_EQ(missing.Next().error().sys_errno, ENOENT);
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  AuditReader fifo({path_});
  EXPECT_EQ(fifo.Next().error().sys_errno, EINVAL);
}

TEST_F(AuditReaderTest, AnOverlongLineIsOneLine) {
  testing::WriteText(path_, std::string(3 * kMaxAuditLine, 'x') + "\n" +
                                std::string(kMaxAuditLine - 1, 'y') + "\nz\n");
  AuditReader reader({path_});
  EXPECT_EQ(Next(reader), "*!1:" + std::string(kMaxAuditLine, 'x'));
  EXPECT_EQ(Next(reader), "2:" + std::string(kMaxAuditLine - 1, 'y'));
  EXPECT_EQ(Next(reader), "3:z");
  EXPECT_EQ(Next(reader), "");
}

TEST_F(AuditReaderTest, GoesOnWhereLinesAreAppended) {
  Append("a\nb");
  AuditReader reader({path_});
  EXPECT_EQ(Next(reader), "*1:a");
  EXPECT_EQ(Next(reader), "") << "it has no end yet";
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kNone);
  Append("c\nd\n");
  EXPECT_EQ(Next(reader), "2:bc");
  EXPECT_EQ(Next(reader), "3:d");
  EXPECT_EQ(Next(reader), "");
}

// A server that has just looked at the name writes its line to the file that is renamed then.
TEST_F(AuditReaderTest, GoesOnAcrossARotation) {
  Append("a\n");
  AuditReader reader({path_});
  EXPECT_EQ(Next(reader), "*1:a");
  EXPECT_EQ(Next(reader), "");
  fs::rename(path_, path_ + ".1");
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kNone) << "gone, for the moment";
  Append("c\n");
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kNone);
  std::ofstream(path_ + ".1", std::ios::app) << "b\nhal";
  EXPECT_EQ(Next(reader), "2:b");
  EXPECT_EQ(Next(reader), "");
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kRotated);
  EXPECT_EQ(Next(reader), "3:hal") << "nothing is skipped";
  EXPECT_EQ(Next(reader), "*1:c");
  EXPECT_EQ(Next(reader), "");
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kNone);
}

TEST_F(AuditReaderTest, TellsThatAFileWasTruncated) {
  Append("a\nb\n");
  AuditReader reader({path_});
  while (!Next(reader).empty()) {
  }
  ASSERT_EQ(truncate(path_.c_str(), 0), 0);
  Append("c\n");
  EXPECT_EQ(*reader.Renew(), AuditReader::Change::kTruncated);
  EXPECT_EQ(Next(reader), "*1:c");
}

}  // namespace
}  // namespace pa
