// FrontDoor: says to the web server in front of the tenants' servers (docs/daemon.md) whose a
// request is.
//
//    TenantTable tenants(kTenantDirectory);
//    FrontDoor door(tenants, http_policy);
//    HttpServer server(loop, door, {.front_door = web_server_user});
//
// GET /caller, with the client's Host, Origin and Authorization, and with Project-Actions-Address
// and -Port, to which the client has connected (`127.0.0.1` or `::1`, and `8787`):
//
//    200   Project-Actions-Tenant: the tenant's uid, so the name of the socket;
//    Project-Actions-Caller:
//          for the tenant's server (supervisor/callers/vouch.h)
//    401   WWW-Authenticate
//    403   Project-Actions-Status: the status for the client, 403 or 503, which auth_request of
//    nginx
//          does not pass on; WWW-Authenticate, if a scope is missing
//
// GET /healthz: 200 if the tokens of all tenants can be read, else 503. Under
// /.well-known/oauth-protected-resource: as RFC 9728 has it. GET /metrics, for root and the user of
// this process: how many answers there were (front_door_status.h), as OpenMetrics or JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "policy/policy.h"
#include "supervisor/callers/http_callers.h"
#include "supervisor/daemon/tenant_table.h"
#include "supervisor/transport/http_server.h"

namespace pa {

class FrontDoor final : public HttpHandler {
 public:
  using HttpPolicyPtr = std::shared_ptr<const policy::HttpPolicy>;

  // `tenants`: for longer than this.
  FrontDoor(TenantTable& tenants, HttpPolicyPtr policy)
      : tenants_(tenants),
        policy_(std::move(policy)),
        callers_(tenants, tenants.Served(), [this] { return policy_; }) {}

  std::optional<HttpAnswer> Judge(const HttpHead& head, HttpPeer& peer) override;
  // Every request has its answer by its head.
  void OnRequest(const std::shared_ptr<HttpExchange>& exchange) override { exchange->Drop(); }
  void ReplacePolicy(HttpPolicyPtr policy) { policy_ = std::move(policy); }

 private:
  HttpAnswer Caller(const HttpHead& head);
  HttpAnswer CountedCaller(const HttpHead& head);
  HttpAnswer Metrics(const HttpHead& head);
  HttpAnswer Health();
  std::optional<HttpAnswer> JudgePlaces(const HttpHead& head) const;
  std::optional<uid_t> TenantOf(const HttpPeer& caller);

  TenantTable& tenants_;
  HttpPolicyPtr policy_;
  HttpCallers callers_;
  std::map<int, std::uint64_t> answers_;  // to /caller, by the status for the client
};

}  // namespace pa
