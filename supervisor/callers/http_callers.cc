#include "supervisor/callers/http_callers.h"

#include "base/json_writer.h"
#include "base/words.h"
#include "policy/url.h"
#include "supervisor/callers/vouch.h"
#include "supervisor/loop/log.h"

namespace pa {
namespace {

using policy::OAuthPolicy;

constexpr std::string_view kWellKnown = "/.well-known/oauth-protected-resource";

TokenTime Now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

void LogOnce(std::string& last, const std::string& problem) {
  if (problem != last) LogError(problem);
  last = problem;
}

// RFC 6749, 3.3.
std::string ScopeList(const OAuthPolicy& oauth) {
  std::string all;
  for (const std::string& scope : oauth.scopes) all += (all.empty() ? "" : " ") + scope;
  return all;
}

// RFC 9728, 3.1: the path of the resource comes behind the well-known one.
std::string MetadataPath(const OAuthPolicy& oauth) {
  const std::string_view path = policy::PathOfUrl(oauth.resource);
  return std::string(kWellKnown) + std::string(path == "/" ? "" : path);
}

// RFC 6750, 3, and RFC 9728, 5.1. `error` comes with the scopes if it is about them, and without an
// error they are a hint.
std::string Challenge(const OAuthPolicy& oauth, std::string_view error) {
  std::string challenge = R"(Bearer realm="project-actions")";
  const auto add = [&](std::string_view name, std::string_view value) {
    challenge.append(", ").append(name).append("=\"").append(value).append("\"");
  };
  if (!error.empty()) add("error", error);
  if (!oauth.IsOn()) return challenge;
  add("resource_metadata", std::string(policy::OriginOfUrl(oauth.resource)) + MetadataPath(oauth));
  if (!oauth.scopes.empty()) add("scope", ScopeList(oauth));
  return challenge;
}

// RFC 6750, 3: who has given no token is told nothing but how one is given.
HttpAnswer Unknown(const OAuthPolicy& oauth, bool gave_token) {
  return PlainAnswer(401,
                     gave_token ? "the token is not valid; `project-actions token new` makes one"
                                : "a token is needed: Authorization: Bearer TOKEN",
                     {{"WWW-Authenticate", Challenge(oauth, gave_token ? "invalid_token" : "")}});
}

}  // namespace

std::string_view BearerToken(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  if (Lowered(authorization.substr(0, kScheme.size())) != kScheme) return {};
  return Trimmed(authorization.substr(kScheme.size()));
}

std::optional<HttpAnswer> HttpCallers::Identify(const HttpHead& head, HttpPeer& peer) {
  const Policy policy = policy_();
  const OAuthPolicy& oauth = policy->oauth;
  if (peer.user && peer.user == front_door_) return IdentifyVouched(head, oauth, peer);
  if (peer.user) return std::nullopt;
  const std::string* const authorization = head.Find("authorization");
  if (authorization == nullptr) return Unknown(oauth, false);
  const std::string_view text = BearerToken(*authorization);
  if (oauth.IsOn() && !text.starts_with(kTokenPrefix)) return IdentifyAccess(text, oauth, peer);
  return IdentifyToken(Sha256Of(text), oauth, peer);
}

std::optional<HttpAnswer> HttpCallers::IdentifyToken(const Digest& sha256, const OAuthPolicy& oauth,
                                                     HttpPeer& peer) {
  const Result<std::optional<Token>> token = tokens_.Find(sha256, Now());
  if (!token) {
    LogOnce(logged_, token.error().Message());
    return PlainAnswer(503, "the server cannot read its tokens; its log says why");
  }
  logged_.clear();
  if (!*token) return Unknown(oauth, true);
  peer.token = (*token)->name;
  peer.token_hash = Hex((*token)->sha256);
  return std::nullopt;
}

// The front door has judged what only it has seen: the token, or its signature. All else is judged
// here, so that a front door that sends a request to another tenant's server is refused.
std::optional<HttpAnswer> HttpCallers::IdentifyVouched(const HttpHead& head,
                                                       const OAuthPolicy& oauth, HttpPeer& peer) {
  const std::string* const vouch = head.Find(kVouchField);
  HttpPeer caller;
  const VouchKind kind = vouch == nullptr ? VouchKind::kNone : ReadVouch(*vouch, caller);
  if (kind == VouchKind::kOtherVersion) {
    LogOnce(logged_door_, "the front door is of another release, which this server does not know");
    if (on_other_door_) on_other_door_();
    return PlainAnswer(
        503,
        "the server is of another release than the front door; it ends, and the next "
        "request starts another");
  }
  if (kind == VouchKind::kNone) {
    LogOnce(logged_door_, "a request of the front door does not say whose it is");
    return PlainAnswer(403, "the front door has to say whose request it is");
  }
  const auto key = FromHex(caller.key);
  std::optional<HttpAnswer> answer;
  if (!key) {
    answer = IdentifyToken(*FromHex(caller.token_hash), oauth, caller);
  } else if (!oauth.IsOn()) {
    answer = Unknown(oauth, true);
  } else if (const auto refused = access_tokens_.JudgeAgain({caller.claims, *key}, oauth, Now())) {
    answer = Refused(*refused, oauth);
  }
  if (!answer) peer = std::move(caller);
  return answer;
}

HttpAnswer HttpCallers::Refused(const AccessRefusal& refusal, const OAuthPolicy& oauth) {
  if (refusal.kind == AccessRefusal::Kind::kNoKeys) {
    LogOnce(logged_keys_, refusal.why);
    return PlainAnswer(503, "the server cannot read the keys of its issuer; its log says why");
  }
  LogRefusal(refusal.why);
  if (refusal.kind == AccessRefusal::Kind::kNotValid) return Unknown(oauth, true);
  return PlainAnswer(403, "the token has not the scopes that are needed: " + ScopeList(oauth),
                     {{"WWW-Authenticate", Challenge(oauth, "insufficient_scope")}});
}

std::optional<HttpAnswer> HttpCallers::IdentifyAccess(std::string_view token,
                                                      const OAuthPolicy& oauth, HttpPeer& peer) {
  const auto access = access_tokens_.Judge(token, oauth, Now());
  if (!access) return Refused(access.error(), oauth);
  logged_keys_.clear();
  peer.token = access->claims->subject;
  peer.claims = access->claims;
  peer.key = Hex(access->key);
  return std::nullopt;
}

bool HttpCallers::StillKnows(const HttpPeer& peer) {
  if (peer.user) return true;
  if (peer.claims) {
    const std::optional<Digest> key = FromHex(peer.key);
    const Policy policy = policy_();
    if (!key || !policy->oauth.IsOn()) return false;
    const auto refused = access_tokens_.JudgeAgain({peer.claims, *key}, policy->oauth, Now());
    if (refused && refused->kind == AccessRefusal::Kind::kNoKeys) {
      LogOnce(logged_keys_, refused->why);
    }
    return !refused;
  }
  const std::optional<Digest> hash = FromHex(peer.token_hash);
  if (!hash) return false;
  const Result<std::optional<Token>> token = tokens_.Find(*hash, Now());
  if (!token) LogOnce(logged_, token.error().Message());
  return token && *token;
}

// With tokens of our own an issuer that cannot be believed yet is no reason not to start.
Result<bool> HttpCallers::CanBeKnown() {
  Result<bool> known = tokens_.HasAny(Now());
  const Policy policy = policy_();
  if (!known || !policy->oauth.IsOn()) return known;
  const std::string why = access_tokens_.WhyNobody(policy->oauth);
  if (why.empty()) return true;
  if (!*known) return std::unexpected(Error("nobody could be known by an access token", why));
  LogWarning("nobody can be known by an access token: " + why);
  return known;
}

std::optional<std::string> HttpCallers::Metadata(std::string_view path) {
  const Policy policy = policy_();
  const OAuthPolicy& oauth = policy->oauth;
  if (!oauth.IsOn() || (path != kWellKnown && path != MetadataPath(oauth))) return std::nullopt;
  JsonWriter w;
  w.BeginObject().Field("resource", oauth.resource);
  w.Key("authorization_servers").BeginArray().String(oauth.issuer).EndArray();
  w.Key("bearer_methods_supported").BeginArray().String("header").EndArray();
  if (!oauth.scopes.empty()) {
    w.Key("scopes_supported").BeginArray();
    for (const std::string& scope : oauth.scopes) w.String(scope);
    w.EndArray();
  }
  w.Field("resource_name", "project-actions").EndObject();
  return std::move(w).Take();
}

// Each reason once in ten minutes, and not more of them than anybody reads: clients try again and
// again, and what they send is theirs to choose.
void HttpCallers::LogRefusal(const std::string& why) {
  constexpr std::size_t kMostRefusals = 32;
  constexpr std::chrono::minutes kForgotten{10};
  const auto now = std::chrono::steady_clock::now();
  if (refusals_.empty() || now - since_ >= kForgotten) {
    refusals_.clear();
    since_ = now;
  }
  if (refusals_.size() >= kMostRefusals || !refusals_.insert(why).second) return;
  LogWarning("an access token is refused: " + why);
  if (refusals_.size() == kMostRefusals) {
    LogWarning("further reasons for refusing access tokens are not logged for ten minutes");
  }
}

}  // namespace pa
