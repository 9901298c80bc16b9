// OutlineScanner: who wants an answer to a line that cannot be read: broken JSON, or longer than is
// kept.
//
//   OutlineScanner scanner(limit);
//   scanner.Feed(bytes); scanner.Feed(more);
//   for (const rpc::Outline& outline : scanner.Take()) ...
//
// One pass, a byte at a time, without recursion: the members of the object at the top, or of each
// object in the array at the top (a batch), are told apart by their depth alone. It reads what is
// no JSON, too, as long as brackets and quotes are where they should be. Of equal names the last
// counts, as JSON.parse has it. Memory: one id of at most `max_id` bytes, kMaxOutlines outlines.
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
  // What was found; then begins anew.
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
  std::uint64_t level_ = 0;  // at which messages have their members; 0 = nothing was opened yet
  bool is_object_ = false;   // what is open at that level
  bool ended_ = false;       // what follows the first value is none of ours
  bool in_string_ = false;
  bool escaped_ = false;
  Part part_ = Part::kName;
  std::string token_;  // as written: a name, or the id
  bool too_long_ = false;
};

}  // namespace pa
