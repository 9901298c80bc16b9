#include "supervisor/cli/token_command.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "base/try.h"
#include "supervisor/clients/user_file.h"
#include "supervisor/state/state_directory.h"
#include "supervisor/state/tenant_directory.h"
#include "supervisor/text/point_in_time.h"

namespace pa {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TokenTime Now() { return std::chrono::floor<seconds>(std::chrono::system_clock::now()); }

struct Kept {
  UserFile file;
  std::vector<Token> tokens;
  std::optional<std::string> tenants;  // the directory of all; nothing: they are the user's own
};

Result<Kept> ReadKept(const TokenOwner& owner, const Environment& environment) {
  Kept kept;
  if (owner.tenant) {
    kept.tenants = owner.tenants;
    PA_TRY(const uid_t tenant, FindTenant(owner.tenants, *owner.tenant));
    const TenantPaths paths = TenantPathsOf(owner.tenants, tenant);
    PA_TRY(kept.file, ReadUserFile(paths.tokens, paths.directory));
  } else {
    const std::string state_home = StateHome(environment);
    PA_TRY(kept.file, ReadUserFile(TokenPath(state_home), state_home));
  }
  PA_TRY(kept.tokens, ParseTokens(kept.file.content, kept.file.path));
  return kept;
}

// ESTALE: another process has changed the file in the meantime.
Result<void> Write(const Kept& kept, const Environment& environment) {
  if (!kept.tenants) {
    PA_TRY_VOID(MakeStateDirectory(TokenDirectory(StateHome(environment))));
  }
  PA_TRY_VOID(ReplaceUserFile(kept.file, FormatTokens(kept.tokens)));
  return kept.tenants ? MarkTenantsChanged(*kept.tenants) : Result<void>();
}

int Failed(const std::string& why) {
  fmt::print(stderr, "project-actions: {}\n", why);
  return 1;
}

std::string Day(TokenTime time) { return fmt::format("{:%F %H:%M} UTC", time); }

std::string Expiry(const Token& token) { return token.expires ? Day(*token.expires) : "never"; }

}  // namespace

std::expected<std::optional<TokenTime>, std::string> TokenExpiry(std::string_view text,
                                                                 TokenTime now) {
  if (text == "never") return std::nullopt;
  const auto point = ParsePointInTime(text, now);
  if (!point) return std::unexpected(point.error() + "; or 'never'");
  // It reads `2h` as two hours ago.
  const bool is_span = !text.contains('-');
  const TokenTime expires = std::chrono::floor<seconds>(is_span ? now + (now - *point) : *point);
  if (expires <= now) return std::unexpected(fmt::format("'{}' has passed already", text));
  return expires;
}

int RunTokenNew(const TokenNewCommand& command, const Environment& environment) {
  Result<Kept> kept = ReadKept(command.owner, environment);
  if (!kept) return Failed(kept.error().Message());
  const auto expires = TokenExpiry(command.expires, Now());
  if (!expires) return Failed(expires.error());
  // Those that have expired are of no more use to anybody.
  std::erase_if(kept->tokens, [](const Token& token) { return token.IsExpired(Now()); });
  if (std::ranges::find(kept->tokens, command.name, &Token::name) != kept->tokens.end()) {
    return Failed(
        fmt::format("there is a token of the name '{0}'; choose another name, or revoke it "
                    "with `project-actions token revoke {0}`",
                    command.name));
  }
  if (kept->tokens.size() >= kMostTokens) {
    return Failed(fmt::format("there are {} tokens, and no more can be kept", kMostTokens));
  }
  const NewToken made = MakeToken(command.name, Now(), *expires);
  kept->tokens.push_back(made.token);
  if (const Result<void> written = Write(*kept, environment); !written) {
    return Failed(written.error().Message());
  }
  fmt::print("{}\n", made.text);
  fmt::print(stderr,
             "The token '{}' expires: {}. It is not shown again. A client sends it with each "
             "request as\n  Authorization: Bearer TOKEN\n",
             command.name, Expiry(made.token));
  return 0;
}

int RunTokenList(const TokenListCommand& command, const Environment& environment) {
  const Result<Kept> kept = ReadKept(command.owner, environment);
  if (!kept) return Failed(kept.error().Message());
  if (command.json) {
    JsonWriter w;
    w.BeginArray();
    for (const Token& token : kept->tokens) {
      w.BeginObject().Field("name", token.name);
      w.Field("created", fmt::format("{:%FT%TZ}", token.created));
      w.Key("expires");
      token.expires ? w.String(fmt::format("{:%FT%TZ}", *token.expires)) : w.Null();
      w.Field("expired", token.IsExpired(Now())).EndObject();
    }
    fmt::print("{}\n", std::move(w.EndArray()).Take());
    return 0;
  }
  std::size_t widest = 0;
  for (const Token& token : kept->tokens) widest = std::max(widest, token.name.size());
  for (const Token& token : kept->tokens) {
    fmt::print("{:<{}}  made {}  expires {}{}\n", token.name, widest, Day(token.created),
               Expiry(token), token.IsExpired(Now()) ? ", has expired" : "");
  }
  if (kept->tokens.empty()) {
    fmt::print("there are no tokens; `project-actions token new NAME` makes one\n");
  }
  return 0;
}

int RunTokenRevoke(const TokenRevokeCommand& command, const Environment& environment) {
  Result<Kept> kept = ReadKept(command.owner, environment);
  if (!kept) return Failed(kept.error().Message());
  const std::size_t removed =
      std::erase_if(kept->tokens, [&](const Token& token) { return token.name == command.name; });
  if (removed == 0) {
    return Failed(
        fmt::format("there is no token of the name '{}'; `project-actions token list` "
                    "shows them",
                    command.name));
  }
  if (const Result<void> written = Write(*kept, environment); !written) {
    return Failed(written.error().Message());
  }
  fmt::print("revoked {}\n", command.name);
  return 0;
}

}  // namespace pa
