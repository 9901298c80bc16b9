#include "supervisor/text/jwt.h"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/base64.h"
#include "base/json.h"
#include "base/words.h"

namespace pa {
namespace {

using Why = std::string_view;

constexpr JsonLimits kJwtJson = {.max_bytes = kMaxJwt, .max_depth = 16, .max_values = 1024};
constexpr std::size_t kMaxKeyId = 256;

// Nothing: it is no JSON object.
std::optional<JsonValue> ObjectIn(std::string_view part) {
  const std::optional<std::string> text = FromBase64Url(part);
  if (!text) return std::nullopt;
  Result<JsonValue> json = ParseJson(*text, kJwtJson);
  if (!json || !json->IsObject()) return std::nullopt;
  return *std::move(json);
}

// "" is no text that a token could mean.
std::optional<std::string> TextIn(const JsonValue& object, std::string_view name) {
  const JsonValue* const value = object.Find(name);
  if (value == nullptr || !value->IsString() || value->AsString().empty()) return std::nullopt;
  return value->AsString();
}

// RFC 7519, 2: NumericDate, which can have a fraction. Beyond what a double counts exactly there is
// no date.
std::optional<std::chrono::sys_seconds> DateIn(const JsonValue& value) {
  constexpr double kMostSeconds = 9e15;
  if (!value.IsNumber()) return std::nullopt;
  const std::string& token = value.NumberToken();
  double seconds = 0;
  const char* const end = token.data() + token.size();
  const auto [read_to, error] = std::from_chars(token.data(), end, seconds);
  if (error != std::errc() || read_to != end || !(std::abs(seconds) < kMostSeconds)) {
    return std::nullopt;
  }
  return std::chrono::sys_seconds(
      std::chrono::seconds(static_cast<std::int64_t>(std::floor(seconds))));
}

// Whether `date` could be read, or is not there.
bool MayHaveDate(const JsonValue& claims, std::string_view name,
                 std::optional<std::chrono::sys_seconds>& date) {
  const JsonValue* const value = claims.Find(name);
  if (value != nullptr) date = DateIn(*value);
  return value == nullptr || date;
}

// A text, or several; nothing: it is neither.
std::optional<std::vector<std::string>> TextsIn(const JsonValue& value) {
  if (value.IsString()) return std::vector{value.AsString()};
  if (!value.IsArray()) return std::nullopt;
  std::vector<std::string> texts;
  for (const JsonValue& item : value.Items()) {
    if (!item.IsString()) return std::nullopt;
    texts.push_back(item.AsString());
  }
  return texts;
}

// RFC 8693, 4.2: `scope`, divided by blanks; other issuers have `scp`, a list or the same.
bool MayHaveScopes(const JsonValue& claims, std::vector<std::string>& scopes) {
  for (const char* const name : {"scope", "scp"}) {
    const JsonValue* const value = claims.Find(name);
    if (value == nullptr) continue;
    const auto texts = TextsIn(*value);
    if (!texts) return false;
    for (const std::string& text : *texts) {
      for (const std::string_view scope : SplitWords(text, " ")) scopes.emplace_back(scope);
    }
  }
  return true;
}

// RFC 9068, 2.1, and RFC 8725, 3.11: a token that is of another type is for something else.
bool IsAccessTokenType(const JsonValue& header) {
  const JsonValue* const type = header.Find("typ");
  if (type == nullptr) return true;
  if (!type->IsString()) return false;
  std::string name = Lowered(type->AsString());
  constexpr std::string_view kTree = "application/";  // RFC 7515, 4.1.9
  if (name.starts_with(kTree)) name.erase(0, kTree.size());
  return name == "jwt" || name == "at+jwt";
}

std::expected<JwtClaims, Why> ClaimsIn(const JsonValue& object) {
  JwtClaims claims;
  std::optional<std::string> issuer = TextIn(object, "iss");
  std::optional<std::string> subject = TextIn(object, "sub");
  if (!issuer) return std::unexpected("it has no issuer (iss)");
  if (!subject || subject->size() > kMaxJwtSubject) {
    return std::unexpected("it has no subject (sub), or one that is too long");
  }
  claims.issuer = *std::move(issuer);
  claims.subject = *std::move(subject);
  const JsonValue* const audience = object.Find("aud");
  auto audiences = audience == nullptr ? std::nullopt : TextsIn(*audience);
  if (!audiences) return std::unexpected("it has no audience (aud)");
  claims.audience = *std::move(audiences);
  const JsonValue* const expiry = object.Find("exp");
  const auto expires = expiry == nullptr ? std::nullopt : DateIn(*expiry);
  if (!expires) return std::unexpected("it has no expiry (exp)");
  claims.expires = *expires;
  if (!MayHaveDate(object, "nbf", claims.not_before) || !MayHaveDate(object, "iat", claims.issued))
    return std::unexpected("one of its dates is none");
  if (!MayHaveScopes(object, claims.scopes)) return std::unexpected("its scopes are none");
  return claims;
}

// Exactly three parts.
std::optional<std::array<std::string_view, 3>> Divide(std::string_view text) {
  const std::size_t first = text.find('.');
  const std::size_t last = text.rfind('.');
  if (first == last || text.find('.', first + 1) != last) return std::nullopt;
  return std::array{text.substr(0, first), text.substr(first + 1, last - first - 1),
                    text.substr(last + 1)};
}

}  // namespace

std::expected<Jwt, std::string_view> ReadJwt(std::string_view text) {
  if (text.size() > kMaxJwt) return std::unexpected("it is too long");
  const auto parts = Divide(text);
  if (!parts) return std::unexpected("it is no token of three parts (JWS)");
  const auto& [head, body, mark] = *parts;
  const std::optional<JsonValue> header = ObjectIn(head);
  if (!header) return std::unexpected("its header is no JSON object");
  if (header->Find("crit") != nullptr) return std::unexpected("it has critical extensions (crit)");
  if (!IsAccessTokenType(*header)) return std::unexpected("it is a token of another type (typ)");
  Jwt jwt;
  std::optional<std::string> algorithm = TextIn(*header, "alg");
  if (!algorithm) return std::unexpected("it has no algorithm (alg)");
  jwt.algorithm = *std::move(algorithm);
  if (header->Find("kid") != nullptr) {
    std::optional<std::string> id = TextIn(*header, "kid");
    if (!id || id->size() > kMaxKeyId) return std::unexpected("its key (kid) has no usable name");
    jwt.key_id = *std::move(id);
  }
  std::optional<std::string> signature = FromBase64Url(mark);
  if (!signature || signature->empty()) return std::unexpected("it has no signature");
  jwt.signature = *std::move(signature);
  jwt.signed_part = text.substr(0, head.size() + 1 + body.size());
  auto read = ReadJwtClaims(body);
  if (!read) return std::unexpected(read.error());
  jwt.claims = *std::move(read);
  return jwt;
}

std::expected<JwtClaims, std::string_view> ReadJwtClaims(std::string_view part) {
  if (part.size() > kMaxJwt) return std::unexpected("its claims are too long");
  const std::optional<JsonValue> claims = ObjectIn(part);
  if (!claims) return std::unexpected("its claims are no JSON object");
  return ClaimsIn(*claims);
}

}  // namespace pa
