#include "supervisor/daemon/front_door.h"

#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/words.h"
#include "supervisor/callers/vouch.h"
#include "supervisor/loop/log.h"
#include "supervisor/text/front_door_status.h"
#include "supervisor/transport/listen_address.h"

namespace pa {
namespace {

// The client is to be told `status`; nginx takes 401 and 403 alone.
HttpAnswer ForNginx(HttpAnswer answer) {
  if (answer.status == 200 || answer.status == 401) return answer;
  answer.fields.emplace_back("Project-Actions-Status", std::to_string(answer.status));
  answer.status = 403;
  return answer;
}

// `address`: without brackets.
bool IsHostAt(const std::string& address, const std::string& port, const std::string& host) {
  const std::string brackets = address.contains(':') ? "[" + address + "]" : address;
  const auto listens = ParseListenAddress("http://" + brackets + ":" + port);
  return listens && IsHostOf(*listens, host);
}

}  // namespace

std::optional<HttpAnswer> FrontDoor::Judge(const HttpHead& head, HttpPeer& peer) {
  if (head.method != "GET") return PlainAnswer(405, "only GET is served", {{"Allow", "GET"}});
  const std::string_view target = head.target;
  const std::string_view path = target.substr(0, target.find('?'));
  if (path == "/caller") return ForNginx(CountedCaller(head));
  if (path == "/healthz") return Health();
  const bool trusted = peer.user == uid_t{0} || peer.user == geteuid();
  if (path == "/metrics" && trusted) return Metrics(head);
  if (auto metadata = callers_.Metadata(path)) return HttpAnswer{.body = *std::move(metadata)};
  return PlainAnswer(404, "there is nothing here");
}

HttpAnswer FrontDoor::CountedCaller(const HttpHead& head) {
  HttpAnswer answer = Caller(head);
  ++answers_[answer.status];
  return answer;
}

HttpAnswer FrontDoor::Metrics(const HttpHead& head) {
  const FrontDoorStatus status{.tenants = tenants_.size(), .answers = answers_};
  const std::string* const accept = head.Find("accept");
  if (accept != nullptr && MediaTypeOf(*accept) == "application/json")
    return {.body = FormatStatus(status)};
  OpenMetrics metrics;
  AddMetrics(metrics, status);
  return {.type = std::string(kOpenMetricsType), .body = std::move(metrics).Take()};
}

HttpAnswer FrontDoor::Caller(const HttpHead& head) {
  if (auto refused = JudgePlaces(head)) return *std::move(refused);
  HttpPeer caller;
  if (auto refused = callers_.Identify(head, caller)) return *std::move(refused);
  const std::optional<uid_t> tenant = TenantOf(caller);
  if (!tenant) return PlainAnswer(503, "the tenant has just been removed");
  const std::string_view token = BearerToken(*head.Find("authorization"));
  return {.body = {},
          .fields = {{"Project-Actions-Tenant", std::to_string(*tenant)},
                     {"Project-Actions-Caller", FormatVouch(caller, token)}}};
}

// As HttpEndpoint::Judge, which sees of a request of ours only what the web server passes on.
std::optional<HttpAnswer> FrontDoor::JudgePlaces(const HttpHead& head) const {
  const std::string host = Lowered(*head.Find("host"));
  const std::string* const address = head.Find("project-actions-address");
  const std::string* const port = head.Find("project-actions-port");
  const bool told = address != nullptr && port != nullptr;
  if (host != policy_->public_host && !(told && IsHostAt(*address, *port, host))) {
    return PlainAnswer(403, "the Host of the request is none of this server");
  }
  const std::string* const origin = head.Find("origin");
  if (origin != nullptr &&
      std::ranges::find(policy_->origins, Lowered(*origin)) == policy_->origins.end()) {
    return PlainAnswer(403, "pages of this Origin may not use this server");
  }
  return std::nullopt;
}

std::optional<uid_t> FrontDoor::TenantOf(const HttpPeer& caller) {
  if (!caller.claims) {
    const auto hash = FromHex(caller.token_hash);
    return hash ? tenants_.TenantOf(*hash) : std::nullopt;
  }
  const auto user = policy_->oauth.subjects.find(caller.claims->subject);
  return user == policy_->oauth.subjects.end() ? std::nullopt : tenants_.TenantNamed(user->second);
}

HttpAnswer FrontDoor::Health() {
  if (const Result<void> readable = tenants_.Check(); !readable) {
    return PlainAnswer(503, "the tokens of a tenant cannot be read; the log says which");
  }
  return PlainAnswer(200, "ok");
}

}  // namespace pa
