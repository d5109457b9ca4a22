// Draws the rows on a canvas, and fills the tables. Only what can be seen is drawn: slices that are
// narrower than a pixel and lie on one that is drawn already are passed over.
"use strict";

const trace = JSON.parse(document.getElementById("trace").textContent);
const model = readTrace(trace);
const canvas = document.getElementById("canvas");
const hint = document.getElementById("hint"), found = document.getElementById("found");
const kFont = "12px system-ui, sans-serif";
const kName = 150, kRow = 26, kSlice = 20, kPhase = 8, kTop = 22;
const kFailures = 20;  // rows of the tables of failures
const kProcesses =
    {[kHost]: "host threads", [kLanes]: "lanes", [kUnits]: "jobs that wait", [kRanks]: "between ranks"};

let range = {...model.span};
let selected = null;  // a job
let marked = null;    // a range
const lines = layOut();

// Puts the rows below each other, with a heading for each process.
function layOut() {
  const all = [];
  for (let program = 0; program < model.programs.length; ++program) {
    const heading = (process) => ({heading: ofProgram(program, kProcesses[process])});
    const rows = (process) =>
        model.rows.filter((row) => row.program === program && row.process === process);
    const counters = model.counters.filter((counter) => counter.program === program);
    const waiting = waitingRanges(counters);
    for (const process of [kHost, kLanes]) {
      all.push(heading(process));
      for (const row of rows(process))
        all.push({row, idle: process === kLanes ? idleWhileWaiting(row, waiting) : []});
    }
    all.push(heading(kUnits));
    for (const counter of counters) {
      const row = rows(kUnits).find((row) => row.track === counter.unit);
      const most = Math.max(1, ...counterPeaks(counter));
      all.push({counter, most, marks: row ? row.marks : []});
    }
    if (rows(kRanks).length === 0) continue;
    all.push(heading(kRanks));
    for (const row of rows(kRanks)) all.push({row, idle: []});
  }
  let top = kTop;
  for (const line of all) {
    line.top = top;
    top += line.heading ? kTop : kRow;
  }
  all.height = top;
  return all;
}
// Puts the name of the program before a text, where the trace has several.
function ofProgram(program, text) {
  return model.programs.length > 1 ? model.programs[program] + ": " + text : text;
}
// One value for each thousand points, since a call does not take a hundred thousand arguments.
function counterPeaks({points}) {
  const peaks = [];
  for (let i = 0; i < points.length; i += 1000)
    peaks.push(Math.max(...points.slice(i, i + 1000).map((point) => point.count)));
  return peaks;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}
const colours = {};
function readColours() {
  for (const name of ["back", "text", "faint", "line", "row", "failed", "waiting", "mark"])
    colours[name] = colour("--" + name);
}
function colourOf(slice) {
  if (slice.category === "job" && slice.args.status !== "OK")
    return slice.args.status === "PENDING" ? colours.faint : colours.failed;
  // No unit is red or amber, which are the colours of failures and of waiting jobs.
  if (slice.category === "job") return "hsl(" + ((slice.args.unit * 67 + 130) % 240 + 70) + " 55% 52%)";
  if (isWait(slice)) return colours.faint;
  if (slice.category === "callback") return "hsl(160 45% 45%)";
  if (slice.category === "submit") return colours.text;
  if (slice.category === "exchange" && !["OK", "PENDING"].includes(slice.args.status)) return colours.failed;
  let hash = 0;
  for (const letter of slice.name) hash = (hash * 31 + letter.codePointAt(0)) % 360;
  return "hsl(" + hash + " 45% 60%)";
}

const width = () => canvas.clientWidth - kName;
const toX = (time) => kName + (time - range.begin) / (range.end - range.begin) * width();
const toTime = (x) => range.begin + (x - kName) / width() * (range.end - range.begin);

