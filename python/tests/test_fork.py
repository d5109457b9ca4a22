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
model(x)
child = os.fork()
if child == 0:
    failures = 0
    for call in (
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
    sys.exit(0 if failures == 5 else failures + 1)
_, status = os.waitpid(child, 0)
job.result()
sys.exit(os.waitstatus_to_exitcode(status))
"""


def test_calls_in_a_forked_child_are_errors(relu_archive):
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(relu_archive)], timeout=60)
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
