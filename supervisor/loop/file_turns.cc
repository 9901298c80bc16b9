#include "supervisor/loop/file_turns.h"

#include <algorithm>
#include <utility>

namespace pa {
namespace {

// Both sorted.
bool Meet(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  for (auto x = a.begin(), y = b.begin(); x != a.end() && y != b.end();) {
    if (*x == *y) return true;
    *x < *y ? static_cast<void>(++x) : static_cast<void>(++y);
  }
  return false;
}

}  // namespace

// Nobody overtakes one who waits for the same file, so nobody waits for ever.
bool FileTurns::IsFirst(Ticket ticket) const {
  const Entry& place = places_.at(ticket);
  return std::none_of(places_.begin(), places_.find(ticket),
                      [&](const auto& earlier) { return Meet(earlier.second.paths, place.paths); });
}

std::size_t FileTurns::Before(Ticket ticket) const {
  const auto place = places_.find(ticket);
  return static_cast<std::size_t>(std::count_if(places_.begin(), place, [&](const auto& earlier) {
    return Meet(earlier.second.paths, place->second.paths);
  }));
}

FileTurns::Ticket FileTurns::Enter(std::vector<std::string> paths, std::function<void()> granted) {
  const Ticket ticket = ++last_;
  Entry& place = places_[ticket];
  place = {.paths = std::move(paths), .granted = std::move(granted)};
  if (IsFirst(ticket)) std::exchange(place.granted, nullptr)();
  return ticket;
}

void FileTurns::Leave(Ticket ticket) {
  places_.erase(ticket);
  std::vector<std::function<void()>> now;
  for (auto& [other, place] : places_) {
    if (place.granted && IsFirst(other)) now.push_back(std::exchange(place.granted, nullptr));
  }
  for (const auto& granted : now) granted();  // at the end: they may enter and leave
}

std::size_t FileTurns::waiting() const {
  return static_cast<std::size_t>(std::ranges::count_if(
      places_, [](const auto& place) { return place.second.granted != nullptr; }));
}

FileTurn::FileTurn(FileTurns& turns, std::vector<std::string> paths)
    : turns_(turns), paths_(std::move(paths)) {
  std::ranges::sort(paths_);
  paths_.erase(std::unique(paths_.begin(), paths_.end()), paths_.end());
}

FileTurn::~FileTurn() {
  if (cancel_ != nullptr) cancel_->Forget();
  if (ticket_ != 0) turns_.Leave(ticket_);
}

bool FileTurn::Enter(CancelSource& cancel, std::size_t most_waiting) {
  const auto set = [this](bool granted) {
    if (std::exchange(done_, true)) return;
    if (cancel_ != nullptr) std::exchange(cancel_, nullptr)->Forget();
    granted_.Set(granted);
  };
  ticket_ = turns_.Enter(paths_, [set] { set(true); });
  if (done_) return true;
  if (turns_.waiting() > most_waiting) {
    done_ = true;
    turns_.Leave(std::exchange(ticket_, 0));
    return false;
  }
  cancel_ = &cancel;
  cancel.OnCancel([set] { set(false); });
  return true;
}

}  // namespace pa