function draw() {
  const scale = window.devicePixelRatio || 1;
  canvas.style.height = lines.height + "px";
  canvas.width = canvas.clientWidth * scale;
  canvas.height = lines.height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  drawAll(pen);
}
// `pen` is a canvas or what stands for one (picture.js).
function drawAll(pen) {
  pen.font = kFont;
  pen.textBaseline = "middle";
  pen.fillStyle = colours.back;
  pen.fillRect(0, 0, canvas.clientWidth, lines.height);
  drawScale(pen);
  for (const line of lines) drawLine(pen, line);
  if (marked) drawMarked(pen);
}
// Frames the range that was chosen in a table.
function drawMarked(pen) {
  const left = Math.max(kName, toX(marked.begin)), right = Math.min(kName + width(), toX(marked.end));
  if (right < left) return;
  pen.fillStyle = colours.waiting;
  pen.globalAlpha = 0.15;
  pen.fillRect(left, kTop, Math.max(1, right - left), lines.height - kTop);
  pen.globalAlpha = 1;
}

function drawScale(pen) {
  const step = niceStep((range.end - range.begin) / Math.max(1, width() / 110));
  for (let time = Math.ceil(Math.max(0, range.begin) / step) * step; time <= range.end; time += step) {
    pen.fillStyle = colours.line;
    pen.fillRect(toX(time), 0, 1, lines.height);
    pen.fillStyle = colours.faint;
    pen.fillText(time === 0 ? "0" : timeText(time), toX(time) + 3, kTop / 2);
  }
}
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least);
}

function drawLine(pen, line) {
  const middle = line.top + (line.heading ? kTop : kRow) / 2;
  pen.save();
  pen.beginPath();
  pen.rect(kName, line.top, width(), kRow);
  pen.clip();
  if (line.row) drawRow(pen, line);
  if (line.counter) drawCounter(pen, line);
  pen.restore();
  pen.fillStyle = line.heading ? colours.text : colours.faint;
  const name = line.heading || (line.row ? line.row.name : line.counter.name);
  pen.fillText(name, line.heading ? 6 : 14, middle, kName - 18);
}

function drawRow(pen, line) {
  pen.fillStyle = colours.row;
  pen.fillRect(kName, line.top + 2, width(), kRow - 4);
  pen.fillStyle = colours.waiting;
  pen.globalAlpha = 0.35;
  drawRanges(pen, line.idle, line.top + 2, kRow - 4);
  pen.globalAlpha = 1;
  drawSlices(pen, line.row.slices, line.top + 3);
  for (const mark of line.row.marks) drawMark(pen, mark, line.top);
}
function drawRanges(pen, ranges, top, height) {
  for (const {begin, end} of ranges)
    if (end > range.begin && begin < range.end)
      pen.fillRect(toX(begin), top, Math.max(0.5, toX(end) - toX(begin)), height);
}
function drawSlices(pen, slices, top) {
  // Up to which pixel slices of each category are drawn.
  const drawn = {job: -1, phase: -1, wait: -1, poll: -1, submit: -1, callback: -1, exchange: -1};
  for (const slice of slices) {
    if (slice.end < range.begin) continue;
    if (slice.begin > range.end) break;
    const x = Math.max(kName - 2, toX(slice.begin));
    const right = Math.max(x + 1, Math.min(kName + width() + 2, toX(slice.end)));
    if (right <= drawn[slice.category]) continue;
    drawn[slice.category] = Math.ceil(right);
    drawSlice(pen, slice, x, right, top);
  }
}
function drawSlice(pen, slice, x, right, top) {
  const isPhase = slice.category === "phase";
  const y = isPhase ? top + kSlice - kPhase : top, height = isPhase ? kPhase : kSlice;
  pen.fillStyle = colourOf(slice);
  pen.fillRect(x, y, right - x, height);
  if (selected && slice.args && slice.args.job === selected.name) {
    pen.strokeStyle = colours.text;
    pen.lineWidth = 2;
    pen.strokeRect(x + 1, y + 1, Math.max(1, right - x - 2), height - 2);
  }
  if (isPhase || right - x < 40) return;
  pen.save();
  pen.beginPath();
  pen.rect(x, y, right - x - 2, height);
  pen.clip();
  pen.fillStyle = "#fff";
  pen.fillText(slice.name, x + 4, y + (slice.category === "job" && hasPhases(slice) ? 7 : 10));
  pen.restore();
}
function hasPhases(slice) {
  const job = model.jobsByName.get(slice.args.job);
  return job !== undefined && job.phases !== undefined;
}
function drawMark(pen, mark, top) {
  if (mark.time < range.begin || mark.time > range.end) return;
  const bad = ["fault", "missing_sync", "not_run"].includes(mark.category);
  pen.fillStyle = bad ? colours.failed : mark.category === "refused" ? colours.waiting : colours.mark;
  pen.fillRect(toX(mark.time) - 1, top + 2, bad ? 3 : 1, kRow - 4);
}
function drawCounter(pen, {counter, most, marks, top}) {
  const bottom = top + kRow - 2, unit = (kRow - 6) / most;
  pen.fillStyle = colours.waiting;
  const {points} = counter;
  let drawn = -1, peak = 0;  // the column that was drawn last, and the greatest count in it
  for (let i = 0; i < points.length; ++i) {
    const {time, count} = points[i], end = i + 1 < points.length ? points[i + 1].time : model.span.end;
    if (end < range.begin || time > range.end) continue;
    const x = Math.max(kName, toX(time)), column = Math.floor(x);
    const right = Math.max(x + 0.5, toX(end));
    if (column === drawn && count <= peak && right < column + 1) continue;
    peak = column === drawn ? Math.max(peak, count) : count;
    drawn = column;
    pen.fillRect(x, bottom - count * unit, right - x, count * unit);
  }
  for (const mark of marks) drawMark(pen, mark, top);
}

