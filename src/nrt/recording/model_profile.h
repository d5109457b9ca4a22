// ModelProfile: a listener that records the executions of one model, with the time of each
// operator, and formats them as a Chrome trace. Thread-safe.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nrt/objects/model.h"
#include "nrt/trace/tap.h"

namespace millrace::nrt::trace {

class ModelProfile final : public Listener {
 public:
  explicit ModelProfile(const std::shared_ptr<const Model>& model);

  size_t wanted_steps(const Model& model) const noexcept override;
  void on_span(const Span& span) noexcept override;

  // Returns a Chrome trace with one track of executions and one of their operators.
  std::string text() const;

 private:
  // Limit for the marks of all executions together. In excess of it the oldest executions are
  // dropped.
  static constexpr size_t kMostMarks = 1 << 20;

  struct Execution {
    Span span;
    std::vector<StepMark> marks;
  };
  bool is_of(const Model& model) const noexcept { return &model == address_; }
  std::string name_of_step(uint32_t step) const;

  // The weak reference does not keep the model loaded. It does keep the model's memory allocated
  // (std::make_shared), so that address_ cannot become the address of another model.
  const std::weak_ptr<const Model> model_;
  const Model* const address_;
  const std::string name_;
  std::vector<std::string> step_names_;

  mutable std::mutex mutex_;
  std::deque<Execution> executions_;
  size_t marks_ = 0;
};

}  // namespace millrace::nrt::trace
