// OutlineScanner: finds the messages that expect an answer in a line that cannot be parsed, because
// its JSON is broken or because it is too long to be kept.
//
//    OutlineScanner scanner(max_id);
//    scanner.Feed(bytes); scanner.Feed(more);
//    for (const rpc::Outline& outline : scanner.Take()) ...
//
// It makes one pass, a byte at a time, without recursion. The depth alone tells which members
// belong to the object at the top, or to each object in the array at the top (a batch). It also
// reads text that is not JSON, as long as brackets and quotes are where they should be. Of equal
// names the last one counts, as in JSON.parse. Memory: one id of at most `max_id` bytes,
// kMaxOutlines outlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/transport/rpc.h"

namespace pa {

class OutlineScanner {
 public:
  static constexpr std::size_t kMaxOutlines = 1000;

  explicit OutlineScanner(std::size_t max_id) : max_id_(max_id) {}

  void Feed(std::string_view bytes);
  // Returns the outlines and starts over.
  std::vector<rpc::Outline> Take();

 private:
  enum class Part { kName, kId, kOther };

  void Step(char c);
  void StepString(char c);
  void Open(char c);
  void Close();
  void EndName();
  void EndValue();
  void Collect(char c);
  bool InMessage() const { return depth_ == level_ && is_object_; }

  std::size_t max_id_;
  std::vector<rpc::Outline> outlines_;
  std::uint64_t depth_ = 0;
  std::uint64_t level_ = 0;  // depth of the members of messages; 0 = nothing was opened yet
  bool is_object_ = false;   // an object is open at that level
  bool ended_ = false;       // the first value has ended; the rest is ignored
  bool in_string_ = false;
  bool escaped_ = false;
  Part part_ = Part::kName;
  std::string token_;  // as written: a name, or the id
  bool too_long_ = false;
};

}  // namespace pa