// Returns what is drawn at a place: the innermost slice or the nearest mark, or the count.
function at(x, y) {
  const line = lines.find((line) => !line.heading && y >= line.top && y < line.top + kRow);
  if (!line || x < kName) return null;
  const time = toTime(x), reach = 3 * (range.end - range.begin) / width();
  const marks = line.row ? line.row.marks : line.marks;
  const mark = marks.find((mark) => Math.abs(mark.time - time) < reach);
  if (mark) return {mark, program: line.row ? line.row.program : line.counter.program};
  if (line.counter) return {count: countAt(line.counter, time), unit: line.counter.name};
  let slice = null;
  for (const candidate of line.row.slices) {
    if (candidate.begin > time + reach) break;
    if (candidate.end + reach < time) continue;
    if (!slice || candidate.category === "phase" || candidate.end - candidate.begin <= slice.end - slice.begin)
      if (candidate.category !== "phase" || y > line.top + kRow - kPhase - 4) slice = candidate;
  }
  return slice ? {slice, program: line.row.program} : null;
}
function countAt({points}, time) {
  let count = 0;
  for (const point of points) {
    if (point.time > time) break;
    count = point.count;
  }
  return count;
}

function describe({slice, mark, count, unit, program}) {
  if (count !== undefined) return unit + ": " + count + " jobs wait";
  const {name, args} = slice || mark;
  const rest = Object.entries(args || {}).filter(([key]) => key !== "job")
      .map(([key, value]) => key === "unit" ? model.unitName(value, program) : key + ": " + value);
  const times = slice ? [timeText(slice.end - slice.begin), "from " + timeText(slice.begin)]
                      : ["at " + timeText(mark.time)];
  const job = slice && slice.category === "job" ? model.jobsByName.get(args.job) : null;
  const parts = job ? partsOf(job) : [];
  return [name, ...times, ...parts, ...rest].join("\n");
}

// Returns the parts of the latency of a job, as far as the trace tells them.
function partsOf(job) {
  const parts = [];
  if (job.wait !== undefined) parts.push("waited " + timeText(job.wait));
  parts.push("ran " + timeText(job.run) +
             (job.convert ? ", of that inputs and outputs " + timeText(job.convert) : ""));
  if (job.notify !== undefined) parts.push("noticed after " + timeText(job.notify));
  return parts;
}

function setRange(begin, end) {
  const least = 0.01, most = 1.1 * (model.span.end - model.span.begin);
  const length = Math.min(most, Math.max(least, end - begin)), middle = (begin + end) / 2;
  range = {begin: middle - length / 2, end: middle + length / 2};
  requestAnimationFrame(draw);
}

