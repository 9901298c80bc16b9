#include <cerrno>
#include <cstring>
#include <memory>

#include "worker/spec.h"
#include "worker/spec_view.h"
#include "worker/wire.h"

namespace pa::worker {
namespace {

// Appends one value after the other; the mirror of the Reader in spec_view.cc.
class Writer {
 public:
  std::string Take() && { return std::move(out_); }

  template <typename Integer>
  void Put(Integer value) {
    char raw[sizeof(value)];
    std::memcpy(raw, &value, sizeof(value));
    out_.append(raw, sizeof(value));
  }

  template <typename E>
  bool Enum(const char*, E value, int, int) {
    Begin();
    Put(static_cast<std::uint8_t>(value));
    return true;
  }

  bool Flag(const char* name, bool value) { return Enum(name, value, 0, 1); }

  bool Number(const char*, std::uint64_t value) {
    Begin();
    Put(value);
    return true;
  }

  bool Text(const char*, const std::string& text) {
    Begin();
    PutText(text);
    return true;
  }

  bool Blob(const char*, const std::string& blob) {
    Begin();
    PutBlob(blob);
    return true;
  }

  bool Blobs(const char*, const std::vector<std::string>& blobs) {
    Begin();
    Put(static_cast<std::uint32_t>(blobs.size()));
    for (const std::string& blob : blobs) PutBlob(blob);
    return true;
  }

  bool TextList(const char*, const std::vector<std::string>& list) {
    Begin();
    Put(static_cast<std::uint32_t>(list.size()));
    for (const std::string& text : list) PutText(text);
    return true;
  }

  bool Grants(const char*, const std::vector<sandbox::PathGrant>& grants) {
    Begin();
    Put(static_cast<std::uint32_t>(grants.size()));
    for (const sandbox::PathGrant& grant : grants) {
      PutText(grant.path);
      Put(static_cast<std::uint8_t>(grant.access));
      PutText(grant.reason);
    }
    return true;
  }

  bool Mounts(const char*, const std::vector<sandbox::Mount>& mounts) {
    Begin();
    Put(static_cast<std::uint32_t>(mounts.size()));
    for (const sandbox::Mount& mount : mounts) {
      Put(static_cast<std::uint8_t>(mount.kind));
      PutText(mount.source);
      PutText(mount.target);
    }
    return true;
  }

 private:
  void Begin() { Put(++index_); }

  void PutBlob(const std::string& blob) {
    Put(static_cast<std::uint32_t>(blob.size()));
    out_ += blob;
  }

  void PutText(const std::string& text) {
    Put(static_cast<std::uint32_t>(text.size()));
    out_.append(text.c_str(), text.size() + 1);
  }

  std::string out_;
  std::uint8_t index_ = 0;
};

// By the decoder of whoever will read it.
template <typename Parse>
Result<std::string> Checked(const char* what, std::string bytes, std::size_t most, Parse parse) {
  if (bytes.size() > most) return std::unexpected(Error(what, "size", E2BIG));
  const std::size_t arena_bytes = SpecArenaBytes(bytes.size());
  const auto arena = std::make_unique_for_overwrite<char[]>(arena_bytes);
  const auto view = parse(bytes, {arena.get(), arena_bytes});
  if (!view) return std::unexpected(Error(what, std::string(view.error().subject), EINVAL));
  return bytes;
}

}  // namespace

Result<std::string> EncodeSpec(const WorkerSpec& spec) {
  Writer writer;
  writer.Put(kWireMagic);
  writer.Put(kWireVersion);
  VisitSpec(writer, spec);
  return Checked("encode spec", std::move(writer).Take(), kMaxSpecBytes, ParseSpec);
}

Result<std::string> EncodeLaunch(const LaunchSpec& spec) {
  Writer writer;
  writer.Put(kLaunchWireMagic);
  writer.Put(kWireVersion);
  VisitLaunch(writer, spec);
  return Checked("encode launch order", std::move(writer).Take(), kMaxLaunchBytes, ParseLaunch);
}

Result<std::string> EncodeCeiling(const CeilingSpec& spec) {
  Writer writer;
  writer.Put(kCeilingWireMagic);
  writer.Put(kWireVersion);
  VisitCeiling(writer, spec);
  return Checked("encode ceiling", std::move(writer).Take(), kMaxCeilingBytes, ParseCeiling);
}

}  // namespace pa::worker
