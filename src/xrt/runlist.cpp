// xrt::runlist over xrt::queue: the runs of a list are one task.
#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/process/forked_child.h"
#include "xrt/experimental/xrt_kernel.h"
#include "xrt/experimental/xrt_queue.h"

namespace xrt {

class runlist_impl {
 public:
  bool is_executed() const {
    return result.valid() && result.wait_for(std::chrono::seconds(0)) != std::future_status::ready;
  }

  std::vector<run> runs;
  std::shared_future<void> result;  // of the last execution; not valid before the first
  queue worker;                     // destroyed first, since its task uses copies of the runs
};

namespace {

runlist_impl& list_of(const std::shared_ptr<runlist_impl>& impl) {
  if (impl == nullptr) throw std::invalid_argument("xrt::runlist: the list is empty");
  return *impl;
}

runlist_impl& idle_list_of(const std::shared_ptr<runlist_impl>& impl) {
  if (list_of(impl).is_executed())
    throw std::invalid_argument("xrt::runlist: the list is still executed: call wait() first");
  return *impl;
}

void execute_run(run& each, size_t index) {
  ert_cmd_state state = ERT_CMD_STATE_ERROR;
  std::string reason = "the log says why";
  try {
    each.start();
    state = each.wait();
  } catch (const std::exception& error) {
    reason = error.what();
  }
  if (state != ERT_CMD_STATE_COMPLETED)
    throw runlist::command_error(each, state,
                                 fmt::format("xrt::runlist: run {} failed: {}", index, reason));
}

}  // namespace

runlist::command_error::command_error(const xrt::run& run, ert_cmd_state state,
                                      const std::string& what)
    : run_(run), state_(state), what_(std::make_shared<const std::string>(what)) {}

const char* runlist::command_error::what() const noexcept {
  return what_->c_str();
}

runlist::runlist(const hw_context& context) {
  if (!context) throw std::invalid_argument("xrt::runlist: the context is empty");
  impl_ = std::make_shared<runlist_impl>();
}

void runlist::add(const run& run) {
  if (!run) throw std::invalid_argument("xrt::runlist: the run is empty");
  idle_list_of(impl_).runs.push_back(run);
}

void runlist::execute() {
  runlist_impl& impl = idle_list_of(impl_);
  impl.result = impl.worker.enqueue([runs = impl.runs]() mutable {
    for (size_t i = 0; i < runs.size(); ++i) execute_run(runs[i], i);
  });
}

std::cv_status runlist::wait(const std::chrono::milliseconds& timeout) const {
  const runlist_impl& impl = list_of(impl_);
  if (!impl.result.valid()) return std::cv_status::no_timeout;
  // The thread that executes the list does not exist in a forked child.
  if (impl.is_executed() && millrace::is_forked_child())
    throw std::runtime_error(millrace::forked_status().message());
  const auto limit = std::min<std::chrono::milliseconds>(timeout, millrace::kLongestWait);
  if (limit.count() > 0 && impl.result.wait_for(limit) != std::future_status::ready)
    return std::cv_status::timeout;
  impl.result.get();
  return std::cv_status::no_timeout;
}

ert_cmd_state runlist::state() const {
  const runlist_impl& impl = list_of(impl_);
  if (impl.is_executed())
    return millrace::is_forked_child() ? ERT_CMD_STATE_ERROR : ERT_CMD_STATE_RUNNING;
  if (!impl.result.valid()) return impl.runs.empty() ? ERT_CMD_STATE_COMPLETED : ERT_CMD_STATE_NEW;
  try {
    impl.result.get();
    return ERT_CMD_STATE_COMPLETED;
  } catch (const command_error& error) {
    return error.get_command_state();
  }
}

int runlist::poll() const {
  if (state() == ERT_CMD_STATE_RUNNING) return 0;
  wait();
  return 1;
}

void runlist::reset() {
  runlist_impl& impl = idle_list_of(impl_);
  impl.runs.clear();
  impl.result = {};
}

}  // namespace xrt
