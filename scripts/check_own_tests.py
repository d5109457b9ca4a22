#!/usr/bin/env python3
"""Runs our own test programs with the hazard checker (MILLRACE_CHECK), one at a time. Some make mistakes on purpose, as
two jobs with one output: scripts/deliberate-hazards.txt lists these programs and cases with the kinds of their hazards,
and the cases that the checker's lines in the log disturb, which are left out. Any other finding is a false report: it
is printed, and the script fails.

usage: check_own_tests.py [BUILD_FOLDER [PROGRAM...]]    build/release and all programs below, unless stated"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "scripts/deliberate-hazards.txt"
# These programs open devices as users' programs do. Tests of the checker itself are left out.
PROGRAMS = ["api_test", "both_faces_test", "device_cpu_models_test", "dynamic_models_test", "e2e_test",
            "every_face_test", "nrt_calls_test", "nrt_forms_test", "nrt_test", "nrt_trace_test", "vart_partitions_test",
            "vart_test", "vartx_test", "xrt_test"]
LIMIT_S = 180
MOST_SHOWN = 20
# A frame of a test's body is "millrace::...::Suite_Case_Test::TestBody() (program+0x12)".
BODY = re.compile(r"(\w+)_Test(?:<.*?>)?::TestBody\(\)")


def case_of(finding):
    """The test case that has made a call of the finding; "?" if it was made on another thread."""
    for place in finding["places"]:
        for call in place["stack"]:
            if found := BODY.search(call):
                return found[1]
    return "?"


def deliberate():
    """Pairs of a program or a case and a hazard, and the cases that are left out."""
    lines = [line.split("#")[0].split() for line in LIST.read_text().splitlines()]
    pairs = {(words[0], hazard) for words in lines if words for hazard in words[1:]}
    return {pair for pair in pairs if pair[0] != "without"}, [case for subject, case in pairs if subject == "without"]


def findings_of(program, left_out):
    """Runs a program in two processes, as ctest does; returns whether it succeeded, its findings, and the names of what
    failed."""
    succeeded, findings, failures = True, [], []
    with tempfile.TemporaryDirectory() as folder:
        # How long a callback takes depends on the machine.
        environment = os.environ | {"MILLRACE_CHECK": folder + "/%p.json", "MILLRACE_CHECK_CALLBACK_MS": "60000",
                                    "GTEST_TOTAL_SHARDS": "2"}
        for shard in ("0", "1"):
            try:
                run = subprocess.run([program, "--gtest_brief=1", "--gtest_filter=-" + ":".join(left_out)],
                                     env=environment | {"GTEST_SHARD_INDEX": shard}, cwd=program.parent,
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                     text=True, errors="replace", timeout=LIMIT_S)
                succeeded &= run.returncode == 0
                failures += [line for line in run.stdout.splitlines() if line.startswith("[  FAILED  ]")]
                if run.returncode < 0:
                    failures.append(f"ended by signal {-run.returncode}")
            except subprocess.TimeoutExpired:
                succeeded = False
                failures.append(f"it takes longer than {LIMIT_S} s")
        for path in sorted(pathlib.Path(folder).glob("*.json")):
            lines = map(json.loads, path.read_text(errors="replace").splitlines())
            findings += [line for line in lines if "hazard" in line]
    return succeeded, findings, "\n".join(failures)


def main():
    build = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build/release").resolve()
    sys.stdout.reconfigure(line_buffering=True)
    known, left_out = deliberate()
    false, failed, seen = 0, 0, 0
    programs = sys.argv[2:] or PROGRAMS
    for name in programs:
        succeeded, findings, output = findings_of(build / "tests" / name, left_out)
        if not succeeded:
            failed += 1
            print(f"{name}: failed under the checker:\n{output}")
        for finding in findings:
            case = case_of(finding)
            if {(case, finding["hazard"]), (name, finding["hazard"])} & known:
                seen += 1
                continue
            false += 1
            if false <= MOST_SHOWN:
                print(f"{name}: {case} {finding['hazard']}: {finding['message']}")
    print(f"{len(programs)} test programs under the checker: {false} false reports, {seen} of deliberate mistakes, "
          f"{failed} programs failed")
    return 0 if false == 0 and failed == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
