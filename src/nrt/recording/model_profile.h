// ModelProfile: records the executions of one model, with their operators, as a Chrome trace.
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

  // A Chrome trace: a track with the executions, and one with what each of them consists of.
  std::string text() const;

 private:
  // When there are more marks in all, the oldest executions are dropped.
  static constexpr size_t kMostMarks = 1 << 20;

  struct Execution {
    Span span;
    std::vector<StepMark> marks;
  };
  bool is_of(const Model& model) const noexcept { return &model == address_; }
  std::string name_of_step(uint32_t step) const;

  // Does not keep the model, but keeps its address from being used for another one.
  const std::weak_ptr<const Model> model_;
  const Model* const address_;
  const std::string name_;
  std::vector<std::string> step_names_;

  mutable std::mutex mutex_;
  std::deque<Execution> executions_;
  size_t marks_ = 0;
};

}  // namespace millrace::nrt::trace
