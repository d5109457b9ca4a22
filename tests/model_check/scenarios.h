// The scenarios that are explored: who meets whom at a unit. Units are of depth 2 where nothing
// else is said; their cells are four, as few as a ring of depth 1 or 2 can have.
#pragma once

#include <cstdint>
#include <memory>

#include "tests/model_check/explore/scenario.h"
#include "tests/model_check/small_unit.h"

namespace millrace::model_check {

using explore::Scenario;

// A deadline in the past: passes whenever the exploration wants it to.
inline constexpr Deadline kSoon{};

template <class Sync = explore::ShimSync>
std::shared_ptr<SmallUnit<Sync>> make_unit(uint32_t depth, Plant plant = Plant::kNone) {
  return std::make_shared<SmallUnit<Sync>>(depth, plant);
}

// The lane runs what the submitter submits, more requests than there are cells.
template <class Sync = explore::ShimSync>
Scenario submitter_and_lane(uint32_t depth, uint32_t requests, Plant plant = Plant::kNone) {
  auto unit = make_unit<Sync>(depth, plant);
  return {{{"submitter", [=] { unit->submit(requests); }},
           {"lane", [=] { unit->run_through(requests); }}},
          [=] { unit->check_end(); }};
}

// The owner runs requests of its own, in turn with those of a submitter.
inline Scenario caller_and_submitter(uint64_t each, Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  return {{{"caller",
            [=] {
              for (uint64_t done = 0; done < each;)
                if (unit->execute() != 0)
                  ++done;
                else
                  unit->run_through(unit->issued());
              unit->run_through(2 * each);
            }},
           {"submitter", [=] { unit->submit(static_cast<uint32_t>(each)); }}},
          [=] { unit->check_end(); }};
}

inline Scenario two_submitters_and_lane(uint32_t depth, uint32_t each) {
  auto unit = make_unit(depth);
  return {{{"submitter", [=] { unit->submit(each); }},
           {"other submitter",
            [=] {
              for (uint32_t i = 0; i < each; ++i) unit->submit();
            }},
           {"lane", [=] { unit->run_through(2 * each); }}},
          [=] { unit->check_end(); }};
}

// A thread asks whether there is room while another one takes one of two places.
inline Scenario submitter_and_asker() {
  auto unit = make_unit(2);
  return {{{"submitter", [=] { unit->try_submit(); }},
           {"asker",
            [=] {
              explore::require(unit->has_room(), "a place is free, and there seems to be no room");
            }}},
          [=] {
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// Submits requests and removes them at once, so that the cells are used again and again behind a
// request that does not end.
inline void submit_and_cancel(SmallUnit<>& unit, uint64_t times) {
  for (uint64_t i = 0; i < times; ++i)
    if (const uint64_t counter = unit.try_submit()) unit.cancel(counter);
}

// A submitter stops between claim and publish while the other cells are used.
inline Scenario slow_submitter_and_removals() {
  auto unit = make_unit(2);
  return {{{"slow submitter", [=] { unit->try_submit(); }},
           {"submitter and canceller", [=] { submit_and_cancel(*unit, unit->cell_count()); }}},
          [=] {
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// A canceller stops anywhere while the other cells are used.
inline Scenario slow_canceller_and_removals(Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  unit->start_head();
  return {{{"slow canceller", [=] { unit->cancel(2); }},
           {"submitter and canceller", [=] { submit_and_cancel(*unit, unit->cell_count()); }}},
          [=] {
            unit->end_head();
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// A lane stops anywhere between two requests while the other cells are used.
inline Scenario slow_lane_and_removals(Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  unit->start_head();
  return {{{"lane",
            [=] {
              unit->end_head();
              unit->run_through(2);
            }},
           {"submitter and canceller", [=] { submit_and_cancel(*unit, unit->cell_count()); }}},
          [=] {
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// Places are free, but the next cell is that of a request which waits: a new request is accepted as
// soon as that one starts, however long it runs.
inline Scenario lane_and_submitter_without_cell(Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit();
  submit_and_cancel(*unit, unit->cell_count() - 1);
  return {{{"lane", [=] { unit->start_head(); }}, {"submitter", [=] { unit->submit(); }}}, [=] {
            unit->end_head();
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// The same where the next cell is that of a request which is removed.
inline Scenario canceller_and_submitter_without_cell(Plant plant = Plant::kNone) {
  auto unit = make_unit(3, plant);
  unit->submit();
  unit->start_head();
  unit->submit();
  submit_and_cancel(*unit, unit->cell_count() - 1);
  return {{{"canceller", [=] { unit->cancel(2); }}, {"submitter", [=] { unit->submit(); }}}, [=] {
            unit->end_head();
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

// The lane wants the same request as a canceller.
inline Scenario lane_and_canceller(uint64_t removed, Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(2); }}, {"canceller", [=] { unit->cancel(removed); }}},
          [=] { unit->check_end(); }};
}

inline Scenario lane_and_two_cancellers(uint64_t one, uint64_t other) {
  auto unit = make_unit(2);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(2); }},
           {"canceller", [=] { unit->cancel(one); }},
           {"other canceller", [=] { unit->cancel(other); }}},
          [=] { unit->check_end(); }};
}

inline Scenario lane_and_canceller_and_submitter() {
  auto unit = make_unit(2);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(4); }},
           {"canceller", [=] { unit->cancel(2); }},
           {"submitter", [=] { unit->submit(2); }}},
          [=] { unit->check_end(); }};
}

// A thread waits for the first or the second of two requests.
template <class Sync = explore::ShimSync>
Scenario lane_and_waiter(uint64_t waited, Deadline deadline, Plant plant = Plant::kNone) {
  auto unit = make_unit<Sync>(2, plant);
  unit->submit(2);
  return {
      {{"lane", [=] { unit->run_through(2); }}, {"waiter", [=] { unit->wait(waited, deadline); }}},
      [=] { unit->check_end(); }};
}

inline Scenario lane_and_two_waiters(uint64_t one, uint64_t other) {
  auto unit = make_unit(2);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(2); }},
           {"waiter", [=] { unit->wait(one); }},
           {"other waiter", [=] { unit->wait(other); }}},
          [=] { unit->check_end(); }};
}

inline Scenario submitter_and_lane_and_waiter(uint32_t depth) {
  auto unit = make_unit(depth);
  return {{{"submitter", [=] { unit->submit(2); }},
           {"lane", [=] { unit->run_through(2); }},
           {"waiter",
            [=] {
              explore::await([&] { return unit->issued() >= 1; });
              unit->wait(1);
            }}},
          [=] { unit->check_end(); }};
}

// A thread waits for a request that is removed behind one that runs.
inline Scenario canceller_and_waiter(Deadline deadline, Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  unit->start_head();
  return {{{"canceller", [=] { unit->cancel(2); }}, {"waiter", [=] { unit->wait(2, deadline); }}},
          [=] {
            unit->end_head();
            unit->run_through(2);
            unit->check_end();
          }};
}

inline Scenario lane_and_canceller_and_waiter(uint64_t waited) {
  auto unit = make_unit(2);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(2); }},
           {"canceller", [=] { unit->cancel(waited); }},
           {"waiter", [=] { unit->wait(waited); }}},
          [=] { unit->check_end(); }};
}

