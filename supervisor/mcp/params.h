// The params of a request, read member by member: -32602 says which one has the wrong shape.
//
//    PA_TRY(const std::string name, RequiredString(request.params, "name"));
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "base/json.h"
#include "supervisor/transport/rpc.h"

namespace pa {

std::unexpected<rpc::Failure> FailedWith(int code, std::string message, std::string data = {});
std::unexpected<rpc::Failure> InvalidParams(std::string_view message);

// `within`: the path of `object` in the request, for the message.
std::expected<std::string, rpc::Failure> RequiredString(const JsonValue& object, const char* name,
                                                        std::string_view within = "params.");
// Borrowed.
std::expected<const JsonValue*, rpc::Failure> RequiredObject(const JsonValue& params,
                                                             const char* name);
std::expected<void, rpc::Failure> OptionalObject(const JsonValue& params, const char* name);

}  // namespace pa
