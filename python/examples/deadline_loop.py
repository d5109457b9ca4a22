"""A loop that takes a picture every few milliseconds and never falls behind.

Each job has a deadline, and a unit of two places drops the oldest picture for a newer one.

    python3 python/examples/deadline_loop.py glyphs.rai
    MILLRACE_FAULTS=slow=30ms python3 python/examples/deadline_loop.py glyphs.rai
"""

import sys
import time
from collections import Counter

import numpy as np

import millrace

PERIOD = 0.005  # seconds between two pictures
DEADLINE = 0.05  # seconds after which a result is of no use


def main(archive: str, pictures: int = 100) -> None:
    model = millrace.load(archive)
    unit = millrace.Unit(model, depth=2, when_full="drop_oldest", watchdog=10.0, auto_reset=True)
    random = np.random.default_rng(1)
    jobs = []
    outcomes: Counter[str] = Counter()
    for _ in range(pictures):
        picture = random.random(model.inputs[0].shape, np.float32)
        try:
            jobs.append(unit.submit(model, picture, deadline=DEADLINE))
        except millrace.QueueFull:  # all jobs have started, so none can be dropped
            outcomes["QUEUE_FULL"] += 1
        time.sleep(PERIOD)
    millrace.wait_all(jobs)
    outcomes.update(job.status for job in jobs)
    print(", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())))


if __name__ == "__main__":
    main(sys.argv[1])
