#include "supervisor/mcp/resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/base64.h"
#include "base/json_writer.h"
#include "base/utf8.h"
#include "supervisor/call/tool_error.h"
#include "supervisor/mcp/params.h"

namespace pa {
namespace {

const std::string kResultTemplate = std::string(kResultUriPrefix) + "{id}{?offset,lines}";

class StoredResults final : public ResourceSource {
 public:
  std::vector<Resource> List(const ResultStore& store) const override {
    std::vector<Resource> resources;
    for (ResultStore::Entry& entry : store.List()) {
      resources.push_back({.uri = std::move(entry.uri),
                           .name = std::move(entry.name),
                           .mime_type = "text/plain",
                           .size = entry.size});
    }
    return resources;
  }

  std::vector<ResourceTemplate> Templates() const override {
    return {{.uri = kResultTemplate,
             .name = "Output of a command",
             .description =
                 "All that a shortened result has left out, at most 1 MiB: from the byte at "
                 "offset, or the lines 100-200, 100 (to the end) or -50 (the last 50); _meta "
                 "project-actions/nextUri of the contents says where it goes on.",
             .mime_type = "text/plain"}};
  }

  std::optional<std::expected<ResourceContents, rpc::Failure>> Read(
      const std::string& uri, ResultStore& store) const override {
    std::optional<Result<ResultChunk>> chunk = store.Read(uri);
    if (!chunk) return std::nullopt;
    if (*chunk) {
      return ResourceContents{.mime_type = {},
                              .bytes = std::move((*chunk)->bytes),
                              .next_uri = std::move((*chunk)->next_uri),
                              .total = (*chunk)->total};
    }
    const Error& error = chunk->error();
    if (error.sys_errno == EINVAL) return InvalidParams("uri: " + error.subject);
    return FailedWith(rpc::kInternalError, InternalError(error.Message()).message);
  }

  bool Has(std::string_view uri, const ResultStore& store) const override { return store.Has(uri); }

  std::expected<std::vector<std::string>, rpc::Failure> Values(
      const CompletionOrder& order, const ResultStore& store) const override {
    if (order.name != kResultTemplate) {
      return InvalidParams(fmt::format("there is no resource template '{}'; the template is {}",
                                       order.name, kResultTemplate));
    }
    std::vector<std::string> ids;
    if (order.argument != "id") return ids;
    for (const ResultStore::Entry& entry : store.List()) {
      ids.push_back(entry.uri.substr(std::string_view(kResultUriPrefix).size()));
    }
    return ids;
  }
};

}  // namespace

const ResourceSource& ResultResources() {
  static const StoredResults results;
  return results;
}

std::string ListResourcesResult(Revision revision, const Identity& identity,
                                std::span<const Resource> resources) {
  JsonWriter writer;
  writer.BeginObject().Key("resources").BeginArray();
  for (const Resource& resource : resources) {
    writer.BeginObject().Field("uri", resource.uri).Field("name", resource.name);
    if (!resource.description.empty()) writer.Field("description", resource.description);
    writer.Field("mimeType", resource.mime_type);
    if (resource.size) writer.Field("size", *resource.size);
    writer.EndObject();
  }
  writer.EndArray();
  WriteCacheableFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

std::string ListResourceTemplatesResult(Revision revision, const Identity& identity,
                                        std::span<const ResourceTemplate> templates) {
  JsonWriter writer;
  writer.BeginObject().Key("resourceTemplates").BeginArray();
  for (const ResourceTemplate& one : templates) {
    writer.BeginObject().Field("uriTemplate", one.uri).Field("name", one.name);
    writer.Field("description", one.description).Field("mimeType", one.mime_type).EndObject();
  }
  writer.EndArray();
  WriteCacheableFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

std::string ReadResourceResult(Revision revision, const Identity& identity, std::string_view uri,
                               const ResourceContents& contents) {
  JsonWriter writer;
  writer.BeginObject().Key("contents").BeginArray().BeginObject().Field("uri", uri);
  const bool text = IsValidUtf8(contents.bytes);
  const std::string_view guessed = text ? "text/plain" : "application/octet-stream";
  writer.Field("mimeType", contents.mime_type.empty() ? guessed : contents.mime_type);
  text ? writer.Field("text", contents.bytes) : writer.Field("blob", ToBase64(contents.bytes));
  if (contents.next_uri) {
    writer.Key("_meta").BeginObject().Field("project-actions/nextUri", *contents.next_uri);
    writer.Field("project-actions/size", contents.total).EndObject();
  }
  writer.EndObject().EndArray();
  WriteCacheableFrame(writer, revision, identity);
  return std::move(writer.EndObject()).Take();
}

std::string ResourceUpdatedLine(std::string_view uri) {
  JsonWriter params;
  params.BeginObject().Field("uri", uri).EndObject();
  return rpc::NotificationLine(kResourceUpdatedMethod, std::move(params).Take());
}

}  // namespace pa
