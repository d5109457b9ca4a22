#!/usr/bin/env python3
"""Compares `millrace simulate` with a program that really runs at the same pace: prints jobs per second and the 99th
percentile of both at several loads, with their ratios. Exit status 1 where a ratio is off by more than the limit.

usage: compare-simulation.py [BUILD] [options]"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "models/glyphs/glyphs.onnx"


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default=ROOT / "build/release", type=pathlib.Path)
    parser.add_argument("--mean", default=5.0, type=float, help="mean time of a job in ms (default %(default)s)")
    parser.add_argument("--p99", default=9.0, type=float, help="99th percentile in ms (default %(default)s)")
    parser.add_argument("--lanes", default=2, type=int, help="jobs that run at a time (default %(default)s)")
    parser.add_argument("--loads", default=[50, 70, 87], type=int, nargs="+", metavar="PERCENT",
                        help="shares of what the lanes can do (default 50 70 87)")
    parser.add_argument("-n", "--jobs", default=3000, type=int, help="jobs of each load (default %(default)s)")
    parser.add_argument("--limit", default=10.0, type=float, help="the greatest difference in %% (default %(default)s)")
    return parser.parse_args()


def output_of(tool, *words, **environment):
    command = [tool, *map(str, words)]
    run = subprocess.run(["env", *(f"{name}={value}" for name, value in environment.items()), *command],
                         capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {run.stderr}")
    return run.stdout


def main():
    arguments = parse_arguments()
    tool = arguments.build / "bin/millrace"
    worst = 0.0
    print("load   jobs/s simulated  measured  ratio   p99 simulated  measured   ratio")
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "pace.json"
        output_of(tool, "pace", "--time", f"*={arguments.mean}ms,{arguments.p99}ms", "--lanes", arguments.lanes,
                  "-o", profile)
        for load in arguments.loads:
            rate = load / 100 * arguments.lanes / arguments.mean * 1000
            common = ["--qps", f"{rate:.6g}", "-n", arguments.jobs, "--json"]
            simulated = json.loads(output_of(tool, "simulate", profile, *common))["runs"][0]
            measured = json.loads(output_of(tool, "bench", MODEL, "--device", "null", "--scenario", "server",
                                            "--warmup", 0, *common, MILLRACE_PACE=profile))
            rates = simulated["per_second"], measured["jobs"] / measured["seconds"]
            tails = simulated["latency_ms"]["p99"], measured["latency_ms"]["p99"]
            ratios = [real / predicted for predicted, real in (rates, tails)]
            worst = max(worst, *(abs(ratio - 1) for ratio in ratios))
            print(f"{load:3} % {rates[0]:17.1f} {rates[1]:9.1f} {ratios[0]:6.3f} {tails[0]:12.2f} ms "
                  f"{tails[1]:6.2f} ms {ratios[1]:7.3f}", flush=True)
    print(f"the greatest difference is {worst * 100:.1f} %")
    return 1 if worst * 100 > arguments.limit else 0


if __name__ == "__main__":
    sys.exit(main())
