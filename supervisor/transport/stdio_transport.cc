#include "supervisor/transport/stdio_transport.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cassert>
#include <deque>
#include <new>
#include <utility>

#include "base/file.h"
#include "base/try.h"
#include "base/unique_fd.h"
#include "supervisor/transport/line_reader.h"

namespace pa {
namespace {

constexpr std::size_t kChunk = 64u << 10;
constexpr std::size_t kMaxHeld = 1u << 20;

// One end as libuv sees it. Files, /dev/null included, cannot be polled: they are read and written
// directly, which does not block on them.
class End {
 public:
  Result<void> Open(uv_loop_t* loop, int fd, const char* name, void* owner);
  bool is_stream() const { return is_stream_; }
  int fd() const { return given_; }
  uv_stream_t* stream() { return &handle_.stream; }
  void Close(uv_close_cb done);

 private:
  Result<void> OpenPipe(uv_loop_t* loop, const char* name);

  uv_any_handle handle_ = {};
  bool is_stream_ = false;
  int given_ = -1;
  int flags_ = -1;
};

Result<void> End::Open(uv_loop_t* loop, int fd, const char* name, void* owner) {
  given_ = fd;
  flags_ = fcntl(fd, F_GETFL);
  if (flags_ < 0) return std::unexpected(Error("fcntl F_GETFL", name, errno));
  const uv_handle_type type = uv_guess_handle(fd);
  if (type == UV_FILE) return {};
  if (type != UV_TTY) {
    PA_TRY_VOID(OpenPipe(loop, name));
  } else if (const int status = uv_tty_init(loop, &handle_.tty, fd, 0); status != 0) {
    return std::unexpected(Error("uv_tty_init", name, -status));
  }
  is_stream_ = true;
  handle_.handle.data = owner;
  return {};
}

Result<void> End::OpenPipe(uv_loop_t* loop, const char* name) {
  // uv_close closes the descriptor: it gets one of its own.
  UniqueFd own(fcntl(given_, F_DUPFD_CLOEXEC, 3));
  if (!own) return std::unexpected(Error("fcntl F_DUPFD_CLOEXEC", name, errno));
  uv_pipe_init(loop, &handle_.pipe, 0);
  is_stream_ = true;  // from here on there is a handle to close
  const int status = uv_pipe_open(&handle_.pipe, own.get());
  if (status != 0) return std::unexpected(Error("uv_pipe_open", name, -status));
  static_cast<void>(own.release());
  return {};
}

void End::Close(uv_close_cb done) {
  uv_close(&handle_.handle, done);
  // libuv made the open file description non-blocking; a shell that shares it does not expect that.
  fcntl(given_, F_SETFL, flags_);
}

}  // namespace

struct StdioTransport::Impl {
  struct Write;

  Impl(uv_loop_t* the_loop, int in_descriptor, int out_descriptor, std::size_t max_line);
  Result<void> Start(TransportHandler& the_handler);

  void Read();
  void StopReading();
  void ReadFile();
  void OnRead(ssize_t count);
  void Pump();
  void OpenGate();
  void Handle(const LineReader::Line& line);
  void Hold();
  void AwaitReading();
  void EndOfInput();

  void Send(std::string line);
  void Queue(std::string bytes);
  void Written(std::size_t size, int status);
  void Break();
  void ReportClosed();

  void Close(std::function<void()> done);
  void Release();
  void CloseHandle(uv_handle_t* handle);
  void HandleClosed();

