"""A child of fork gets errors, and neither hangs nor crashes."""

import os
import subprocess
import sys

PROGRAM = """
import os, sys
import numpy as np
import millrace

model = millrace.load(sys.argv[1])
x = np.zeros((1, 8), np.float32)
job = model.submit(x)
job.add_done_callback(lambda job: None)
model(x)
child = os.fork()
if child == 0:
    failures = 0
    for call in (
        lambda: job.add_done_callback(print),
        lambda: model(x),
        lambda: model.submit(x),
        lambda: millrace.load(sys.argv[1]),
        lambda: millrace.Unit(model),
        lambda: millrace.Unit("null"),
    ):
        try:
            call()
        except millrace.Forked as error:
            failures += error.code == "FORKED"
    sys.exit(0 if failures == 6 else failures + 1)
_, status = os.waitpid(child, 0)
job.result()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_calls_in_a_forked_child_are_errors(relu_archive):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(relu_archive)], timeout=60)
    assert done.returncode == 0


FORKING_THREAD = """
import os, signal, sys, threading
import numpy as np
import millrace

def fork():
    child = os.fork()
    if child == 0:
        model = millrace.load(sys.argv[1])
        unit = millrace.Unit(model)
        job = unit.submit(model, np.zeros((1, 8), np.float32))
        threading.Timer(0.1, signal.pthread_kill, (threading.get_ident(), signal.SIGINT)).start()
        try:
            unit.close()
        except KeyboardInterrupt:
            os._exit(0 if job.cancel(timeout=30) else 2)
        os._exit(1)
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

codes = []
thread = threading.Thread(target=fork)
thread.start()
thread.join()
sys.exit(codes[0])
"""


def test_the_thread_that_forks_is_the_main_thread_of_the_child(relu_archive):
    """So signals end its waits."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING_THREAD, str(relu_archive)],
        timeout=60,
        env={**os.environ, "MILLRACE_FAULTS": "slow=30s"},
    )
    assert done.returncode == 0


def test_a_child_of_a_process_that_has_not_used_millrace_may(relu_archive):
    program = (
        "import os, sys, numpy as np, millrace\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    millrace.load(sys.argv[1])(np.zeros((1, 8), np.float32))\n"
        "    sys.exit(0)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(relu_archive)], timeout=60, env=os.environ
    )
    assert done.returncode == 0