function show(job) {
  selected = job;
  marked = null;
  const length = Math.max(job.total * 3, 1);
  const middle = (job.started + job.ended) / 2;
  setRange(middle - length / 2, middle + length / 2);
  found.textContent = "job " + job.name + ": " + [job.status, ...partsOf(job)].join(", ");
}

// Shows a range with what surrounds it, and frames it.
function showRange({begin, end}) {
  selected = null;
  marked = {begin, end};
  setRange(begin - (end - begin), end + (end - begin));
}

function fillTable(id, heads, cells) {
  const table = document.getElementById(id);
  const head = table.createTHead().insertRow();
  for (const text of heads) {
    const cell = document.createElement("th");
    cell.textContent = text;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const {texts, job, range: shown} of cells) {
    const row = body.insertRow();
    for (const text of texts) row.insertCell().textContent = text;
    if (shown) {
      row.dataset.range = shown.begin + " " + shown.end;
      row.addEventListener("click", () => showRange(shown));
    }
    if (!job) continue;
    row.dataset.job = job.name;
    if (hasFailed(job)) row.className = "failed";
    row.addEventListener("click", () => show(job));
  }
}

function fillTables() {
  const ran = model.jobs.filter((job) => job.started !== undefined);
  const failed = ran.filter(hasFailed).length;
  const mean = (key) => {
    const known = ran.filter((job) => job[key] !== undefined);
    return timeText(known.length ? known.reduce((all, job) => all + job[key], 0) / known.length : undefined);
  };
  const total = [
    ["jobs that ran", ran.length], ["of them failed", failed],
    ["lanes", model.rows.filter((row) => row.process === kLanes).length],
    ["time", timeText(model.span.end - model.span.begin)],
    ["mean wait", mean("wait")], ["mean run", mean("run")], ["mean until noticed", mean("notify")],
    ["events that are missing", model.dropped]
  ];
  fillTable("totals", ["", ""], total.map(([name, value]) => ({texts: [name, String(value)]})));
  const slowest = [...ran].sort((a, b) => b.total - a.total).slice(0, 20);
  fillTable("slowest", ["job", "total", "wait", "run", "inputs, outputs", "noticed", "status"],
            slowest.map((job) => ({job, texts: [job.name, timeText(job.total), timeText(job.wait),
              timeText(job.run), timeText(job.convert), timeText(job.notify), job.status]})));
  fillTable("lanes", ["lane", "jobs", "busy", "share"], lanesByTime(model).map((lane) => ({
    texts: [ofProgram(lane.program, lane.name), String(lane.jobs), timeText(lane.busy),
            (100 * lane.share).toFixed(1) + " %"]})));
  const phases = phasesByTime(model).slice(0, 20);
  document.getElementById("operators-section").hidden = phases.length === 0;
  fillTable("operators", ["phase", "times", "sum", "mean"], phases.map((phase) => ({
    texts: [phase.name, String(phase.calls), timeText(phase.time), timeText(phase.time / phase.calls)]})));
  fillFailures();
  fillHostTables();
  fillExchanges();
}

// The tables of failed jobs and of injected faults: the first ones, since a failure often brings
// others about.
function fillFailures() {
  const failures = failuresOf(model), faults = marksOf(model, "fault");
  document.getElementById("failures-section").hidden = failures.length === 0;
  document.getElementById("faults-section").hidden = faults.length === 0;
  document.getElementById("failures-title").textContent = titleOf("Failed jobs", failures);
  document.getElementById("faults-title").textContent = titleOf("Injected faults", faults);
  fillTable("failures", ["job", "status", "at", "ran", "unit"], failures.slice(0, kFailures).map((failure) => ({
    job: failure.job, range: failure.job ? undefined : around(failure.time), texts: [
      failure.name, failure.status, timeText(failure.time), timeText(failure.ran),
      ofProgram(failure.program, failure.unit)]})));
  fillTable("faults", ["fault", "number", "job", "at", "thread"], faults.slice(0, kFailures).map(({row, mark}) => {
    const job = model.jobsByName.get(mark.args.job);
    return {job: job && job.started !== undefined ? job : undefined,
            range: job && job.started !== undefined ? undefined : around(mark.time), texts: [
              mark.args.kind || "-", String(mark.args.number), mark.args.job || "-", timeText(mark.time),
              ofProgram(row.program, row.name)]};
  }));
}
function titleOf(name, all) {
  return all.length > kFailures ? name + ": the first " + kFailures + " of " + all.length : name;
}
// Returns what is shown of something that takes no time.
function around(time) {
  const reach = (model.span.end - model.span.begin) / 1000;
  return {begin: time - reach, end: time + reach};
}

