// HttpReader: the requests of a connection of HTTP/1.1, one after the other (RFC 9110, RFC 9112).
//
//    HttpReader reader;
//    reader.Append(bytes);                               // as they come
//    if (auto head = reader.ReadHead()) {                // nothing: more bytes are needed
//      if (!*head) return Refuse(head->error());         // and end the connection
//      if (auto body = reader.ReadBody()) ...            // the same
//    }
//
// llhttp parses. Its versions and their modes differ in what they let pass, and so do the proxies
// in front of a server; where two of them differ on where a request ends, one client's bytes become
// another's request. So this class refuses what is ambiguous before llhttp sees it, and the same is
// refused with every version: tests/support/http_corpus.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pa {

struct HttpHead {
  std::string method;  // `GET`
  std::string target;  // begins with '/', or is `*` of OPTIONS; as it was sent
  // Names in lower case. Several of one name are one field, its values with ", " between them
  // (RFC 9110, 5.3): a field that has one value alone then has none that is valid.
  std::vector<std::pair<std::string, std::string>> fields;
  bool version_1_0 = false;
  bool keep_alive = true;         // the client may send another request
  bool expects_continue = false;  // it waits for `100 Continue` before it sends the body
  bool has_body = false;
  bool upgrades = false;                                 // to HttpLimits::protocol
  const std::string* Find(std::string_view name) const;  // null: there is no such field
};

// The media type of a field or of one range of it, in lower case, without parameters.
std::string MediaTypeOf(std::string_view field);

struct HttpRefusal {
  int status = 400;
  std::string_view why;  // for people
};

struct HttpLimits {
  std::size_t head = 16U << 10;  // bytes, with the request line
  std::size_t target = 8U << 10;
  std::size_t fields = 100;
  std::size_t body = 16U << 20;
  // The protocol to which a GET without a body may change (RFC 9110, 7.8), in lower case; "": none.
  std::string_view protocol = {};
  // Upgrades and Expect are the caller's: it passes the bytes on to a server that knows of them.
  bool any_protocol = false;
};

// After std::bad_alloc the connection must end: what was read until then is lost.
class HttpReader {
 public:
  explicit HttpReader(HttpLimits limits = {});
  ~HttpReader();
  HttpReader(const HttpReader&) = delete;
  HttpReader& operator=(const HttpReader&) = delete;

  void Append(std::string_view bytes);
  // Of the next request, once that before has been read with its body. After a refusal there is
  // only the refusal.
  std::optional<std::expected<HttpHead, HttpRefusal>> ReadHead();
  // After ReadHead; "" at once if there is none.
  std::optional<std::expected<std::string, HttpRefusal>> ReadBody();

  enum class At : std::uint8_t { kStart, kHead, kBody };
  At at() const { return at_; }                           // in which part the bytes have stopped
  std::size_t buffered() const { return bytes_.size(); }  // not parsed yet

 private:
  class Parser;

  std::optional<std::expected<HttpHead, HttpRefusal>> Refuse(HttpRefusal refusal);

  HttpLimits limits_;
  std::unique_ptr<Parser> parser_;
  std::string bytes_;
  At at_ = At::kStart;
  std::optional<HttpRefusal> refused_;
};

}  // namespace pa