// A thread polls a request that other threads complete.
inline Scenario submitter_and_lane_and_poller(uint32_t depth) {
  auto unit = make_unit(depth);
  return {{{"submitter", [=] { unit->submit(2); }},
           {"lane", [=] { unit->run_through(2); }},
           {"poller", [=] { unit->poll(2, 2); }}},
          [=] { unit->check_end(); }};
}

// The request still runs when its cell is used again; then the next one starts.
inline Scenario lane_and_removals_and_poller() {
  auto unit = make_unit(2);
  unit->submit();
  unit->start_head();
  submit_and_cancel(*unit, unit->cell_count() - 1);
  const uint64_t last = unit->cell_count() + 1;
  return {{{"lane",
            [=] {
              unit->end_head();
              unit->run_through(last);
            }},
           {"submitter", [=] { unit->submit(); }},
           {"poller", [=] { unit->poll(1, 2); }}},
          [=] { unit->check_end(); }};
}

// The same where the request was never in its cell.
inline Scenario caller_and_removals_and_poller() {
  auto unit = make_unit(2);
  return {{{"caller", [=] { unit->execute(); }},
           {"submitter and canceller", [=] { submit_and_cancel(*unit, unit->cell_count()); }},
           {"poller", [=] { unit->poll(1, 2); }}},
          [=] {
            unit->run_through(unit->issued());
            unit->check_end();
          }};
}

inline Scenario canceller_and_poller(Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  unit->start_head();
  return {{{"submitter and canceller",
            [=] {
              for (uint64_t counter = 2; counter <= 6; ++counter) {
                unit->cancel(counter);
                unit->submit();
              }
            }},
           {"poller", [=] { unit->poll(2, 3); }}},
          [=] {
            unit->end_head();
            unit->run_through(7);
            unit->check_end();
          }};
}

// A watchdog takes the unit from a lane whose request may be about to end.
inline Scenario lane_and_watchdog(Plant plant = Plant::kNone) {
  auto unit = make_unit(2, plant);
  unit->submit(2);
  return {{{"lane", [=] { unit->run_through(2); }},
           {"watchdog",
            [=] {
              explore::await([&] { return unit->running() != 0 || unit->done() == 2; });
              if (unit->give_up()) unit->run_through(2, 1);
            }}},
          [=] { unit->check_end(); }};
}

inline Scenario lane_and_watchdog_and_waiter() {
  auto unit = make_unit(1);
  unit->submit();
  return {{{"lane", [=] { unit->run_through(1); }},
           {"watchdog",
            [=] {
              explore::await([&] { return unit->running() != 0 || unit->done() == 1; });
              unit->give_up();
            }},
           {"waiter", [=] { unit->wait(1); }}},
          [=] { unit->check_end(); }};
}

inline Scenario submitter_and_closer_and_canceller() {
  auto unit = make_unit(2);
  unit->submit();
  return {{{"submitter",
            [=] {
              unit->try_submit();
              unit->try_submit();
            }},
           {"closer", [=] { unit->close(); }},
           {"canceller", [=] { unit->cancel(1); }}},
          [=] {
            explore::require(unit->try_submit() == 0, "a closed unit accepts a request");
            unit->check_end();
          }};
}

}  // namespace millrace::model_check
