// LaneBlocker: keeps every lane of a device busy, so that jobs of other units stay in their queues.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "device/registry.h"
#include "tests/queue/function_task.h"
#include "tests/support/gate.h"

namespace millrace::conformance {

class LaneBlocker {
 public:
  // Returns when all lanes are busy.
  explicit LaneBlocker(const std::string& device) : device_(device::open_device(device).value()) {
    const uint32_t lanes = device_->lanes().count();
    for (uint32_t lane = 0; lane < lanes; ++lane) {
      units_.push_back(queue::make_unit(device_->lanes(), 1));
      const auto id = queue::submit(*units_.back(), [gate = gate_] {
        gate->pass();
        return Status();
      });
      EXPECT_TRUE(id.ok()) << id.status().to_string();
    }
    gate_->await_arrivals(lanes);
  }
  ~LaneBlocker() { release(); }
  LaneBlocker(const LaneBlocker&) = delete;
  LaneBlocker& operator=(const LaneBlocker&) = delete;

  // Gives the lanes back; a second call does nothing.
  void release() { gate_->open(); }

 private:
  const std::shared_ptr<device::Device> device_;
  const std::shared_ptr<test::TaskGate> gate_ = std::make_shared<test::TaskGate>();
  std::vector<std::unique_ptr<queue::Unit>> units_;
};

}  // namespace millrace::conformance
