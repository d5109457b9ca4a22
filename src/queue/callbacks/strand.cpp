#include "queue/callbacks/strand.h"

#include <utility>

#include "base/process/forked_child.h"
#include "queue/callbacks/dispatcher_impl.h"

namespace millrace::queue {

Strand::Strand(std::string name, std::shared_ptr<Dispatcher> dispatcher)
    : dispatcher_(std::move(dispatcher)), state_(std::make_shared<State>(std::move(name))) {}

Strand::~Strand() {
  if (is_forked_child())
    never_destroy(state_);
  else
    dispatcher_->impl()->forget(*state_);
}

Status Strand::start() noexcept {
  return dispatcher_->impl()->start(*state_);
}

void Strand::post(PreparedCall call) noexcept {
  dispatcher_->impl()->post(state_, std::move(call));
}

void Strand::drain() {
  dispatcher_->impl()->drain(*state_);
}

bool Strand::runs_on_this_thread() const noexcept {
  return Dispatcher::Impl::runs_here(*state_);
}

}  // namespace millrace::queue
