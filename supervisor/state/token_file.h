// The tokens by which the clients of HTTP are known (RFC 6750): a name, an expiry, and the SHA-256
// of the token. A token is 256 random bits, so its hash tells nobody what it is.
//
//    NewToken made = MakeToken("laptop", now, expires);   // made.text is shown once
//    TokenFile file(TokenPath(state_home));
//    const Result<std::optional<Token>> token = file.Find(text, now);
//
// The file is read again when it has changed, so that a new token, or one that was revoked, needs
// no restart.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/path_stamp.h"

namespace pa {

using TokenTime = std::chrono::sys_seconds;

struct Token {
  std::string name;  // unique
  Digest sha256{};   // of the text
  TokenTime created{};
  std::optional<TokenTime> expires;  // nothing: never
  bool operator==(const Token&) const = default;
  bool IsExpired(TokenTime now) const { return expires && *expires <= now; }
};

struct NewToken {
  std::string text;  // `pa_` and 64 hexadecimal digits
  Token token;
};
inline constexpr std::string_view kTokenPrefix = "pa_";
NewToken MakeToken(std::string name, TokenTime now, std::optional<TokenTime> expires);

// 1 to 64 letters, digits, '.', '_' and '-'.
bool IsTokenName(std::string_view name);

inline constexpr std::size_t kMostTokens = 1000;
inline constexpr std::size_t kMaxTokenFile = 1U << 20;

// STATE_HOME/project-actions/tokens, which holds nothing else than the file.
std::string TokenDirectory(const std::string& state_home);
std::string TokenPath(const std::string& state_home);

// "" is no token. An error: this is no file of tokens; nothing of it is believed.
Result<std::vector<Token>> ParseTokens(std::string_view text, const std::string& path);
std::string FormatTokens(const std::vector<Token>& tokens);

class TokenFile {
 public:
  explicit TokenFile(std::string path) : path_(std::move(path)) {}

  // The token of which `text` is the text, if it has not expired. An error: the file cannot be
  // read, so that nobody is known.
  Result<std::optional<Token>> Find(std::string_view text, TokenTime now);
  // Whether there is the token of this hash, and it has not expired.
  Result<bool> Has(const Digest& sha256, TokenTime now);
  // Whether a client could be known by one.
  Result<bool> HasAny(TokenTime now);

 private:
  Result<void> Refresh();
  const Token* Among(const Digest& sha256, TokenTime now) const;

  std::string path_;
  std::optional<PathStamp> read_;  // of the file as it was read; nothing: it has to be read
  std::vector<Token> tokens_;
};

}  // namespace pa
