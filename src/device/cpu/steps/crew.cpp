#include "device/cpu/steps/crew.h"

#include <stop_token>
#include <system_error>
#include <thread>
#include <vector>

#include "queue/lanes/team.h"

namespace millrace::device::cpu {

// The threads poll for chunks, as lanes do between the operators of a job.
class Crew::Helpers {
 public:
  // With the leader, who is the first.
  explicit Helpers(uint32_t threads) : sleepers_(threads), team_(sleepers_, threads, threads - 1) {
    for (uint32_t lane = 1; lane < threads; ++lane) {
      try {
        threads_.emplace_back([this, lane](const std::stop_token& stop) {
          while (!stop.stop_requested()) {
            team_.help(lane, [] { return false; });
            std::this_thread::yield();
          }
        });
      } catch (const std::system_error&) {
        return;
      }
    }
  }

  queue::Team& team() noexcept { return team_; }

 private:
  queue::Sleepers sleepers_;
  queue::Team team_;
  std::vector<std::jthread> threads_;  // the last member: they end before the team
};

Crew::Crew() : openmp_(std::make_unique<OpenMpThreads>()) {
  control_.begin(1, 0, kNoDeadline);
}

Crew::~Crew() = default;

void Crew::set(uint32_t threads) {
  if (threads == threads_) return openmp_->set(threads);
  openmp_.reset();
  helpers_.reset();
  threads_ = threads;
  openmp_ = std::make_unique<OpenMpThreads>();
  if (threads > 1) helpers_ = std::make_unique<Helpers>(threads);
  control_.set_team(helpers_ ? &helpers_->team() : nullptr);
  if (helpers_) openmp_->lead(helpers_->team(), 0, threads - 1);
  openmp_->set(threads);
}

}  // namespace millrace::device::cpu
