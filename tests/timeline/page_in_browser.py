#!/usr/bin/env python3
"""Opens pages of traces in headless Chromium, and reads what they show: the numbers of jobs and lanes, and the colours
of places on the canvas. Skipped (77) where there is no Chromium; Debian's package is `chromium`.

usage: page_in_browser.py MILLRACE_TOOL MODEL"""
import base64
import collections
import html
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

TOOL, MODEL = sys.argv[1:3]
TRACE = re.compile(r'(<script type="application/json" id="trace">)(.*?)(</script>)', re.DOTALL)
HOST, LANES, UNITS, RANKS = 1, 2, 3, 4  # processes of a trace
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

# Saves the view in both formats, and writes what would be saved into the title. No file is written, and nothing is
# waited for.
SAVED = """<script>
const blobs = [], names = [];
window.Blob = class { constructor(parts, {type}) { this.text = parts.join(""); this.type = type; } };
canvas.toBlob = (done, type) => done({type, url: canvas.toDataURL(type)});
URL.createObjectURL = (blob) => { blobs.push(blob); return "blob:none"; };
HTMLAnchorElement.prototype.click = function() { names.push(this.download); };
setRange(0, 500);
for (const id of ["save-svg", "save-png"]) document.getElementById(id).click();
const [svg, png] = blobs;
const root = new DOMParser().parseFromString(svg.text, svg.type).documentElement;
document.title = JSON.stringify({
  names, root: root.tagName, texts: [...root.querySelectorAll("text")].map((element) => element.textContent),
  colours: [...root.querySelectorAll("rect")].map((element) => element.getAttribute("fill")),
  svg: [root.getAttribute("width"), root.getAttribute("height")].map(Number),
  png: png.url, canvas: [canvas.width, canvas.height]});
</script>"""

# Clicks on each row of the tables of failures, and writes what is shown then into the title.
CLICKED = """<script>
const seen = [];
for (const row of document.querySelectorAll("#failures tbody tr, #faults tbody tr")) {
  row.click();
  seen.push({job: selected && selected.name, begin: range.begin, end: range.end});
}
document.title = JSON.stringify(seen);
</script>"""


