#include "supervisor/loop/run_queue.h"

#include <algorithm>
#include <utility>

#include "base/finally.h"

namespace pa {

RunQueue::Ticket RunQueue::Enter(std::string key, Limits limits, Callback callback) {
  const Ticket ticket = ++last_ticket_;
  entries_.push_back({ticket, std::move(key), limits, std::move(callback)});
  const auto lacks_place = [this](const Entry& entry) { return LacksPlace(entry); };
  const bool may_run = std::ranges::none_of(entries_, lacks_place) && KeyIsFree(entries_.back());
  if (!may_run && waiting() > limits.waiting) {
    entries_.pop_back();
    return kFull;
  }
  StartAllThatMay();
  return ticket;
}

void RunQueue::Refuse(Ticket ticket) {
  const auto it = std::ranges::find(entries_, ticket, &Entry::ticket);
  if (it == entries_.end() || it->state != State::kWaiting) return;
  it->state = State::kRefused;
  std::exchange(it->callback, nullptr)(false);
}

void RunQueue::RefuseAll() {
  std::list<Ticket> tickets;
  for (const Entry& entry : entries_) tickets.push_back(entry.ticket);
  for (const Ticket ticket : tickets) Refuse(ticket);
}

void RunQueue::Leave(Ticket ticket) {
  const auto it = std::ranges::find(entries_, ticket, &Entry::ticket);
  if (it == entries_.end()) return;
  if (it->state == State::kRunning) --running_;
  entries_.erase(it);
  StartAllThatMay();
}

std::size_t RunQueue::Before(Ticket ticket) const {
  return static_cast<std::size_t>(std::ranges::count_if(entries_, [&](const Entry& entry) {
    return entry.ticket < ticket && entry.state != State::kRefused;
  }));
}

bool RunQueue::LacksPlace(const Entry& entry) const {
  return entry.state == State::kWaiting && running_ >= entry.limits.concurrent;
}

bool RunQueue::KeyIsFree(const Entry& entry) const {
  return entry.key.empty() || std::ranges::none_of(entries_, [&](const Entry& other) {
           return other.state == State::kRunning && other.key == entry.key;
         });
}

// Who waits for a key is passed over by others, never by one of the same key.
RunQueue::Entry* RunQueue::NextToRun() {
  for (Entry& entry : entries_) {
    if (LacksPlace(entry)) return nullptr;
    if (entry.state == State::kWaiting && KeyIsFree(entry)) return &entry;
  }
  return nullptr;
}

// A callback may enter, refuse and leave: the list is looked at anew after each. By the outermost
// of these alone: were each to start the next from within, those who leave at once would be as deep
// in the stack as there are of them.
void RunQueue::StartAllThatMay() {
  if (starting_) return;
  starting_ = true;
  // Where there is no memory a callback throws, and the queue must go on.
  const Finally done([this] { starting_ = false; });
  while (Entry* entry = NextToRun()) {
    entry->state = State::kRunning;
    ++running_;
    std::exchange(entry->callback, nullptr)(true);
  }
}

std::size_t RunQueue::waiting() const {
  return static_cast<std::size_t>(std::ranges::count(entries_, State::kWaiting, &Entry::state));
}

}  // namespace pa
