#include "policy/http_policy.h"

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/file.h"
#include "base/path_stamp.h"
#include "base/words.h"
#include "policy/keys.h"
#include "policy/merge.h"
#include "policy/path.h"
#include "policy/url.h"
#include "policy/yaml.h"

namespace pa::policy {
namespace {

// All of it, or nothing: a key that is missing, or has no effect, is a mistake that nobody sees.
OAuthPolicy CompileOAuth(const PolicyFragment& merged, std::vector<Diagnostic>& diagnostics) {
  const auto& [issuer, at] = *merged.http_issuer;
  struct Part {
    const char* name;
    bool there;
    bool needed;
    const SourceLocation& at;
  };
  for (const Part& part :
       {Part{"http.public_url", !merged.http_public_url->value.empty(), true, at},
        Part{"http.jwks", !merged.http_jwks->value.empty(), true, merged.http_jwks->at},
        Part{"http.subjects", !merged.http_subjects->value.empty(), true, merged.http_subjects->at},
        Part{"http.audience", !merged.http_audience->value.empty(), false,
             merged.http_audience->at},
        Part{"http.scopes", !merged.http_scopes->value.empty(), false, merged.http_scopes->at}}) {
    const bool of_oauth = &part.at != &at;
    if (!issuer.empty() && part.needed && !part.there) {
      diagnostics.emplace_back(at, "'http.issuer' needs " + Quoted(part.name) + ", too");
    }
    if (issuer.empty() && of_oauth && part.there) {
      diagnostics.emplace_back(
          part.at, Quoted(part.name) + " is of access tokens: 'http.issuer' is missing");
    }
  }
  if (issuer.empty()) return {};
  if (!IsSafeUrl(issuer)) {
    diagnostics.emplace_back(at, "the issuer must have an https URL, unless it is on this machine");
  }
  OAuthPolicy oauth = {.issuer = issuer,
                       .audience = merged.http_audience->value,
                       .resource = merged.http_public_url->value,
                       .jwks = merged.http_jwks->value};
  if (oauth.audience.empty()) oauth.audience = oauth.resource;
  for (const Located<std::string>& scope : merged.http_scopes->value) {
    oauth.scopes.push_back(scope.value);
  }
  for (const Variable& subject : merged.http_subjects->value) {
    oauth.subjects[subject.name.value] = subject.value;
  }
  return oauth;
}

}  // namespace

HttpPolicy CompileHttp(const PolicyFragment& merged, std::vector<Diagnostic>& diagnostics) {
  HttpPolicy http{.public_host = HostOfUrl(merged.http_public_url->value)};
  for (const Located<std::string>& origin : merged.http_origins->value) {
    http.origins.push_back(Lowered(origin.value));
  }
  http.oauth = CompileOAuth(merged, diagnostics);
  return http;
}

std::expected<HttpPolicy, std::vector<Diagnostic>> LoadHttpPolicy(const std::string& file) {
  std::vector<Diagnostic> diagnostics;
  Layers layers{.administrator = {}, .others = {}, .defaults = DefaultFragment()};
  const Result<std::string> text = ReadFile(file, kMaxYamlBytes);
  if (text) {
    layers.administrator = ParsePolicyText(*text, file, std::nullopt, diagnostics);
  } else if (!MeansAbsent(text.error().sys_errno)) {
    diagnostics.emplace_back(SourceLocation{file}, std::string("the policy cannot be read: ") +
                                                       std::strerror(text.error().sys_errno));
  }
  if (layers.administrator && layers.administrator->http_jwks) {
    auto& [path, at] = *layers.administrator->http_jwks;
    // Of whose home it would be is not known, and this is no user's program.
    std::expected<std::string, std::string> absolute =
        SpellOut(path, {.home = "", .variables = {}});
    if (!absolute) diagnostics.emplace_back(at, Quoted(path) + ": " + absolute.error());
    path = std::move(absolute).value_or("");
  }
  if (!diagnostics.empty()) return std::unexpected(std::move(diagnostics));
  HttpPolicy http = CompileHttp(MergeLayers(layers, diagnostics), diagnostics);
  if (!diagnostics.empty()) return std::unexpected(std::move(diagnostics));
  return http;
}

}  // namespace pa::policy