// The tables of the host's gaps and of its waits.
function fillHostTables() {
  const gaps = gapsOfUnits(model), waits = waitsByTime(model);
  document.getElementById("gaps-section").hidden = gaps.length === 0;
  document.getElementById("waits-section").hidden = waits.length === 0;
  fillTable("gaps", ["unit without jobs", "for", "from", "until the submit of", "by", "other units busy", "in waits",
                     "polling", "in callbacks", "in the program", "the longest call"],
            gaps.slice(0, 20).map((gap) => {
              const work = hostWork(gap.row, gap);
              return {range: gap, texts: [
                ofProgram(gap.program, gap.unit), timeText(gap.end - gap.begin), timeText(gap.begin), gap.job.name,
                gap.row.name, timeOrNone(othersBusy(model, gap)), timeOrNone(work.wait), timeOrNone(work.poll),
                timeOrNone(work.callback), timeOrNone(work.own),
                work.longest ? work.longest.name : "-"]};
            }));
  fillTable("waits", ["thread", "for", "from", "in", "status"], waits.slice(0, 20).map(({row, slice}) => ({
    range: slice, texts: [ofProgram(row.program, row.name), timeText(slice.end - slice.begin), timeText(slice.begin),
                          slice.name, slice.args.status]})));
}

// Nothing at all is no measured time.
function timeOrNone(us) {
  return timeText(us || undefined);
}

function fillExchanges() {
  const exchanges = exchangesByTime(model);
  document.getElementById("exchanges-section").hidden = exchanges.length === 0;
  fillTable("exchanges", ["operation", "ranks", "times", "sum", "mean", "bytes", "failed"],
            exchanges.slice(0, 20).map((sum) => ({texts: [
              sum.name, ofProgram(sum.program, sum.ranks), String(sum.calls), timeText(sum.time),
              timeText(sum.time / sum.calls), bytesText(sum.bytes), String(sum.failed)]})));
}

function place(event) {
  const box = canvas.getBoundingClientRect();
  return {x: event.clientX - box.left, y: event.clientY - box.top};
}

canvas.addEventListener("wheel", (event) => {
  if (event.shiftKey) return;
  event.preventDefault();
  const time = toTime(place(event).x), factor = Math.exp(event.deltaY / 400);
  setRange(time - (time - range.begin) * factor, time + (range.end - time) * factor);
}, {passive: false});
let dragged = null;
canvas.addEventListener("pointerdown", (event) => {
  dragged = place(event);
  canvas.setPointerCapture(event.pointerId);
});
canvas.addEventListener("pointerup", () => { dragged = null; });
canvas.addEventListener("pointermove", (event) => {
  const here = place(event);
  if (dragged) {
    const by = toTime(dragged.x) - toTime(here.x);
    dragged = here;
    setRange(range.begin + by, range.end + by);
    return;
  }
  const under = at(here.x, here.y);
  hint.style.display = under ? "block" : "none";
  if (!under) return;
  hint.textContent = describe(under);
  hint.style.left = Math.min(event.clientX + 14, window.innerWidth - 260) + "px";
  hint.style.top = event.clientY + 14 + "px";
});
canvas.addEventListener("pointerleave", () => { hint.style.display = "none"; });
document.getElementById("fit").addEventListener("click", () => {
  selected = marked = null;
  setRange(model.span.begin, model.span.end);
});
document.getElementById("find").addEventListener("change", (event) => {
  const name = event.target.value.trim().replace(/^job\s+/, "");
  const job = model.jobsByName.get(name);
  if (job && job.started !== undefined) show(job);
  else found.textContent = "no job " + name + " ran";
});
document.getElementById("save-svg").addEventListener("click", saveSvg);
document.getElementById("save-png").addEventListener("click", savePng);
window.addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });

readColours();
fillTables();
draw();
