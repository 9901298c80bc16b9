#include "supervisor/state/token_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "base/try.h"
#include "supervisor/state/state_directory.h"

namespace pa {
namespace {

constexpr std::string_view kTokenDirectory = "tokens";
constexpr std::int64_t kVersion = 1;
constexpr std::size_t kTokenBytes = 32;
constexpr std::size_t kMaxName = 64;

std::unexpected<Error> NotRead(const std::string& path, const char* why) {
  return std::unexpected(Error(std::string("the file of tokens is broken (") + why +
                                   "); mend it, or remove it and make the tokens anew:",
                               path, EINVAL));
}

std::optional<TokenTime> TimeIn(const JsonValue& object, std::string_view key) {
  const JsonValue* const value = object.Find(key);
  const auto seconds = value != nullptr ? value->AsInteger() : std::nullopt;
  if (!seconds) return std::nullopt;
  return TokenTime(std::chrono::seconds(*seconds));
}

std::optional<Token> TokenIn(const JsonValue& entry) {
  if (!entry.IsObject()) return std::nullopt;
  const JsonValue* const name = entry.Find("name");
  const JsonValue* const sha256 = entry.Find("sha256");
  if (name == nullptr || !name->IsString() || !IsTokenName(name->AsString())) return std::nullopt;
  if (sha256 == nullptr || !sha256->IsString()) return std::nullopt;
  const std::optional<Digest> digest = FromHex(sha256->AsString());
  const std::optional<TokenTime> created = TimeIn(entry, "created");
  if (!digest || !created) return std::nullopt;
  Token token{.name = name->AsString(), .sha256 = *digest, .created = *created, .expires = {}};
  std::size_t known = 3;
  if (entry.Find("expires") != nullptr) {
    token.expires = TimeIn(entry, "expires");
    if (!token.expires) return std::nullopt;
    ++known;
  }
  // A member that this version does not know could be a limit of the token.
  if (entry.Members().size() != known) return std::nullopt;
  return token;
}

}  // namespace

NewToken MakeToken(std::string name, TokenTime now, std::optional<TokenTime> expires) {
  NewToken made{.text = std::string(kTokenPrefix) + RandomHex(kTokenBytes), .token = {}};
  made.token = {
      .name = std::move(name), .sha256 = Sha256Of(made.text), .created = now, .expires = expires};
  return made;
}

bool IsTokenName(std::string_view name) {
  return !name.empty() && name.size() <= kMaxName && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  });
}

std::string TokenDirectory(const std::string& state_home) {
  return PathInState(state_home, kTokenDirectory);
}
std::string TokenPath(const std::string& state_home) {
  return TokenDirectory(state_home) + "/tokens.json";
}

Result<std::vector<Token>> ParseTokens(std::string_view text, const std::string& path) {
  std::vector<Token> tokens;
  if (text.empty()) return tokens;
  const Result<JsonValue> json = ParseJson(text, {.max_bytes = kMaxTokenFile});
  if (!json || !json->IsObject()) return NotRead(path, "it is no JSON object");
  const JsonValue* const version = json->Find("version");
  const JsonValue* const list = json->Find("tokens");
  if (version == nullptr || version->AsInteger() != kVersion) {
    return NotRead(path, "its version is another one");
  }
  if (list == nullptr || !list->IsArray() || json->Members().size() != 2) {
    return NotRead(path, "it has other members than version and tokens");
  }
  if (list->Items().size() > kMostTokens) return NotRead(path, "there are too many");
  std::set<std::string> names;
  for (const JsonValue& entry : list->Items()) {
    std::optional<Token> token = TokenIn(entry);
    if (!token) return NotRead(path, "an entry is no token");
    if (!names.insert(token->name).second) return NotRead(path, "a name is there twice");
    tokens.push_back(*std::move(token));
  }
  return tokens;
}

std::string FormatTokens(const std::vector<Token>& tokens) {
  JsonWriter w;
  w.BeginObject().Field("version", kVersion).Key("tokens").BeginArray();
  for (const Token& token : tokens) {
    w.BeginObject().Field("name", token.name).Field("sha256", Hex(token.sha256));
    w.Field("created", std::int64_t{token.created.time_since_epoch().count()});
    if (token.expires) {
      w.Field("expires", std::int64_t{token.expires->time_since_epoch().count()});
    }
    w.EndObject();
  }
  w.EndArray().EndObject();
  return std::move(w).Take() + "\n";
}

// Looked at before it is read: what is written in between is read the next time.
Result<void> TokenFile::Refresh() {
  const PathStamp now = LookAt(path_);
  if (read_ && *read_ == now && now.Settled()) return {};
  read_.reset();
  tokens_.clear();
  if (now.error != 0) return std::unexpected(Error("read", path_, now.error));
  if (now.exists) {
    constexpr unsigned kOthersWrite = S_IWGRP | S_IWOTH;
    const bool trusted = now.owner == geteuid() || now.owner == 0;
    if (!trusted || (now.mode & kOthersWrite) != 0) {
      return std::unexpected(
          Error("others than root and this user could write the tokens:", path_, EPERM));
    }
    PA_TRY(const std::string text, ReadFileBy(open_, path_, kMaxTokenFile));
    PA_TRY(tokens_, ParseTokens(text, path_));
  }
  read_ = now;
  return {};
}

// Among all tokens, so that the time says nothing of which it is.
Result<std::optional<Token>> TokenFile::Find(const Digest& sha256, TokenTime now) {
  PA_TRY_VOID(Refresh());
  const Token* found = nullptr;
  for (const Token& token : tokens_) {
    if (SameDigest(token.sha256, sha256) && !token.IsExpired(now)) found = &token;
  }
  return found == nullptr ? std::nullopt : std::optional(*found);
}

Result<const std::vector<Token>*> TokenFile::All() {
  PA_TRY_VOID(Refresh());
  return &tokens_;
}

Result<bool> TokenFile::HasAny(TokenTime now) {
  PA_TRY_VOID(Refresh());
  return std::ranges::any_of(tokens_, [&](const Token& token) { return !token.IsExpired(now); });
}

}  // namespace pa
