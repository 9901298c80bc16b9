#include "supervisor/daemon/tenant_table.h"

#include <algorithm>
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
  if (read_ && *read_ == now && now.Settled()) return TryAgain();
  read_.reset();
  names_.clear();
  tokens_.clear();
  unread_.clear();
  PA_TRY(const std::vector<TenantName> all, ListTenants(directory_));
  std::set<uid_t> there;
  for (const TenantName& tenant : all) {
    there.insert(tenant.id);
    tenants_.try_emplace(tenant.id, TenantPathsOf(directory_, tenant.id).tokens);
    if (!tenant.name.empty()) names_.emplace(tenant.name, tenant.id);
  }
  std::erase_if(tenants_, [&](const auto& entry) { return !there.contains(entry.first); });
  ReadTokens(there);
  read_ = now;
  return {};
}

// Of these alone: to look at ten thousand tenants each second would keep the requests of all
// waiting.
Result<void> TenantTable::TryAgain() {
  if (unread_.empty() || std::chrono::steady_clock::now() - tried_at_ < kTriesAgain) return {};
  std::set<uid_t> tenants;
  for (const auto& [tenant, problem] : unread_) tenants.insert(tenant);
  ReadTokens(tenants);
  return {};
}

void TenantTable::ReadTokens(const std::set<uid_t>& tenants) {
  tried_at_ = std::chrono::steady_clock::now();
  for (const uid_t tenant : tenants) {
    const Result<const std::vector<Token>*> all = tenants_.at(tenant).All();
    if (!all) {
      unread_.insert_or_assign(tenant, all.error());
      continue;
    }
    unread_.erase(tenant);
    for (const Token& token : **all) tokens_.insert_or_assign(token.sha256, Owned{token, tenant});
  }
  std::string said = unread_.empty() ? "" : unread_.begin()->second.Message();
  if (!unread_.empty() && said != logged_) LogError(said);
  logged_ = std::move(said);
}

Result<std::optional<Token>> TenantTable::Find(const Digest& sha256, TokenTime now) {
  PA_TRY_VOID(Refresh());
  const auto at = tokens_.find(sha256);
  if (at != tokens_.end()) {
    return at->second.token.IsExpired(now) ? std::nullopt : std::optional(at->second.token);
  }
  if (!unread_.empty()) return std::unexpected(unread_.begin()->second);
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
  if (unread_.empty()) return {};
  return std::unexpected(unread_.begin()->second);
}

}  // namespace pa
