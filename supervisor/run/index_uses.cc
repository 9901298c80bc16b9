#include "supervisor/run/index_uses.h"

#include <sys/inotify.h>

#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>

namespace pa {
namespace {

// One event is enough: a command that opens the file again and again makes no more of them.
constexpr std::uint32_t kOpens = IN_OPEN | IN_ONESHOT | IN_DONT_FOLLOW;

constexpr std::chrono::milliseconds kQuiet{100};

}  // namespace

IndexUses::Watch::Watch(IndexUses& uses, const std::string& index) : uses_(uses) {
  uses_.Look();  // what came before says nothing of this command
  watch_ = uses_.inotify_.Add(index, kOpens);
  if (watch_ >= 0) ++uses_.watched_[watch_].watches;
}

IndexUses::Watch::~Watch() {
  if (watch_ < 0) return;
  const auto found = uses_.watched_.find(watch_);
  if (--found->second.watches > 0) return;
  if (!found->second.opened) uses_.inotify_.Remove(watch_);
  uses_.watched_.erase(found);
}

bool IndexUses::Watch::WasRead() {
  if (watch_ < 0) return false;
  uses_.Look();
  return uses_.watched_.at(watch_).opened;
}

void IndexUses::Look() {
  inotify_.ReadQueued([this](int watch, std::uint32_t mask, std::string_view /*name*/) {
    if ((mask & IN_Q_OVERFLOW) != 0) {
      for (auto& [number, watched] : watched_) watched.opened = true;
    }
    const auto found = watched_.find(watch);
    if (found != watched_.end() && (mask & IN_OPEN) != 0) found->second.opened = true;
  });
}

std::optional<bool> IndexUses::Expects(const std::string& command) const {
  const auto found = commands_.find(std::hash<std::string>()(command));
  if (found == commands_.end()) return std::nullopt;
  return found->second;
}

void IndexUses::Learn(const std::string& command, bool reads) {
  if (commands_.size() >= kMaxCommands) commands_.clear();
  commands_[std::hash<std::string>()(command)] = reads;
}

std::shared_ptr<IndexUses::Refresh> IndexUses::UnderWay(const std::string& git_dir) const {
  const auto found = under_way_.find(git_dir);
  return found == under_way_.end() ? nullptr : found->second;
}

void IndexUses::Plan(const std::string& git_dir, std::function<void()> start) {
  if (closed_) return;
  under_way_[git_dir] = std::make_shared<Refresh>(Refresh{.start = std::move(start)});
  if (!quiet_) quiet_.emplace(loop_);
  quiet_->Start(kQuiet, [this] {
    const auto planned = under_way_;
    for (const auto& [path, refresh] : planned) Start(path);
  });
}

void IndexUses::Start(const std::string& git_dir) {
  const std::shared_ptr<Refresh> refresh = UnderWay(git_dir);
  if (refresh == nullptr || refresh->start == nullptr) return;
  std::exchange(refresh->start, nullptr)();
}

void IndexUses::End(const std::string& git_dir) {
  const auto found = under_way_.find(git_dir);
  if (found == under_way_.end()) return;
  const std::shared_ptr<Refresh> ended = std::move(found->second);
  under_way_.erase(found);
  for (const auto& tell : std::exchange(ended->waiting, {})) tell();
}

void IndexUses::Close() {
  closed_ = true;
  quiet_.reset();
  std::erase_if(under_way_, [](const auto& one) { return one.second->start != nullptr; });
}

}  // namespace pa
