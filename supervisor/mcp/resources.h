// Resources: what a client can read by a URI. A server's resources come from a ResourceSource; ours
// are the results in the store: long outputs, and the logs of jobs while they run.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/mcp/completion.h"
#include "supervisor/mcp/protocol.h"
#include "supervisor/results/result_store.h"
#include "supervisor/transport/rpc.h"

namespace pa {

struct Resource {
  std::string uri, name, description, mime_type;
  std::optional<std::uint64_t> size;
};

struct ResourceTemplate {
  std::string uri, name, description, mime_type;
};

// The contents of one resource, or of a part.
struct ResourceContents {
  std::string mime_type;  // "": text/plain if it is UTF-8, else application/octet-stream
  std::string bytes;
  // Where it goes on, and how long it is in all.
  std::optional<std::string> next_uri = {};
  std::uint64_t total = 0;
};

class ResourceSource {
 public:
  virtual ~ResourceSource() = default;
  virtual std::vector<Resource> List(const ResultStore& store) const = 0;
  virtual std::vector<ResourceTemplate> Templates() const = 0;
  // Nothing: there is no such resource. -32602: there is, and the URI asks for none of its parts.
  virtual std::optional<std::expected<ResourceContents, rpc::Failure>> Read(
      const std::string& uri, ResultStore& store) const = 0;
  // Whether a client may want to hear of changes of it.
  virtual bool Has(std::string_view uri, const ResultStore& store) const = 0;
  // All values of an argument of a template; -32602: it has none of that name, or there is no such
  // template.
  virtual std::expected<std::vector<std::string>, rpc::Failure> Values(
      const CompletionOrder& order, const ResultStore& store) const = 0;
};

const ResourceSource& ResultResources();

std::string ListResourcesResult(Revision revision, const Identity& identity,
                                std::span<const Resource> resources);
std::string ListResourceTemplatesResult(Revision revision, const Identity& identity,
                                        std::span<const ResourceTemplate> templates);
// Text if it is UTF-8, else base64. `uri` is the one that was asked for.
std::string ReadResourceResult(Revision revision, const Identity& identity, std::string_view uri,
                               const ResourceContents& contents);

inline constexpr const char* kResourceUpdatedMethod = "notifications/resources/updated";
std::string ResourceUpdatedLine(std::string_view uri);

}  // namespace pa
