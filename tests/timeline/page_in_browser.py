#!/usr/bin/env python3
"""Opens pages of traces in headless Chromium, and reads what they show: the numbers of jobs and lanes, and the colours
of places on the canvas. Skipped (77) where there is no Chromium; Debian's package is `chromium`.

usage: page_in_browser.py MILLRACE_TOOL MODEL"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOL, MODEL = sys.argv[1:3]
TRACE = re.compile(r'(<script type="application/json" id="trace">)(.*?)(</script>)', re.DOTALL)
HOST, LANES, UNITS = 1, 2, 3  # processes of a trace
FRAMES = 40

# Writes the colour of each place that a test asks for into the title, which --dump-dom shows.
PROBE = """<script>
document.title = JSON.stringify(PLACES.map(([row, time]) => {
  const line = lines.find((line) => (line.row || line.counter || {}).name === row);
  const scale = window.devicePixelRatio || 1;
  const pixel = canvas.getContext("2d")
      .getImageData(toX(time) * scale, (line.top + kRow - 5) * scale, 1, 1).data;
  return [...pixel].join(" ");
}));
</script>"""


def opened(page):
    """The document of the page after its script has run; an error of the script fails the test."""
    browser = shutil.which("chromium")
    options = ["--headless=new", "--disable-gpu", "--window-size=1280,700", "--force-device-scale-factor=1",
               "--enable-logging=stderr", f"--user-data-dir={page.parent / 'profile'}"]
    if os.geteuid() == 0:
        options.append("--no-sandbox")  # Chromium refuses to start as root with it
    run = subprocess.run([browser, *options, "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    errors = [line for line in run.stderr.splitlines() if "CONSOLE" in line and "Uncaught" in line]
    assert run.returncode == 0 and not errors, errors or run.stderr
    return run.stdout


def table(document, name):
    """The rows of a table, without its heads."""
    text = re.search(rf'<table id="{name}">(.*?)</table>', document, re.DOTALL)[1]
    rows = re.findall(r"<tr.*?</tr>", text, re.DOTALL)
    return [cells for row in rows if (cells := re.findall(r"<td.*?>(.*?)</td>", row))]


def trace_of_jobs(lanes, jobs, phases, microseconds):
    """The trace of jobs without a gap, each with its submit and phases, and with one unit for each lane."""
    events = []
    for lane in range(lanes):
        events.append({"ph": "M", "name": "thread_name", "pid": LANES, "tid": lane, "args": {"name": f"lane {lane}"}})
        events.append({"ph": "M", "name": "thread_name", "pid": UNITS, "tid": lane, "args": {"name": f"unit {lane}"}})
    for number in range(jobs):
        lane, begin = number % lanes, number // lanes * microseconds
        name = f"{lane}:{number // lanes + 1}"
        events.append({"ph": "X", "name": "submit " + name, "cat": "submit", "pid": HOST, "tid": 1, "ts": begin,
                       "dur": 0.001, "args": {"job": name, "unit": lane}})
        events.append({"ph": "X", "name": "job " + name, "cat": "job", "pid": LANES, "tid": lane, "ts": begin + 1,
                       "dur": microseconds - 1, "args": {"job": name, "unit": lane, "status": "OK"}})
        for phase in range(phases):
            length = (microseconds - 1) / phases
            events.append({"ph": "X", "name": f"Conv_{phase} (Conv)", "cat": "phase", "pid": LANES, "tid": lane,
                           "ts": begin + 1 + phase * length, "dur": length, "args": {"job": name}})
        for time, waiting in ((begin, 1), (begin + 1, 0)):
            events.append({"ph": "C", "name": f"unit {lane} waiting", "pid": UNITS, "tid": lane, "ts": time,
                           "args": {"jobs": waiting}})
    return {"traceEvents": events, "otherData": {"dropped_events": 0}}


class PageInBrowser(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.page = cls.folder / "trace.html"
        program = [TOOL, "bench", MODEL, "--scenario", "offline", "--in-flight", "4", "--lanes", "2", "-n", str(FRAMES)]
        subprocess.run([TOOL, "trace", "-o", cls.page, "--", *program], check=True, capture_output=True, timeout=120)

    def page_with(self, trace, places=()):
        text = TRACE.sub(lambda found: found[1] + json.dumps(trace) + found[3], self.page.read_text())
        page = self.folder / "other.html"
        page.write_text(text.replace("</body>", PROBE.replace("PLACES", json.dumps(places)) + "</body>"))
        return page

    def test_the_tables_have_the_jobs_and_the_lanes_of_the_trace(self):
        events = json.loads(TRACE.search(self.page.read_text())[2])["traceEvents"]
        jobs = collections.Counter(event["tid"] for event in events if event.get("cat") == "job")
        self.assertGreaterEqual(sum(jobs.values()), FRAMES)
        document = opened(self.page)
        totals = dict(table(document, "totals"))
        self.assertEqual(totals["jobs that ran"], str(sum(jobs.values())))
        self.assertEqual(totals["of them failed"], "0")
        self.assertEqual(totals["lanes"], str(len(jobs)))
        self.assertEqual(sorted(int(row[1]) for row in table(document, "lanes")), sorted(jobs.values()))
        self.assertEqual(len(table(document, "slowest")), 20)

    def test_a_hundred_thousand_events_are_shown(self):
        trace = trace_of_jobs(lanes=4, jobs=12_000, phases=5, microseconds=50)
        self.assertGreater(len(trace["traceEvents"]), 100_000)
        document = opened(self.page_with(trace, [["lane 3", 60_000]]))
        self.assertEqual(dict(table(document, "totals"))["jobs that ran"], "12000")
        self.assertEqual([row[1] for row in table(document, "lanes")], ["3000"] * 4)
        phases = {row[0]: row[1] for row in table(document, "operators")}
        self.assertEqual(phases, {f"Conv_{phase} (Conv)": "12000" for phase in range(5)})

    def test_lanes_have_colours_while_they_run_jobs_and_units_while_jobs_wait(self):
        # Three jobs of 1000 us. The second one waits for 500 us, the others for less than a pixel.
        trace = trace_of_jobs(lanes=1, jobs=3, phases=0, microseconds=1000)
        trace["traceEvents"][-5]["ts"] = 1500
        trace["traceEvents"].append({"ph": "X", "name": "wait 0:3", "cat": "wait", "pid": HOST, "tid": 1, "ts": 2000,
                                     "dur": 2500, "args": {"job": "0:3"}})
        # Between the lines of the scale.
        places = [["lane 0", 620], ["lane 0", 4130], ["unit 0", 620], ["unit 0", 1230], ["unit 0", 4130]]
        document = opened(self.page_with(trace, places))
        busy, idle, none, waits, none_later = json.loads(re.search("<title>(.*?)</title>", document)[1].replace(
            "&quot;", '"'))
        self.assertNotEqual(busy, idle)
        self.assertNotEqual(waits, none)
        self.assertEqual(none_later, none)


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: there is no chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
