// Path: the decisions of one execution. Taken again it gives the same execution; advanced it gives
// the next one, depth first, until there is none. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace millrace::explore {

class Path {
 public:
  // The decision among options 0 to `options` - 1: the recorded one, or 0 beyond the record.
  int decide(int options) {
    if (options == 1) return 0;
    if (position_ == decisions_.size()) decisions_.push_back({static_cast<uint8_t>(options), 0});
    const Decision& decision = decisions_[position_++];
    if (decision.options != options) diverged_ = true;
    return decision.taken < options ? decision.taken : 0;
  }

  // Back to the first decision, with the last one changed that has options left; false if none has.
  bool advance() {
    position_ = 0;
    while (!decisions_.empty() && decisions_.back().taken + 1 == decisions_.back().options)
      decisions_.pop_back();
    if (decisions_.empty()) return false;
    ++decisions_.back().taken;
    return true;
  }

  // The scenario is not a function of the decisions alone: nothing that was found is worth
  // anything.
  bool diverged() const noexcept { return diverged_; }

 private:
  struct Decision {
    uint8_t options;
    uint8_t taken;
  };
  std::vector<Decision> decisions_;
  size_t position_ = 0;
  bool diverged_ = false;
};

}  // namespace millrace::explore