  uv_loop_t* loop;
  int in_fd;
  int out_fd;
  TransportHandler* handler = nullptr;
  OutputGate gate;
  LineReader reader;
  End in;
  End out;
  uv_idle_t idle;  // runs while a file is read, or a broken output is to be reported
  uv_timer_t drain;
  std::string chunk;
  std::size_t queued = 0;
  std::size_t queued_then = 0;  // when AwaitReading began to wait
  bool reading = false;
  struct Held {
    std::string text;
    LineReader::Line line;  // without its text
  };
  static Held Keep(LineReader::Line line);
  std::deque<Held> held;  // lines that wait for the gate
  std::size_t held_bytes = 0;
  bool held_back = false;  // Pump waits for the gate
  bool ended = false;      // end of input
  bool broken = false;     // the peer does not take our output any more
  bool reported = false;   // OnClosed was called
  bool closing = false;
  bool released = false;
  int open_handles = 0;
  std::function<void()> on_closed;
};

struct StdioTransport::Impl::Write {
  uv_write_t request;
  Impl* impl;
  std::string bytes;
};

StdioTransport::Impl::Impl(uv_loop_t* the_loop, int in_descriptor, int out_descriptor,
                           std::size_t max_line)
    : loop(the_loop), in_fd(in_descriptor), out_fd(out_descriptor), reader(max_line) {}

Result<void> StdioTransport::Impl::Start(TransportHandler& the_handler) {
  handler = &the_handler;
  uv_idle_init(loop, &idle);
  uv_timer_init(loop, &drain);
  idle.data = drain.data = this;
  open_handles = 2;
  Result<void> opened = in.Open(loop, in_fd, "standard input", this);
  if (opened) opened = out.Open(loop, out_fd, "standard output", this);
  if (opened) Read();
  return opened;
}

void StdioTransport::Impl::Read() {
  if (reading || ended || closing) return;
  reading = true;
  chunk.resize(kChunk);
  if (!in.is_stream()) {
    uv_idle_start(&idle, [](uv_idle_t* handle) { static_cast<Impl*>(handle->data)->ReadFile(); });
    return;
  }
  const auto allocate = [](uv_handle_t* handle, std::size_t, uv_buf_t* buffer) {
    std::string& memory = static_cast<Impl*>(handle->data)->chunk;
    *buffer = uv_buf_init(memory.data(), static_cast<unsigned>(memory.size()));
  };
  const auto on_read = [](uv_stream_t* stream, ssize_t count, const uv_buf_t*) {
    static_cast<Impl*>(stream->data)->OnRead(count);
  };
  if (uv_read_start(in.stream(), allocate, on_read) != 0) EndOfInput();
}

void StdioTransport::Impl::StopReading() {
  if (!reading) return;
  reading = false;
  if (in.is_stream()) {
    uv_read_stop(in.stream());
  } else {
    uv_idle_stop(&idle);
  }
}

void StdioTransport::Impl::ReadFile() {
  const ssize_t count = read(in.fd(), chunk.data(), chunk.size());
  if (count < 0 && errno == EINTR) return;
  count == 0 ? EndOfInput() : OnRead(count);
}

void StdioTransport::Impl::OnRead(ssize_t count) {
  if (count == 0) return;  // EAGAIN
  if (count < 0) return EndOfInput();
  reader.Append(std::string_view(chunk).substr(0, static_cast<std::size_t>(count)));
  Pump();
}

void StdioTransport::Impl::EndOfInput() {
  StopReading();
  ended = true;
  reader.End();
  Pump();
}

// Hands lines on while the client takes our replies. While it does not, a cancel and the end of
// input are still heard, as far as kMaxHeld reaches; a flood of requests waits in the pipe, not
// here.
void StdioTransport::Impl::Pump() {
  while (!gate.closed() && !broken && !closing) {
    if (!held.empty()) {
      Held first = std::move(held.front());
      held.pop_front();
      held_bytes -= first.text.size() + sizeof(Held);
      first.line.text = first.text;
      Handle(first.line);
      continue;
    }
    const auto line = reader.Next();
    if (!line) return ended ? ReportClosed() : Read();
    Handle(*line);
  }
  if (broken || closing) return StopReading();
  Hold();
  held_back = true;
}

// Those who wait for it, and then we: to stand among them would take memory.
void StdioTransport::Impl::OpenGate() {
  gate.Open();
  if (!std::exchange(held_back, false)) return;
  uv_timer_stop(&drain);
  Pump();
}

void StdioTransport::Impl::Handle(const LineReader::Line& line) {
  if (line.too_long) {
    handler->OnLineTooLong(line.no_memory ? TransportHandler::kNoMemory : reader.limit(),
                           line.outlines);
  } else {
    handler->OnLine(line.text);
  }
}

StdioTransport::Impl::Held StdioTransport::Impl::Keep(LineReader::Line line) {
  try {
    return {std::string(line.text), std::move(line)};
  } catch (const std::bad_alloc&) {
    OutlineScanner scanner(line.text.size());
    scanner.Feed(line.text);
    return {"", {.text = {}, .too_long = true, .no_memory = true, .outlines = scanner.Take()}};
  }
}

void StdioTransport::Impl::Hold() {
  while (held_bytes < kMaxHeld) {
    // First: what was taken from the reader is nowhere else.
    try {
      held.emplace_back();
    } catch (const std::bad_alloc&) {
      return StopReading();
    }
    auto line = reader.Next();
    if (!line) {
      held.pop_back();
      break;
    }
    const std::string_view text = line->text;
    held.back() = Keep(*std::move(line));
    held_bytes += held.back().text.size() + sizeof(Held);
    handler->OnLineHeld(text);
  }
  if (held_bytes >= kMaxHeld) return StopReading();
  ended ? AwaitReading() : Read();
}

// The client has closed its end. If it reads nothing either, nobody waits for what it still wanted.
void StdioTransport::Impl::AwaitReading() {
  queued_then = queued;
  const auto look = [](uv_timer_t* timer) {
    auto* impl = static_cast<Impl*>(timer->data);
    impl->queued < impl->queued_then ? impl->AwaitReading() : impl->ReportClosed();
  };
  uv_timer_start(&drain, look, static_cast<std::uint64_t>(kDrainTime.count()), 0);
}

void StdioTransport::Impl::Send(std::string line) {
  if (broken || released) return;
  line += '\n';
  if (!out.is_stream()) {
    if (!WriteAll(out.fd(), line)) Break();
    return;
  }
  if (queued > 0) return Queue(std::move(line));
  // The usual case: the pipe has room, nothing needs to be kept.
  const uv_buf_t buffer = uv_buf_init(line.data(), static_cast<unsigned>(line.size()));
  const int written = uv_try_write(out.stream(), &buffer, 1);
  if (written < 0 && written != UV_EAGAIN) return Break();
  if (written > 0) line.erase(0, static_cast<std::size_t>(written));
  if (!line.empty()) Queue(std::move(line));
}

void StdioTransport::Impl::Queue(std::string bytes) {
  // A part of the line may be written: to leave out the rest would be worse than to end.
  auto* write = new (std::nothrow) Write{.request = {}, .impl = this, .bytes = std::move(bytes)};
  if (write == nullptr) return Break();
  queued += write->bytes.size();
  if (queued > kGateCloses) gate.Close();
  write->request.data = write;
  const uv_buf_t buffer =
      uv_buf_init(write->bytes.data(), static_cast<unsigned>(write->bytes.size()));
  const auto on_written = [](uv_write_t* request, int status) {
    const std::unique_ptr<Write> done(static_cast<Write*>(request->data));
    done->impl->Written(done->bytes.size(), status);
  };
  const int status = uv_write(&write->request, out.stream(), &buffer, 1, on_written);
  if (status == 0) return;
  queued -= write->bytes.size();
  delete write;
  Break();
}

void StdioTransport::Impl::Written(std::size_t size, int status) {
  queued -= size;
  if (released) return;
  if (status != 0) Break();
  if (queued < kGateOpens && gate.closed()) OpenGate();
  if (closing && queued == 0) Release();
}

// Reported from the loop, because whoever sends is in the middle of something.
void StdioTransport::Impl::Break() {
  if (std::exchange(broken, true) || reported || closing) return;
  StopReading();
  uv_idle_start(&idle, [](uv_idle_t* handle) { static_cast<Impl*>(handle->data)->ReportClosed(); });
}

void StdioTransport::Impl::ReportClosed() {
  uv_idle_stop(&idle);
  StopReading();
  ended = true;
  if (std::exchange(reported, true)) return;
  handler->OnClosed();
  // Nobody reads any more, so there is nobody to wait for.
  if (broken && gate.closed()) OpenGate();
}

void StdioTransport::Impl::Close(std::function<void()> done) {
  assert(!closing);
  StopReading();
  closing = true;
  on_closed = std::move(done);
  if (queued == 0 || broken) return Release();
  const auto give_up = [](uv_timer_t* timer) { static_cast<Impl*>(timer->data)->Release(); };
  uv_timer_start(&drain, give_up, static_cast<std::uint64_t>(kDrainTime.count()), 0);
}

void StdioTransport::Impl::Release() {
  if (std::exchange(released, true)) return;
  const auto closed = [](uv_handle_t* handle) { static_cast<Impl*>(handle->data)->HandleClosed(); };
  for (End* end : {&in, &out}) {
    if (!end->is_stream()) continue;
    ++open_handles;
    end->Close(closed);
  }
  uv_close(reinterpret_cast<uv_handle_t*>(&idle), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&drain), closed);
}

void StdioTransport::Impl::HandleClosed() {
  if (--open_handles == 0 && on_closed) std::exchange(on_closed, nullptr)();
}

StdioTransport::StdioTransport(uv_loop_t* loop, int in, int out, std::size_t max_line)
    : impl_(std::make_unique<Impl>(loop, in, out, max_line)) {}

StdioTransport::~StdioTransport() { assert(impl_->open_handles == 0); }

Result<void> StdioTransport::Start(TransportHandler& handler) { return impl_->Start(handler); }
void StdioTransport::Send(std::string line) { impl_->Send(std::move(line)); }
OutputGate& StdioTransport::gate() { return impl_->gate; }
void StdioTransport::Close(std::function<void()> done) { impl_->Close(std::move(done)); }

}  // namespace pa
