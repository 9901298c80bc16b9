// The tokens by which the clients of HTTP are known (RFC 6750): a name, an expiry, and the SHA-256
// of the token. A token is 256 random bits, so its hash tells nobody what it is.
//
//    NewToken made = MakeToken("laptop", now, expires);   // made.text is shown once
//    TokenFile file(TokenPath(state_home));
//    const Result<std::optional<Token>> token = file.Find(Sha256Of(text), now);
//
// The file is read again when it has changed, so that a new token, or one that was revoked, needs
// no restart.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/digest.h"
#include "base/error.h"
#include "base/file.h"
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

// Where the tokens are that a server takes.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // The token of this hash, if it has not expired. An error: the tokens cannot be read, so that
  // nobody is known.
  virtual Result<std::optional<Token>> Find(const Digest& sha256, TokenTime now) = 0;
  // Whether a client could be known by one.
  virtual Result<bool> HasAny(TokenTime now) = 0;
};

// Only root and the user of the process may be able to write it.
class TokenFile final : public TokenSource {
 public:
  explicit TokenFile(std::string path, OpenFile open = OpenToRead)
      : path_(std::move(path)), open_(std::move(open)) {}

  Result<std::optional<Token>> Find(const Digest& sha256, TokenTime now) override;
  Result<bool> HasAny(TokenTime now) override;
  // All of it, also what has expired. Until the next call.
  Result<const std::vector<Token>*> All();

 private:
  Result<void> Refresh();

  std::string path_;
  OpenFile open_;
  std::optional<PathStamp> read_;  // of the file as it was read; nothing: it has to be read
  std::vector<Token> tokens_;
};

}  // namespace pa
