#include "supervisor/loop/background.h"

#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <exception>
#include <memory>

namespace pa {
namespace {

constexpr std::size_t kStack = 8u << 20;  // as the loop's own: submodules nest

struct Job {
  uv_async_t ended;
  uv_thread_t thread;
  std::function<void()> work;
  std::function<void(std::exception_ptr)> done;
  std::exception_ptr thrown;
};

void Run(Job& job) {
  try {
    job.work();
  } catch (...) {
    job.thrown = std::current_exception();
  }
}

void OnThread(void* data) {
  // Signals are the loop's.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  Job& job = *static_cast<Job*>(data);
  Run(job);
  uv_async_send(&job.ended);
}

void Finish(std::unique_ptr<Job> job) {
  const auto done = std::move(job->done);
  std::exception_ptr thrown = std::move(job->thrown);
  job.reset();
  done(std::move(thrown));
}

void OnClosed(uv_handle_t* handle) {
  Finish(std::unique_ptr<Job>(static_cast<Job*>(handle->data)));
}

void OnEnded(uv_async_t* handle) {
  uv_thread_join(&static_cast<Job*>(handle->data)->thread);
  uv_close(reinterpret_cast<uv_handle_t*>(handle), OnClosed);
}

}  // namespace

void RunOnThread(uv_loop_t* loop, std::function<void()> work,
                 std::function<void(std::exception_ptr)> done) {
  auto job = std::make_unique<Job>();
  job->work = std::move(work);
  job->done = std::move(done);
  if (uv_async_init(loop, &job->ended, OnEnded) != 0) {
    Run(*job);
    return Finish(std::move(job));
  }
  job->ended.data = job.get();
  uv_thread_options_t options{};
  options.flags = UV_THREAD_HAS_STACK_SIZE;
  options.stack_size = kStack;
  const bool started = uv_thread_create_ex(&job->thread, &options, OnThread, job.get()) == 0;
  if (!started) Run(*job);
  uv_handle_t* handle = reinterpret_cast<uv_handle_t*>(&job.release()->ended);
  if (!started) uv_close(handle, OnClosed);
}

}  // namespace pa
