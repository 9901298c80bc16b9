// InnerCall: one call that a pipeline or a batch makes.
//
//    InnerCall inner(call, "step 'test' of a pipeline");
//    inner.SetShell(program);                            // of bash
//    Task<ToolResult> task = inner.Run("make", std::move(arguments));
//    ToolResult result = co_await task;
//    inner.waited()                                      // for the user
//
// It ends with its outer call, shows its output as the outer call's, and asks whom that would ask.
// It waits for places in queues, however many wait, and is not refused as BUSY because of them.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/json.h"
#include "supervisor/call/call_context.h"
#include "supervisor/call/call_starter.h"
#include "supervisor/call/tool_result.h"
#include "supervisor/loop/cancel_source.h"
#include "supervisor/run/output_sink.h"

namespace pa {

class InnerCall {
 public:
  InnerCall(CallContext& outer, std::string part_of);
  InnerCall(const InnerCall&) = delete;
  InnerCall& operator=(const InnerCall&) = delete;

  void SetShell(ShellProgram shell);
  void SetApprover(Approver* approver) { context_.approver = approver; }
  // Call it once. Whoever cancels the outer call cancels this one.
  Task<ToolResult> Run(std::string tool, JsonValue arguments);
  void Cancel() { cancel_.Cancel(); }
  bool cancelled() const { return cancel_.cancelled(); }

  std::string Waiting() const { return WaitingText(context_.record); }
  std::chrono::milliseconds waited() const;
  std::chrono::milliseconds took() const { return took_; }

 private:
  // What the outer call's sink is may change while this call runs.
  class Output final : public OutputSink {
   public:
    explicit Output(CallContext& outer) : outer_(outer) {}
    void OnOutput(Stream stream, std::string_view bytes) override {
      if (outer_.sink != nullptr) outer_.sink->OnOutput(stream, bytes);
    }
    OutputGate* gate() override { return outer_.sink == nullptr ? nullptr : outer_.sink->gate(); }

   private:
    CallContext& outer_;
  };

  CallContext& outer_;
  Output output_;
  CancelSource cancel_;
  CallContext context_;
  std::optional<ShellProgram> shell_;
  std::chrono::milliseconds took_{0};
};

// What the sandbox refused to an inner call it has refused to the outer one.
void AddDenials(ToolResult& outer, const ToolResult& inner);

}  // namespace pa