def title_of(document):
    return json.loads(html.unescape(re.search("<title>(.*?)</title>", document)[1]))


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

    def page_with(self, trace, places=(), script=PROBE):
        text = TRACE.sub(lambda found: found[1] + json.dumps(trace) + found[3], self.page.read_text())
        page = self.folder / "other.html"
        page.write_text(text.replace("</body>", script.replace("PLACES", json.dumps(places)) + "</body>"))
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
        busy, idle, none, waits, none_later = title_of(document)
        self.assertNotEqual(busy, idle)
        self.assertNotEqual(waits, none)
        self.assertEqual(none_later, none)

    def test_gaps_say_what_the_host_did_while_a_unit_had_no_job(self):
        # The third job is submitted 5000 us after the end of the second one.
        trace = trace_of_jobs(lanes=1, jobs=3, phases=0, microseconds=1000)
        for event in trace["traceEvents"]:
            if event.get("ts", 0) >= 2000:
                event["ts"] += 5000
        trace["traceEvents"] += [
            {"ph": "M", "name": "thread_name", "pid": HOST, "tid": 1, "args": {"name": "main 1"}},
            {"ph": "X", "name": "wait 0:2", "cat": "wait", "pid": HOST, "tid": 1, "ts": 1500, "dur": 2500,
             "args": {"job": "0:2", "status": "OK"}},
            {"ph": "X", "name": "callback 0:2", "cat": "callback", "pid": HOST, "tid": 1, "ts": 4500, "dur": 1000,
             "args": {"job": "0:2"}},
            {"ph": "X", "name": "poll 1:1", "cat": "poll", "pid": HOST, "tid": 1, "ts": 5500, "dur": 250,
             "args": {"job": "1:1", "status": "OK"}},
            {"ph": "X", "name": "submit 1:1", "cat": "submit", "pid": HOST, "tid": 1, "ts": 1000, "dur": 0.001,
             "args": {"job": "1:1"}},
            {"ph": "X", "name": "job 1:1", "cat": "job", "pid": LANES, "tid": 0, "ts": 2500, "dur": 3000,
             "args": {"job": "1:1", "unit": 1, "status": "OK"}}]
        document = opened(self.page_with(trace))
        self.assertEqual(table(document, "gaps"), [
            ["unit 0", "5.000 ms", "2.000 ms", "0:3", "main 1", "3.500 ms", "2.000 ms", "250.0 us", "1.000 ms",
             "1.750 ms", "wait 0:2"]])
        self.assertEqual(table(document, "waits"), [["main 1", "2.500 ms", "1.500 ms", "wait 0:2", "OK"],
                                                    ["main 1", "250.0 us", "5.500 ms", "poll 1:1", "OK"]])
        jobs = {row[0]: row for row in table(document, "slowest")}
        self.assertEqual(jobs["0:1"][4:6], ["-", "-"], "nothing tells when the program noticed its end")
        none = opened(self.page_with(trace_of_jobs(lanes=1, jobs=3, phases=0, microseconds=1000)))
        self.assertEqual(table(none, "gaps"), [])

    def test_failed_jobs_and_injected_faults_are_in_tables_that_lead_to_them(self):
        trace = trace_of_jobs(lanes=1, jobs=8, phases=0, microseconds=1000)
        for event in trace["traceEvents"]:
            if event.get("cat") == "job" and event["args"]["job"] == "0:2":
                event["args"]["status"] = "DEVICE_FAILED"
        trace["traceEvents"] += [
            {"ph": "i", "name": "injected fault", "cat": "fault", "pid": HOST, "tid": 1, "ts": 1500, "s": "t",
             "args": {"number": 1, "kind": "fail", "job": "0:2"}},
            {"ph": "i", "name": "injected fault", "cat": "fault", "pid": HOST, "tid": 1, "ts": 2500, "s": "t",
             "args": {"number": 2, "kind": "oom"}},
            {"ph": "i", "name": "job 0:9 ended without having run", "cat": "not_run", "pid": UNITS, "tid": 0,
             "ts": 2750, "s": "t", "args": {"job": "0:9", "unit": 0, "status": "CANCELLED"}}]
        document = opened(self.page_with(trace, script=CLICKED))
        self.assertEqual(table(document, "failures"), [
            ["0:2", "DEVICE_FAILED", "2.000 ms", "999.0 us", "unit 0"],
            ["0:9", "CANCELLED", "2.750 ms", "-", "unit 0"]])
        faults = table(document, "faults")
        self.assertEqual([row[:4] for row in faults], [["fail", "1", "0:2", "1.500 ms"], ["oom", "2", "-", "2.500 ms"]])
        seen = title_of(document)
        self.assertEqual([row["job"] for row in seen], ["0:2", None, "0:2", None])
        for row, time in zip(seen, [1500, 2750, 1500, 2500]):
            self.assertTrue(row["begin"] < time < row["end"], row)
            self.assertLess(row["end"] - row["begin"], 4000, "of 8000")

    def test_traces_of_several_programs_are_below_each_other(self):
        one, other = (trace_of_jobs(lanes=1, jobs=3, phases=0, microseconds=1000) for _ in range(2))
        names = ["rank 0", "rank 1"]
        events = []
        for program, trace in enumerate((one, other)):
            for event in trace["traceEvents"]:
                event["pid"] += 10 * program
                if "job" in event.get("args", {}):
                    event["args"]["job"] = f"{names[program]}/{event['args']['job']}"
                events.append(event)
            events.append({"ph": "X", "name": "all_reduce", "cat": "exchange", "pid": 10 * program + RANKS, "tid": 0,
                           "ts": 1200, "dur": 300, "args": {"ranks": f"rank {program} of 0, 1", "bytes": 4096,
                                                            "status": "OK" if program else "IO_ERROR"}})
        trace = {"traceEvents": events, "otherData": {"dropped_events": 0, "programs": names}}
        document = opened(self.page_with(trace))
        self.assertEqual(dict(table(document, "totals"))["jobs that ran"], "6")
        self.assertEqual([row[:2] for row in table(document, "lanes")],
                         [["rank 0: lane 0", "3"], ["rank 1: lane 0", "3"]])
        exchanges = sorted(table(document, "exchanges"), key=lambda row: row[1])
        self.assertEqual(exchanges, [
            ["all_reduce", "rank 0: rank 0 of 0, 1", "1", "300.0 us", "300.0 us", "4.000 KiB", "1"],
            ["all_reduce", "rank 1: rank 1 of 0, 1", "1", "300.0 us", "300.0 us", "4.000 KiB", "0"]])

    def test_what_is_seen_is_saved_as_svg_and_png(self):
        trace = trace_of_jobs(lanes=2, jobs=4, phases=2, microseconds=1000)
        trace["traceEvents"][0]["args"]["name"] = "lane <0> & \"more\""
        saved = title_of(opened(self.page_with(trace, script=SAVED)))
        self.assertEqual(saved["names"], ["timeline.svg", "timeline.png"])
        self.assertEqual(saved["root"], "svg")
        self.assertIn("lane <0> & \"more\"", saved["texts"])
        self.assertIn("job 0:1", saved["texts"])
        self.assertNotIn("job 0:2", saved["texts"], "it lies outside of the range that is seen")
        self.assertEqual([colour for colour in saved["colours"] if not re.fullmatch("#[0-9a-f]{6}", colour)], [])
        self.assertEqual(saved["svg"], saved["canvas"])
        png = base64.b64decode(saved["png"].removeprefix("data:image/png;base64,"))
        self.assertEqual(list(struct.unpack(">II", png[16:24])), saved["canvas"], "the size in the header")


if __name__ == "__main__":
    if shutil.which("chromium") is None:
        print("skipped: there is no chromium")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
