#include "supervisor/transport/outline_scanner.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pa {
namespace {

// `1?` is a request with the id 1, `1!` a response, `-` what has no id.
std::string Scan(std::string_view line, std::size_t chunk = SIZE_MAX, std::size_t max_id = 100) {
  OutlineScanner scanner(max_id);
  for (; !line.empty(); line.remove_prefix(std::min(chunk, line.size()))) {
    scanner.Feed(line.substr(0, chunk));
  }
  std::string said;
  for (const rpc::Outline& outline : scanner.Take()) {
    said += said.empty() ? "" : " ";
    said += outline.id ? outline.id->token() : "-";
    said += outline.asks ? "?" : "";
    said += outline.answers ? "!" : "";
  }
  return said;
}

constexpr struct {
  std::string_view line, says;
} kLines[] = {
    {R"({"jsonrpc":"2.0","id":1,"method":"ping"})", "1?"},
    {R"({"method":"m","id":"a"})", R"("a"?)"},
    {R"( { "id" : 7.0 , "method" : "m" } )", "7.0?"},
    {"{\n\"id\"\n:\r\n7\n,\t\"method\":\"m\"}\n", "7?"},
    {"{\"id\":1\n2,\"method\":\"m\"}", "-?"},
    {R"({"id":-1e400,"method":"m"})", "-1e400?"},
    {R"({"id":"\ud800","method":"m"})", R"("\ud800"?)"},
    {R"({"\u0069\u0064":3,"\u006dethod":"m"})", "3?"},
    {R"({"id":3,"result":{}})", "3!"},
    {R"({"id":3,"error":{}})", "3!"},
    {R"({"method":"notifications/x"})", "-?"},
    // The last one counts, as JSON.parse has it.
    {R"({"id":1,"id":2,"method":"m"})", "2?"},
    {R"({"id":1,"id":null,"method":"m"})", "-?"},
    // What is not at the top is none, wherever it stands.
    {R"({"params":{"id":9,"method":"x"},"id":1})", "1"},
    {R"({"params":["id",{"id":9}],"id":1})", "1"},
    {R"({"a":"\"id\":9","b":"}","c":"\\","id":1})", "1"},
    {R"({"a":"id","b":"method","id":1})", "1"},
    // Broken in one place or another.
    {R"({"id":1,"method":"m","params":{"a":tru}})", "1?"},
    {R"({"id":1,"method":"m","params":{"a":1,"a":2}})", "1?"},
    {R"({"id":1,"method":"m","params":[1}})", "1?"},
    {R"({"id":1,"method":"m)", "1?"},
    {R"({"id":1,"method":"m"} x)", "1?"},
    {R"({"id":1,"method":"m"}{"id":2,"method":"m"})", "1?"},
    {"{\"id\":1,\"method\":\"\xff\"}", "1?"},
    {"{\"id\":1,\"method\":\"\t\"}", "1?"},
    {"\xEF\xBB\xBF{\"id\":1,\"method\":\"m\"}", "1?"},
    // No id can be told.
    {R"({"method":"m","id":12)", "-?"},
    {R"({"id":1 2,"method":"m"})", "-?"},
    {R"({"id":"a" "b","method":"m"})", "-?"},
    {R"({"id":[1],"method":"m"})", "-?"},
    {R"({"id":{"id":1},"method":"m"})", "-?"},
    {R"({"id":true,"method":"m"})", "-?"},
    {R"({"id":,"method":"m"})", "-?"},
    {R"({"id":01,"method":"m"})", "-?"},
    {R"({id:1})", "-"},
    {R"({"ID":1})", "-"},
    {R"("id":1,"method":"m")", ""},
    {"", ""},
    {"]]}}", ""},
    // Batches.
    {R"([{"id":1,"method":"m"},{"id":2,"result":1},{"method":"n"}])", "1? 2! -?"},
    {R"([{"id":1,"method":"m","params":{"a":1,"a":1}}, 7, [{"id":9}], {"id":2,"method":"m"}])",
     "1? 2?"},
    {R"([{"id":1,"method":"m"},)", "1?"},
};

TEST(OutlineScanner, SaysWhoWaitsHoweverTheBytesCome) {
  for (const auto& [line, says] : kLines) {
    EXPECT_EQ(Scan(line), says) << line;
    for (std::size_t chunk = 1; chunk < 8; ++chunk) EXPECT_EQ(Scan(line, chunk), says) << line;
  }
}

TEST(OutlineScanner, BeginsAnew) {
  OutlineScanner scanner(100);
  scanner.Feed(R"([{"id":1,"x":")");
  EXPECT_EQ(scanner.Take().size(), 1u);
  scanner.Feed(R"({"id":2,"method":"m"})");
  const auto second = scanner.Take();
  ASSERT_EQ(second.size(), 1u);
  EXPECT_EQ(second[0].id->token(), "2");
}

TEST(OutlineScanner, AnIdHasItsLimit) {
  const std::string id = '"' + std::string(98, 'x') + '"';
  EXPECT_EQ(Scan(R"({"id":)" + id + R"(,"method":"m"})"), id + "?");
  EXPECT_EQ(Scan(R"({"id":)" + id + R"(,"method":"m"})", SIZE_MAX, 99), "-?");
  EXPECT_EQ(Scan(R"({"id":123456,"method":"m"})", SIZE_MAX, 5), "-?") << "not 12345";
}

TEST(OutlineScanner, DepthCostsNothing) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(Scan(R"({"a":)" + deep + std::string(deep.size(), ']') + R"(,"id":1,"method":"m"})"),
            "1?");
}

TEST(OutlineScanner, ManyMessagesHaveTheirLimit) {
  std::string batch = "[";
  for (std::size_t i = 0; i < OutlineScanner::kMaxOutlines + 5; ++i) batch += R"({"id":1},)";
  OutlineScanner scanner(100);
  scanner.Feed(batch);
  EXPECT_EQ(scanner.Take().size(), OutlineScanner::kMaxOutlines);
}

}  // namespace
}  // namespace pa
