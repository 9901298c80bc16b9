// HttpCorpus: requests of HTTP/1.1, good and malformed, and what becomes of them. The verdicts hold
// with every version of llhttp that a distribution has (8.1, 9.1, 9.2 and 9.4 were tried).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace pa::testing {

inline constexpr std::size_t kCorpusBody = 1U << 20;  // the longest body that is accepted

struct HttpCase {
  const char* name;
  std::string bytes;
  // Of each request METHOD, TARGET (ten characters at most), `close` if the connection ends with
  // it, and the length of its body in brackets; then the status of the refusal, or `head..` or
  // `body..` if more bytes are needed.
  const char* verdict;
};

inline std::vector<HttpCase> HttpCorpus() {
  using namespace std::string_literals;
  const auto times = [](int count, const char* text) {
    std::string all;
    while (count-- > 0) all += text;
    return all;
  };
  return {
      {"GET", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"s, "GET / [0]"},
      {"POST",
       "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n"
       "abc"s,
       "POST /mcp [3]"},
      {"two requests",
       "GET / HTTP/1.1\r\nHost: a\r\n\r\nPOST / HTTP/1.1\r\n"
       "Host: a\r\nContent-Length: 2\r\n\r\nab"s,
       "GET / [0] POST / [2]"},
      {"chunks, then a request",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
       "GET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "POST / [3] GET / [0]"},
      {"the last of a connection", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"s,
       "GET / close [0]"},
      {"HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\n\r\n"s, "GET / close [0]"},
      {"HTTP/1.0 that goes on",
       "GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n"
       "\r\n"s,
       "GET / [0]"},
      {"Expect: 100-continue",
       "POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n"
       "Content-Length: 2\r\n\r\nab"s,
       "POST / [2]"},
      {"another Expect",
       "POST / HTTP/1.1\r\nHost: a\r\nExpect: x\r\n"
       "Content-Length: 2\r\n\r\nab"s,
       "417"},
      {"OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"s, "OPTIONS * [0]"},
      {"Content-Length and Transfer-Encoding",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
       "400"},
      {"Transfer-Encoding and Content-Length",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n"
       "0\r\n\r\n"s,
       "400"},
      {"two equal lengths",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
       "Content-Length: 3\r\n\r\nabc"s,
       "400"},
      {"two lengths",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
       "Content-Length: 4\r\n\r\nabcd"s,
       "400"},
      {"a list of lengths",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\n"
       "abc"s,
       "400"},
      {"hexadecimal length",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x2\r\n\r\n"
       "ab"s,
       "400"},
      {"length with +", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\nab"s, "400"},
      {"negative length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -2\r\n\r\nab"s, "400"},
      {"length with a space",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1 2\r\n\r\n"
       "ab"s,
       "400"},
      {"empty length", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: \r\n\r\nab"s, "400"},
      {"length of 2^64 and more",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Content-Length: 18446744073709551618\r\n\r\nab"s,
       "400"},
      {"length over the limit",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048577\r\n"
       "\r\nab"s,
       "413"},
      {"length at the limit",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1048576\r\n"
       "\r\nab"s,
       "POST / body.."},
      {"Content_Length is another field",
       "POST / HTTP/1.1\r\nHost: a\r\nContent_Length: 3\r\n\r\n"s, "POST / [0]"},
      {"GET with a body",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
       "abGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "GET / [2] GET / [0]"},
      {"length 0",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"
       "GET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "POST / [0] GET / [0]"},
      {"length with zeros in front",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 002\r\n\r\n"
       "ab"s,
       "POST / [2]"},
      {"gzip, chunked",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"s,
       "501"},
      {"identity",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: identity\r\n\r\n"s,
       "400"},
      {"two Transfer-Encodings",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n"
       "Transfer-Encoding: identity\r\n\r\n0\r\n\r\n"s,
       "400"},
      {"xchunked",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"s,
       "400"},
      {"vertical tab before chunked",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: \013chunked\r\n\r\n0\r\n\r\n"s,
       "400"},
      {"CHUNKED",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "transfer-encoding: CHUNKED\r\n\r\n0\r\n\r\n"s,
       "POST / [0]"},
      {"chunks in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"s,
       "501"},
      {"chunk size 0x3",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"chunk without CRLF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc0\r\n\r\n"s,
       "POST / 400"},
      {"chunk with other bytes for CRLF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabcXX0\r\n\r\n"s,
       "POST / 400"},
      {"chunk size with LF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"chunk with LF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n"s,
       "POST / 400"},
      {"last chunk with LF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\n\n"s,
       "POST / 400"},
      {"end of chunks with LF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\n"s,
       "POST / 400"},
      {"chunk size with CR",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\rabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"chunk with CR",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r0\r\n\r\n"s,
       "POST / 400"},
      {"space behind a chunk size",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"space before a chunk size",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"tab behind a chunk size",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\t\r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"extension of a chunk",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\n"
       "\r\n"s,
       "POST / 400"},
      {"extension with a quoted value",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3;a=\"b\\\"c\"\r\n"
       "abc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"space before an extension",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3 ;a=b\r\nabc\r\n0\r\n"
       "\r\n"s,
       "POST / 400"},
      {"extension with LF",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3;a\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"long extension",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3;"s +
           times(3000000, "a") + "\r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"chunks of one byte",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n"s +
           times(400000, "1\r\na\r\n") + "0\r\n\r\n"s,
       "POST / 413"},
      {"chunk of 2^64 and more",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"s,
       "POST / 400"},
      {"chunk over the limit",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\na"s,
       "POST / 413"},
      {"negative chunk",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"chunk sizes with zeros",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0003\r\nabc\r\n000\r\n"
       "\r\n"s,
       "POST / [3]"},
      {"empty chunk size",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n\r\n0\r\n\r\n"s,
       "POST / 400"},
      {"NUL in a chunk size",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n3\000\r\nabc\r\n0\r\n"
       "\r\n"s,
       "POST / 400"},
      {"trailer",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n\r\n"s,
       "POST / 400"},
      {"Content-Length as a trailer",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\n"
       "Content-Length: 3\r\n\r\n"s,
       "POST / 400"},
      {"long trailer",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n0\r\nX: "s +
           times(3000000, "a") + "\r\n\r\n"s,
       "POST / 400"},
      {"bare CR", "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n"s, "400"},
      {"LF alone", "GET / HTTP/1.1\nHost: a\n\n"s, "400"},
      {"LF behind a field", "GET / HTTP/1.1\r\nHost: a\nX: y\r\n\r\n"s, "400"},
      {"LF behind the head", "GET / HTTP/1.1\r\nHost: a\r\n\n"s, "400"},
      {"CR CR LF", "GET / HTTP/1.1\r\nHost: a\r\r\n\r\n"s, "400"},
      {"space before the colon", "GET / HTTP/1.1\r\nHost : a\r\n\r\n"s, "400"},
      {"space before the colon of a length",
       "GET / HTTP/1.1\r\nHost: a\r\nContent-Length : 3\r\n\r\nabc"s, "400"},
      {"obs-fold", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n"s, "400"},
      {"obs-fold with a tab", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n\tb\r\n\r\n"s, "400"},
      {"space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"s, "400"},
      {"no Host", "GET / HTTP/1.1\r\n\r\n"s, "400"},
      {"no Host in HTTP/1.0", "GET / HTTP/1.0\r\n\r\n"s, "400"},
      {"empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n"s, "400"},
      {"two equal Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"s, "400"},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"s, "400"},
      {"a list of Hosts", "GET / HTTP/1.1\r\nHost: a, b\r\n\r\n"s, "400"},
      {"NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: a\000b\r\n\r\n"s, "400"},
      {"NUL in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\000: b\r\n\r\n"s, "400"},
      {"NUL in the target", "GET /\000 HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"control character", "GET / HTTP/1.1\r\nHost: a\r\nX: a\001b\r\n\r\n"s, "400"},
      {"DEL", "GET / HTTP/1.1\r\nHost: a\r\nX: a\177b\r\n\r\n"s, "400"},
      {"UTF-8 in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: \303\251\r\n\r\n"s, "GET / [0]"},
      {"UTF-8 in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\303\251: y\r\n\r\n"s, "400"},
      {"UTF-8 in the target", "GET /\303\251 HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"tab in the target", "GET /\tx HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"two spaces before the target", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"two spaces behind the target", "GET /  HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"space behind the version", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"s, "400"},
      {"tabs for spaces", "GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"fragment", "GET /#x HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"absolute target", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"authority as target", "GET a:80 HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"CONNECT with a path", "CONNECT /a HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"GET *", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"s, "505"},
      {"HTTP/2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n"s, "505"},
      {"HTTP/1.2", "GET / HTTP/1.2\r\nHost: a\r\n\r\n"s, "400"},
      {"HTTP/0.9", "GET / HTTP/0.9\r\nHost: a\r\n\r\n"s, "505"},
      {"no version", "GET /\r\n\r\n"s, "400"},
      {"http/1.1", "GET / http/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"HTTP/01.1", "GET / HTTP/01.1\r\nHost: a\r\n\r\n"s, "400"},
      {"HTTP/1.10", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"s, "400"},
      {"RTSP", "SETUP / RTSP/1.0\r\nHost: a\r\n\r\n"s, "505"},
      {"ICE", "SOURCE / ICE/1.0\r\nHost: a\r\n\r\n"s, "505"},
      {"GET by RTSP", "GET / RTSP/1.0\r\nHost: a\r\n\r\n"s, "505"},
      {"GET by ICE", "GET / ICE/1.0\r\nHost: a\r\n\r\n"s, "400"},
      {"get", "get / HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"unknown method", "FOO / HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"QUERY", "QUERY / HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"DESCRIBE", "DESCRIBE / HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"Upgrade: websocket",
       "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
       "Upgrade: websocket\r\n\r\n"s,
       "501"},
      {"Upgrade: h2c",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
       "HTTP2-Settings: AAA\r\nContent-Length: 2\r\n\r\n"
       "abGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "POST / [2] GET / [0]"},
      {"Upgrade: h2c without a body",
       "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n"
       "Upgrade: h2c\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "GET / [0] GET / [0]"},
      {"20 KB of head", "GET / HTTP/1.1\r\nHost: a\r\nX: "s + times(20000, "a") + "\r\n\r\n"s,
       "431"},
      {"5,000 fields", "GET / HTTP/1.1\r\nHost: a\r\n"s + times(5000, "a:b\r\n") + "\r\n\r\n"s,
       "431"},
      {"more fields than the limit",
       "GET / HTTP/1.1\r\nHost: a\r\n"s + times(120, "X-A:b\r\n") + "\r\n"s, "431"},
      {"64 KB of target", "GET /"s + times(65536, "a") + " HTTP/1.1\r\nHost: a\r\n\r\n"s, "414"},
      {"CRLF before a request", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"LF before a request", "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s, "400"},
      {"CRLF behind a body",
       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n"
       "ab\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "POST / [2] 400"},
      {"TLS", "\026\003\001\002\000\001\000\001\374"s, "501"},
      {"SSH", "SSH-2.0-x\r\n"s, "501"},
      {"field without a colon", "GET / HTTP/1.1\r\nHost: a\r\nX\r\n\r\n"s, "400"},
      {"field without a name", "GET / HTTP/1.1\r\nHost: a\r\n: x\r\n\r\n"s, "400"},
      {"parentheses in a name", "GET / HTTP/1.1\r\nHost: a\r\nX(y): x\r\n\r\n"s, "400"},
      {"quote in a name", "GET / HTTP/1.1\r\nHost: a\r\nX\"y: x\r\n\r\n"s, "400"},
      {"Connection: keep-alive, close",
       "GET / HTTP/1.1\r\nHost: a\r\n"
       "Connection: keep-alive, close\r\n\r\n"s,
       "GET / close [0]"},
      {"Connection: x", "GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\n\r\n"s, "GET / [0]"},
      {"POST without a body",
       "POST / HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\r\n"
       "Host: a\r\n\r\n"s,
       "POST / [0] GET / [0]"},
      {"a request behind the last",
       "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
       "GET / HTTP/1.1\r\nHost: a\r\n\r\n"s,
       "GET / close [0] GET / [0]"},
      {"HEAD", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"s, "HEAD / [0]"},
      {"half a head", "GET / HTTP/1.1\r\nHo"s, "head.."},
      {"100-continue in HTTP/1.0",
       "POST / HTTP/1.0\r\nHost: a\r\nExpect: 100-continue\r\n"
       "Content-Length: 2\r\n\r\nab"s,
       "POST / close [2]"},
      {"TRACE", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n"s, "501"},
      {"CR CR LF behind the chunks",
       "POST / HTTP/1.1\r\nHost: a\r\n"
       "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\r\n"s,
       "POST / 400"},
  };
}

}  // namespace pa::testing
