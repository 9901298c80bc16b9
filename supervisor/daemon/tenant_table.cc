#include "supervisor/daemon/tenant_table.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

#include "base/try.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/tenant_directory.h"

namespace pa {
namespace {

namespace fs = std::filesystem;

Result<std::vector<std::string>> NamesIn(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code failed;
  fs::directory_iterator at(directory, failed);
  for (; !failed && at != fs::directory_iterator(); at.increment(failed)) {
    names.push_back(at->path().filename());
  }
  if (failed) return std::unexpected(Error("read", directory, failed.value()));
  return names;
}

}  // namespace

// Looked at before it is read: what changes in between is read the next time.
Result<void> TenantTable::Refresh() {
  const PathStamp now = LookAt(directory_);
  if (read_ && *read_ == now && now.Settled()) return {};
  read_.reset();
  names_.clear();
  tokens_.clear();
  problem_.reset();
  PA_TRY(const std::vector<std::string> names, NamesIn(directory_));
  std::set<uid_t> there;
  for (const std::string& name : names) {
    if (const auto id = TenantId(name)) there.insert(*id);
  }
  std::erase_if(tenants_, [&](const auto& entry) { return !there.contains(entry.first); });
  for (const uid_t id : there) tenants_.try_emplace(id, TenantPathsOf(directory_, id).tokens);
  for (const std::string& name : names) {
    if (const Result<void> done = ReadEntry(name); !done) problem_ = done.error();
  }
  ReadTokens();
  if (problem_) {
    LogError(problem_->Message() + "; mend it, then systemctl reload project-actionsd");
  }
  read_ = now;
  return {};
}

// NAME -> UID. An editor's copy of a file is nothing of ours.
Result<void> TenantTable::ReadEntry(const std::string& name) {
  const std::string path = directory_ + "/" + name;
  const PathStamp stamp = LookAt(path);
  if (stamp.error != 0) return std::unexpected(Error("look at", path, stamp.error));
  if (!stamp.IsSymlink()) return {};
  std::error_code failed;
  const fs::path target = fs::read_symlink(path, failed);
  if (failed) return std::unexpected(Error("read", path, failed.value()));
  const auto id = TenantId(target.native());
  if (id && tenants_.contains(*id)) names_.emplace(name, *id);
  return {};
}

void TenantTable::ReadTokens() {
  for (auto& [tenant, file] : tenants_) {
    const Result<const std::vector<Token>*> all = file.All();
    if (!all) {
      problem_ = all.error();
      continue;
    }
    for (const Token& token : **all) tokens_.insert_or_assign(token.sha256, Owned{token, tenant});
  }
}

Result<std::optional<Token>> TenantTable::Find(const Digest& sha256, TokenTime now) {
  PA_TRY_VOID(Refresh());
  const auto at = tokens_.find(sha256);
  if (at != tokens_.end()) {
    return at->second.token.IsExpired(now) ? std::nullopt : std::optional(at->second.token);
  }
  if (problem_) return std::unexpected(*problem_);
  return std::nullopt;
}

Result<bool> TenantTable::HasAny(TokenTime now) {
  PA_TRY_VOID(Refresh());
  return std::ranges::any_of(tokens_,
                             [&](const auto& entry) { return !entry.second.token.IsExpired(now); });
}

std::optional<uid_t> TenantTable::TenantOf(const Digest& sha256) const {
  const auto at = tokens_.find(sha256);
  return at == tokens_.end() ? std::nullopt : std::optional(at->second.tenant);
}

std::optional<uid_t> TenantTable::TenantNamed(std::string_view name) {
  if (const Result<void> done = Refresh(); !done) {
    LogError(done.error().Message());
    return std::nullopt;
  }
  if (const auto at = names_.find(name); at != names_.end()) return at->second;
  const auto id = TenantId(name);
  return id && tenants_.contains(*id) ? id : std::nullopt;
}

ServedUsers TenantTable::Served() {
  return {.has = [this](std::string_view name) { return TenantNamed(name).has_value(); },
          .are = "its tenants"};
}

Result<void> TenantTable::Check() {
  PA_TRY_VOID(Refresh());
  return problem_ ? Result<void>(std::unexpected(*problem_)) : Result<void>();
}

}  // namespace pa
