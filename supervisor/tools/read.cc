#include "supervisor/tools/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/base64.h"
#include "base/json_writer.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/background.h"
#include "supervisor/text/file_text.h"
#include "supervisor/tools/kept_result.h"
#include "supervisor/tools/params.h"
#include "supervisor/tools/read_into.h"
#include "supervisor/tools/render.h"
#include "supervisor/tools/result_page.h"

namespace pa {
namespace {

constexpr std::int64_t kMaxLines = FileText::kMaxLines;

constexpr Param kReadParams[] = {
    {.name = "path",
     .kind = ParamKind::kString,
     .required = true,
     .description = "The file, relative to the project root, or the uri of a kept result."},
    {.name = "offset",
     .kind = ParamKind::kInteger,
     .description = "First line, counted from 1; negative: from the end, -1 is the last line.",
     .minimum = -kMaxLines,
     .maximum = 1'000'000'000,
     .default_integer = 1},
    {.name = "limit",
     .kind = ParamKind::kInteger,
     .description = "How many lines.",
     .minimum = 1,
     .maximum = kMaxLines,
     .default_integer = kMaxLines},
    {.name = "column",
     .kind = ParamKind::kInteger,
     .description = "The byte of each line to begin at, to go on within a line that was cut.",
     .minimum = 1,
     .maximum = 1'000'000'000'000,
     .default_integer = 1},
    {.name = "whole",
     .kind = ParamKind::kBoolean,
     .description = "Also sha256 and total_lines of a file above 4 MiB, which takes reading all."},
    kResultParam,
};

constexpr std::string_view kEncodings[] = {"utf-8",    "utf-8-bom",    "utf-16le",
                                           "utf-16be", "unknown-8bit", "binary"};

constexpr std::string_view kReadItems[] = {"content"};

constexpr ResultField kReadData[] = {
    {.name = "path", .required = true},
    {.name = "content",
     .description = "each line with its number; under `result` and in a pipeline without"},
    {.name = "total_lines", .kind = FieldKind::kInteger},
    {.name = "offset", .kind = FieldKind::kInteger, .description = "number of the first line"},
    {.name = "next_offset",
     .kind = FieldKind::kInteger,
     .description = "absent if nothing follows"},
    {.name = "size", .kind = FieldKind::kInteger, .required = true},
    {.name = "sha256", .description = "of a file that was not read whole, absent"},
    {.name = "encoding", .required = true, .one_of = kEncodings},
    {.name = "mime_type", .description = "of an image, which is returned beside this"},
};

// A file above kLarge is read in part, if that holds the lines that are asked for: to count and
// hash the rest takes fifty times as long.
constexpr std::uint64_t kLarge = 4U << 20;
constexpr std::uint64_t kPart = 256U << 10;

// What cannot be shown, nor as an image.
std::optional<ToolError> ErrorOfKind(const std::string& path, const FileText& text) {
  if (text.encoding() != FileText::Encoding::kBinary) return std::nullopt;
  const bool image = text.kind() && !text.kind()->image.empty();
  if (!image) return BinaryFile(path, text.kind() ? text.kind()->name : "binary data", text.size());
  if (text.image().empty()) return FileTooLarge(path, text.size(), FileText::kMaxImageBytes);
  return std::nullopt;
}

void WriteWhole(JsonWriter& w, const FileText& text, std::uint64_t size) {
  w.Field("size", size);
  if (!text.sha256().empty()) w.Field("sha256", text.sha256());
  w.Field("encoding", text.EncodingName());
}

ToolResult RenderImage(const std::string& path, const FileText& text) {
  ToolResult result;
  JsonWriter w;
  w.BeginObject().Field("path", path).Field("mime_type", text.kind()->image);
  WriteWhole(w, text, text.size());
  result.data = std::move(w.EndObject()).Take();
  result.images.push_back({std::string(text.kind()->image), ToBase64(text.image())});
  result.text = fmt::format("{}: {}, {} bytes, sha256 {}\n", path, text.kind()->name, text.size(),
                            text.sha256());
  return result;
}

std::string Numbered(const FileText& text) {
  std::string content;
  std::uint64_t number = text.first_line();
  for (const std::string& line : text.lines()) content += fmt::format("{:6}\t{}\n", number++, line);
  return content;
}

// For `result` and for templates, which take a line as it is.
std::string Unnumbered(const FileText& text) {
  std::string content;
  for (const std::string& line : text.lines()) content.append(line).append("\n");
  return content;
}

// `size`: of the whole file; of the text without a hash only a part was read.
ToolResult RenderText(const std::string& path, const FileText& text, std::uint64_t size,
                      bool numbered) {
  const std::string content = numbered ? Numbered(text) : Unnumbered(text);
  const bool whole = !text.sha256().empty();
  const std::uint64_t next = text.first_line() + text.lines().size();
  const bool more = !text.lines().empty() && (!whole || next <= text.total_lines());
  JsonWriter w;
  w.BeginObject().Field("path", path).Field("content", content);
  if (whole) w.Field("total_lines", text.total_lines());
  w.Field("offset", text.first_line());
  if (more) w.Field("next_offset", next);
  WriteWhole(w, text, size);
  ToolResult result;
  result.data = std::move(w.EndObject()).Take();
  result.truncated = more || text.cut();
  result.text = fmt::format("{}: ", path);
  if (text.lines().empty()) {
    result.text += "no lines";
  } else {
    result.text += fmt::format("lines {} to {}", text.first_line(), next - 1);
    if (whole) result.text += fmt::format(" of {}", text.total_lines());
  }
  if (more) result.text += fmt::format(", the next begin at offset {}", next);
  result.text += fmt::format("; {}, ", text.EncodingName());
  result.text += whole ? fmt::format("sha256 {}\n", text.sha256())
                       : fmt::format("{} bytes; pass whole for their sha256\n", size);
  result.text += content;
  if (whole && text.total_lines() == 0) {
    Warn(result, "the file is empty");
  } else if (text.lines().empty()) {
    Warn(result, fmt::format("offset {} is past the end: the file has {}", text.first_line(),
                             Count(text.total_lines(), "line")));
  }
  if (text.repaired()) {
    Warn(result, "U+FFFD replaces bytes that are invalid in the file's encoding");
  }
  return result;
}

// The file through `text`.
Task<Reading> ReadText(FileText& text, const Work& work, const policy::Permission& permission,
                       const policy::FoundBeneath& place, CallContext& call) {
  FileSink sink([&text](std::string_view bytes) { text.Feed(bytes); });
  Task<Reading> task = ReadInto(sink, work, permission, place, call);
  Reading reading = co_await task;
  if (reading.error) co_return reading;
  text.End();
  reading.error = ErrorOfKind(reading.path, text);
  co_return reading;
}

// Who works with the lines wants them as they are.
bool Numbers(const Arguments& arguments, const CallContext& call) {
  const ResultOrder* order = arguments.result_order();
  return !call.inner && (order == nullptr || !order->Changes());
}

struct PartlyRead {
  Reading reading;
  std::uint64_t size = 0;  // of the file
  bool suffices = false;
};

// The beginning of the file through `text`.
Task<PartlyRead> ReadPart(FileText& text, const Work& work, const policy::Permission& permission,
                          const policy::FoundBeneath& place, CallContext& call) {
  FileSink sink([&text](std::string_view bytes) { text.Feed(bytes); });
  Task<Reading> task = ReadInto(sink, work, permission, place, call, {.bytes = kPart});
  Reading reading = co_await task;
  PartlyRead part{.reading = std::move(reading)};
  if (part.reading.error) co_return part;
  part.size = sink.header().size;
  part.suffices = text.EndsEarly();
  co_return part;
}

FileText::Window WindowOf(const Arguments& arguments) {
  const std::int64_t offset = arguments.Integer("offset").value_or(1);
  FileText::Window window{.limit =
                              static_cast<std::size_t>(arguments.Integer("limit").value_or(0))};
  if (offset < 0) window.from_end = static_cast<std::uint64_t>(-offset);
  if (offset > 0) window.offset = static_cast<std::uint64_t>(offset);
  window.column = static_cast<std::uint64_t>(arguments.Integer("column").value_or(1));
  if (FiltersAll(arguments)) {
    window.limit = kMostFiltered;
    window.bytes = kMostFilteredBytes;
  }
  return window;
}

// The same, when it is known how many lines there are.
FileText::Window WindowFromEnd(const Arguments& arguments, std::uint64_t total) {
  FileText::Window window = WindowOf(arguments);
  const std::uint64_t back = std::exchange(window.from_end, 0);
  window.offset = back >= total ? 1 : total - back + 1;
  return window;
}

std::expected<policy::FoundBeneath, ToolError> FindFile(const Work& work, const CallContext& call,
                                                        const std::string& path) {
  auto place = FindInRoot(work, call, path, "read",
                          "Pass a file of the project, relative to its root; glob finds names.");
  if (!place || !place->name.empty()) return place;
  return std::unexpected(InvalidArgument("the argument 'path' is a directory: " + path,
                                         "Pass a file; glob lists what is in a directory."));
}

// Of a kept result, on any thread.
std::expected<FileText, ToolError> TextOfKept(const StoredBytes& stored, FileText::Window window) {
  FileText text(window);
  const Result<void> read = ReadStoredText(stored, [&](std::string_view slice) {
    text.Feed(slice);
    return true;
  });
  if (!read) return std::unexpected(FileIo(read.error().Message(), read.error().sys_errno));
  text.End();
  return text;
}

// No file of the project is asked about, but a rule may refuse the tool as a whole.
Task<ToolResult> ReadKept(const ToolRequest& request, StoredBytes stored, CallContext& call) {
  const Arguments& arguments = request.arguments();
  const std::string& path = *arguments.String("path");
  const auto work = StartWorkAt(request, call, "");
  if (!work) co_return RefusedCall(work.error());
  auto permission = Permit(*work, call, policy::Purpose::kReadFile, {.path = path});
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  const auto kept = std::make_shared<const StoredBytes>(std::move(stored));
  FileText::Window window = WindowOf(arguments);
  using Read = std::expected<FileText, ToolError>;
  for (int look = 0;; ++look) {
    Task<Read> task = InBackground<Read>(call.runner.loop(),
                                         [kept, window] { return TextOfKept(*kept, window); });
    const Read text = co_await task;
    if (!text) co_return RefusedCall(text.error());
    if (look == 0 && text->lost_the_end()) {
      window = WindowFromEnd(arguments, text->total_lines());
      continue;
    }
    ToolResult result = RenderText(path, *text, text->size(), Numbers(arguments, call));
    result.decision = permission->rule();
    co_return result;
  }
}

Task<ToolResult> RunRead(ToolRequest request, CallContext& call) {
  const Arguments& arguments = request.arguments();
  if (auto kept = FindKept(call, *arguments.String("path"))) {
    if (!*kept) co_return RefusedCall(std::move(kept->error()));
    Task<ToolResult> task = ReadKept(request, *std::move(*kept), call);
    ToolResult result = co_await task;
    co_return result;
  }
  const auto work = StartWorkAt(request, call);
  if (!work) co_return RefusedCall(work.error());
  const auto place = FindFile(*work, call, *arguments.String("path"));
  if (!place) co_return RefusedCall(place.error());
  auto permission = Permit(*work, call, policy::Purpose::kReadFile,
                           {.path = place->directory.path() + "/" + place->name});
  if (!permission) co_return RefusedCall(std::move(permission.error()));
  FileText text(WindowOf(arguments));
  if (place->size > kLarge && !arguments.Boolean("whole")) {
    Task<PartlyRead> task = ReadPart(text, *work, *permission, *place, call);
    const PartlyRead part = co_await task;
    if (part.reading.error) co_return RefusedCall(*part.reading.error);
    if (part.suffices) {
      ToolResult result = RenderText(part.reading.path, text, part.size, Numbers(arguments, call));
      result.decision = permission->rule();
      co_return result;
    }
    text = FileText(WindowOf(arguments));
  }
  Task<Reading> task = ReadText(text, *work, *permission, *place, call);
  Reading reading = co_await task;
  if (!reading.error && text.lost_the_end()) {
    text = FileText(WindowFromEnd(arguments, text.total_lines()));
    Task<Reading> again = ReadText(text, *work, *permission, *place, call);
    reading = co_await again;
  }
  if (reading.error) co_return RefusedCall(*reading.error);
  const bool image = text.encoding() == FileText::Encoding::kBinary;
  ToolResult result = image ? RenderImage(reading.path, text)
                            : RenderText(reading.path, text, text.size(), Numbers(arguments, call));
  result.decision = permission->rule();
  co_return result;
}

}  // namespace

const Tool kRead = {
    .name = "read",
    .title = "Read file",
    .description =
        "Read a text file: numbered lines, at most 2000 of 2000 characters and 48 KiB together, "
        "and the file's sha256. Images are shown; other binary files are refused with their type.",
    .annotations = {.read_only = true, .idempotent = true},
    .params = kReadParams,
    .data = kReadData,
    .items = kReadItems,
    .run = RunRead,
    .purpose = policy::Purpose::kReadFile,
    // An image comes without structuredContent: clients that show it to models show
    // nothing else.
    .has_output_schema = false};

}  // namespace pa
