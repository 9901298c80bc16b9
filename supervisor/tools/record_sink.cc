#include "supervisor/tools/record_sink.h"

namespace pa {

void RecordSink::OnOutput(Stream stream, std::string_view bytes) {
  if (stream == Stream::kStdout) return Feed(bytes);
  complaints_.append(bytes.substr(0, kMaxComplaints - complaints_.size()));
}

void RecordSink::Feed(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find(delimiters_[which_]);
    const std::string_view part = bytes.substr(0, end);
    too_long_ = too_long_ || partial_.size() + part.size() > kMaxRecord;
    if (too_long_) partial_.clear();
    if (!too_long_) partial_ += part;
    if (end == std::string_view::npos) return;
    if (!too_long_) OnRecord(partial_, which_);
    if (too_long_) ++dropped_;
    too_long_ = false;
    partial_.clear();
    which_ = (which_ + 1) % delimiters_.size();
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace pa
