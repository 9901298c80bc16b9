#include "supervisor/daemon/tenant_table.h"

#include <algorithm>
#include <set>
#include <vector>

#include "base/try.h"
#include "supervisor/loop/log.h"
#include "supervisor/state/tenant_directory.h"

namespace pa {
namespace {
constexpr std::chrono::seconds kTriesAgain{1};
}

// Looked at before it is read: what changes in between is read the next time.
Result<void> TenantTable::Refresh() {
  const PathStamp now = LookAt(directory_);
  const auto time = std::chrono::steady_clock::now();
  const bool tries_again = problem_ && time - tried_at_ >= kTriesAgain;
  if (read_ && *read_ == now && now.Settled() && !tries_again) return {};
  tried_at_ = time;
  read_.reset();
  names_.clear();
  tokens_.clear();
  problem_.reset();
  PA_TRY(const std::vector<TenantName> all, ListTenants(directory_));
  std::set<uid_t> there;
  for (const TenantName& tenant : all) {
    there.insert(tenant.id);
    tenants_.try_emplace(tenant.id, TenantPathsOf(directory_, tenant.id).tokens);
    if (!tenant.name.empty()) names_.emplace(tenant.name, tenant.id);
  }
  std::erase_if(tenants_, [&](const auto& entry) { return !there.contains(entry.first); });
  ReadTokens();
  std::string said = problem_ ? problem_->Message() : "";
  if (problem_ && said != logged_) LogError(said);
  logged_ = std::move(said);
  read_ = now;
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
