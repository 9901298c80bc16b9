// SpawnerProcess: the server's side of its spawner (serve_spawner.h).
//
//    auto spawner = SpawnerProcess::Fork(loads);              // before anything of others is read
//    Result<ServerPolicy> policy = spawner->AwaitPolicy();
//    spawner->FollowOn(loop);                                 // once there is a loop
//    Task<Result<ServerPolicy>> task = spawner->ReadPolicy();  // as it is on disk now
//    Task<Result<bool>> task = spawner->TakePolicy();          // and in force from now on
//
// If it ends, nothing can be started any more: `on_end` is called, and the server ends, too.
#pragma once

#include <sys/types.h>
#include <uv.h>

#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/unique_fd.h"
#include "supervisor/loop/spawner.h"
#include "supervisor/loop/task.h"
#include "supervisor/loop/uv_handles.h"
#include "supervisor/spawner/serve_spawner.h"
#include "supervisor/spawner/spawner_wire.h"

namespace pa {

class SpawnerProcess : public Spawner {
 public:
  // Forks; no thread may run yet. The child never returns.
  static Result<std::unique_ptr<SpawnerProcess>> Fork(const SpawnerLoads& loads);
  ~SpawnerProcess() override;
  SpawnerProcess(const SpawnerProcess&) = delete;
  SpawnerProcess& operator=(const SpawnerProcess&) = delete;

  // Blocks until it has read the policy. An error: nothing can be started. If the policy does not
  // load, `op` is empty and the subject says why, a line each.
  Result<ServerPolicy> AwaitPolicy();
  // Never keeps the loop running.
  void FollowOn(uv_loop_t* loop, std::function<void()> on_end);
  // No more of `on_end`, and whoever waits gets ECANCELED.
  void Close();

  Result<pid_t> Start(Helper helper, int socket) override;
  Task<Result<bool>> Reach(std::string directory, std::vector<std::string> paths) override;
  Result<UniqueFd> Open(const std::string& path) override;
  void RemoveSocket(const SocketFile& socket) override;
  Task<Result<std::string>> ReadIdentity() override;
  Task<Result<std::string>> GitAtWork(std::vector<std::string> directories) override;
  pid_t pid() const override { return pid_; }
  // The policy as it is on disk, which is not in force yet. An error: as AwaitPolicy.
  Task<Result<ServerPolicy>> ReadPolicy();
  // What was read last bounds helpers from now on. An error: the bounds stay as they were.
  Task<Result<bool>> TakePolicy();
  // What `elsewhere` of the bounds has.
  const std::vector<std::string>& elsewhere() const { return elsewhere_; }

 private:
  struct Reply;
  struct Waiting {
    std::string request;
    Completion<Result<Reply>>* done;
  };
  SpawnerProcess(pid_t pid, UniqueFd start, UniqueFd look);
  static Result<Reply> Receive(int socket);
  static Result<ServerPolicy> PolicyOf(const Result<Reply>& reply);
  Result<Reply> Exchange(const SpawnerRequest& request, std::string_view text,
                         std::span<const int> descriptors);
  Task<Result<Reply>> Ask(SpawnerRequest::Kind kind, std::string text);
  Task<Result<std::string>> AskForText(SpawnerRequest::Kind kind, std::string text);
  Task<Result<bool>> AskForBounds(SpawnerRequest::Kind kind, std::string text);
  void SendNext();
  void OnReply();
  void End();

  pid_t pid_;
  UniqueFd start_;
  UniqueFd look_;
  PollHandle replies_;
  PollHandle ended_;
  std::function<void()> on_end_;
  std::deque<Waiting> waiting_;  // the first one's reply is awaited
  std::vector<std::string> elsewhere_;
};

}  // namespace pa
