// By the memory that they use, the book knows which jobs in flight disturb each other.
#include "check/job_book.h"

#include <gtest/gtest.h>

namespace millrace::check {
namespace {

constexpr bool kInput = false, kOutput = true;

struct Range {
  bool is_output;
  uintptr_t address;
  size_t bytes;
};

class JobBookTest : public testing::Test {
 protected:
  // Adds a job, and returns how many conflicts it has.
  size_t add(uint16_t unit, uint64_t number, std::vector<Range> ranges, bool in_order = true) {
    last_ = std::make_shared<WatchedJob>();
    last_->id = queue::sequence_of(unit, number);
    last_->traits.in_order_of_unit = in_order;
    for (const Range& range : ranges) {
      Use use;
      use.is_output = range.is_output;
      use.place.address = range.address;
      use.place.bytes = range.bytes;
      last_->uses.push_back(use);
    }
    return book_.add(last_).size();
  }

  JobBook book_;
  JobPointer last_;
};

TEST_F(JobBookTest, FindsTwoWritersOfTheSameMemory) {
  EXPECT_EQ(add(1, 1, {{kOutput, 1000, 100}}), 0u);
  EXPECT_EQ(add(1, 2, {{kOutput, 1100, 100}}), 0u) << "beside it";
  EXPECT_EQ(add(1, 3, {{kOutput, 1050, 0}}), 0u) << "no bytes";
  EXPECT_EQ(add(1, 4, {{kOutput, 1099, 1}}), 1u);
}

TEST_F(JobBookTest, ForgetsJobsThatHaveCompleted) {
  add(1, 1, {{kOutput, 1000, 100}});
  EXPECT_NE(book_.complete(queue::sequence_of(1, 1)), nullptr);
  EXPECT_EQ(book_.complete(queue::sequence_of(1, 1)), nullptr);
  EXPECT_EQ(add(1, 2, {{kOutput, 1000, 100}}), 0u);
}

TEST_F(JobBookTest, LetsJobsReadTheSameMemory) {
  add(1, 1, {{kInput, 1000, 100}});
  EXPECT_EQ(add(2, 1, {{kInput, 1000, 100}}), 0u);
  EXPECT_FALSE(last_->uses[0].may_change);
}

TEST_F(JobBookTest, LetsAUnitPassResultsOnInItsOrder) {
  add(1, 1, {{kInput, 1000, 100}, {kOutput, 2000, 100}});
  EXPECT_EQ(add(1, 2, {{kInput, 2000, 100}, {kOutput, 3000, 100}}), 0u);
  EXPECT_TRUE(last_->uses[0].may_change) << "the first job will write it";
  EXPECT_EQ(add(1, 3, {{kInput, 1000, 100}, {kOutput, 2000, 100}}), 0u)
      << "the second job has read it before";
}

TEST_F(JobBookTest, FindsReadersWithoutAnOrder) {
  add(1, 1, {{kOutput, 1000, 100}});
  EXPECT_EQ(add(2, 1, {{kInput, 1000, 100}}), 1u) << "another unit";
  add(3, 1, {{kInput, 5000, 100}}, false);
  const JobPointer reader = last_;
  EXPECT_EQ(add(3, 2, {{kOutput, 5000, 100}}, false), 1u) << "a unit whose order is not known";
  EXPECT_TRUE(reader->uses[0].may_change);
}

TEST_F(JobBookTest, LetsAJobWriteItsOwnInput) {
  EXPECT_EQ(add(1, 1, {{kInput, 1000, 100}, {kOutput, 1000, 100}}), 0u);
  EXPECT_TRUE(last_->uses[0].may_change);
}

TEST_F(JobBookTest, KnowsWhatNobodyHasAskedFor) {
  for (uint64_t number = 1; number <= 4; ++number) add(1, number, {});
  book_.complete(queue::sequence_of(1, 1));
  book_.complete(queue::sequence_of(1, 2));
  EXPECT_EQ(book_.never_asked().size(), 4u);
  book_.note_asked(queue::sequence_of(1, 2));
  EXPECT_EQ(book_.never_asked().size(), 3u);
  book_.note_asked_up_to(queue::sequence_of(1, 3));
  ASSERT_EQ(book_.never_asked().size(), 1u);
  EXPECT_EQ(book_.never_asked()[0]->id, queue::sequence_of(1, 4));
  book_.note_unit_asked(1);
  EXPECT_TRUE(book_.never_asked().empty());
}

TEST_F(JobBookTest, KeepsABoundedNumber) {
  for (uint64_t number = 1; number <= JobBook::kMostUnasked + 10; ++number) {
    add(1, number, {});
    book_.complete(queue::sequence_of(1, number));
  }
  const std::vector<JobPointer> jobs = book_.never_asked();
  ASSERT_EQ(jobs.size(), JobBook::kMostUnasked);
  EXPECT_EQ(queue::counter_of(jobs[0]->id), 11u) << "the oldest are dropped";
}

}  // namespace
}  // namespace millrace::check
