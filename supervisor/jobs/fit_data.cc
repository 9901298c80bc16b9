#include "supervisor/jobs/fit_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/json_writer.h"
#include "supervisor/results/result_store.h"
#include "supervisor/text/text_cut.h"

namespace pa {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
constexpr std::size_t kShortText = 128;
constexpr std::size_t kShortList = 64;

// Writes a value with its strings and lists cut. It ends where more is written than fits: what is
// hostile may have a million values, and is tried several times.
class CutWriter {
 public:
  CutWriter(const FitLimits& limits, std::size_t list, std::string_view uri)
      : text_(limits.text), list_(list), room_(limits.all), uri_(uri) {}

  bool full() const { return room_ == 0; }
  void Write(const JsonValue& value) {
    Take(1);
    if (full()) {
      writer_.Null();
    } else if (value.IsString()) {
      WriteText(value.AsString());
    } else if (value.IsArray()) {
      writer_.BeginArray();
      const std::size_t shown = std::min(value.Items().size(), list_);
      for (std::size_t i = 0; i < shown && !full(); ++i) Write(value.Items()[i]);
      cut_ = cut_ || shown < value.Items().size();
      writer_.EndArray();
    } else if (value.IsObject()) {
      writer_.BeginObject();
      for (const auto& [name, member] : value.Members()) {
        if (full()) break;
        Take(name.size());
        writer_.Key(name);
        Write(member);
      }
      writer_.EndObject();
    } else {
      writer_.Value(value);
    }
  }
  FittedData Finish() && { return {.json = std::move(writer_).Take(), .cut = cut_}; }

 private:
  void Take(std::size_t bytes) { room_ -= std::min(room_, bytes); }
  void WriteText(std::string_view text) {
    Take(std::min(text.size(), text_));
    if (text.size() <= text_) {
      writer_.String(text);
      return;
    }
    cut_ = true;
    writer_.String(CutText(text, text_, uri_));
  }

  std::size_t text_;
  std::size_t list_;
  std::size_t room_;  // bytes, about; never fewer than there are
  std::string_view uri_;
  JsonWriter writer_;
  bool cut_ = false;
};

// Nothing: it does not fit.
std::optional<FittedData> Cut(const JsonValue& data, const FitLimits& limits, std::size_t list,
                              std::string_view uri) {
  CutWriter writer(limits, list, uri);
  writer.Write(data);
  if (writer.full()) return std::nullopt;
  FittedData fitted = std::move(writer).Finish();
  if (fitted.json.size() > limits.all) return std::nullopt;
  return fitted;
}

// Each member on a line of its own, and those of an object within it, so that `read` and `grep`
// find them by lines.
std::string Lines(const JsonValue& data) {
  std::string out = "{";
  const char* between = "\n";
  for (const auto& [name, member] : data.Members()) {
    out += between + JsonValue::String(name).Dump() + ":";
    between = ",\n";
    if (!member.IsObject()) {
      out += member.Dump();
      continue;
    }
    out += "{";
    const char* within = "\n";
    for (const auto& [inner, value] : member.Members()) {
      out += within + JsonValue::String(inner).Dump() + ":" + value.Dump();
      within = ",\n";
    }
    out += "\n}";
  }
  return out + "\n}\n";
}

// "" if it could not be kept.
std::string Keep(std::string_view text, CallContext& call, const std::string& name) {
  auto output = call.results.Begin(call.policy->limits.output_total);
  if (!output || !call.results.Append(**output, text) || (*output)->lost() != 0) return {};
  return call.results.Publish(*std::move(output), name);
}

// What is too large to be looked through is kept all the same, and shown not at all.
constexpr JsonLimits kLargest{.max_bytes = 64U << 20};

}  // namespace

std::string CutText(std::string_view text, std::size_t most, std::string_view uri) {
  if (text.size() <= most) return std::string(text);
  const std::string_view head = Utf8Head(text, most / 2);
  const std::string_view tail = Utf8Tail(text, most / 2);
  return fmt::format("{}\n[... {} bytes left out{}{} ...]\n{}", head,
                     text.size() - head.size() - tail.size(),
                     uri.empty() ? "" : "; all of it: ", uri, tail);
}

FittedData FitData(const JsonValue& data, const FitLimits& limits, std::string_view uri) {
  for (std::size_t text = limits.text; text >= kShortText; text /= 2) {
    if (auto fitted = Cut(data, {limits.all, text}, kAll, uri)) return *std::move(fitted);
  }
  for (std::size_t list = kShortList; list > 0; list /= 2) {
    if (auto fitted = Cut(data, {limits.all, kShortText}, list, uri)) return *std::move(fitted);
  }
  return {.json = "{}", .cut = true};
}

void FitResult(ToolResult& result, CallContext& call, std::size_t text, const std::string& name) {
  const FitLimits limits{.all = static_cast<std::size_t>(call.policy->limits.output_inline),
                         .text = text};
  const Result<JsonValue> data = ParseJson(result.data.empty() ? "{}" : result.data, kLargest);
  if (data && !FitData(*data, limits, "").cut) return;
  const std::string all = data ? Lines(*data) : std::exchange(result.data, {});
  const std::string uri = Keep(all, call, name);
  result.data = data ? FitData(*data, limits, uri).json : "{}";
  result.truncated = true;
  if (uri.empty()) {
    result.warnings.emplace_back("the data is shown in part, and all of it could not be kept");
    return;
  }
  result.warnings.push_back("the data is shown in part; all of it: " + uri);
  if (result.result_uri.empty()) result.result_uri = uri;
  result.links.push_back(
      {.uri = uri, .name = name, .title = {}, .mime_type = "application/json", .size = all.size()});
}

}  // namespace pa
