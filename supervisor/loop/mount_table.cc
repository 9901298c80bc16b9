#include "supervisor/loop/mount_table.h"

#include <fcntl.h>

#include <utility>

namespace pa {

struct MountTable::Handle {
  uv_poll_t poll;
  UniqueFd file;
  std::function<void()> on_changed;
};

MountTable::MountTable(uv_loop_t* loop, std::function<void()> on_changed) {
  UniqueFd file(open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
  if (!file) return;
  auto* handle = new Handle();
  handle->file = std::move(file);
  handle->on_changed = std::move(on_changed);
  if (uv_poll_init(loop, &handle->poll, handle->file.get()) != 0) {
    delete handle;
    return;
  }
  handle_ = handle;
  handle->poll.data = handle;
  // It is always readable; a change is an exceptional condition, once (proc(5)).
  uv_poll_start(&handle->poll, UV_PRIORITIZED, [](uv_poll_t* poll, int status, int) {
    if (status == 0) static_cast<Handle*>(poll->data)->on_changed();
  });
  uv_unref(reinterpret_cast<uv_handle_t*>(&handle->poll));
}

MountTable::~MountTable() {
  if (handle_ == nullptr) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&handle_->poll),
           [](uv_handle_t* poll) { delete static_cast<Handle*>(poll->data); });
}

}  // namespace pa
