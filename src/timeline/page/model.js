// What the page knows about a trace: rows of slices, and the jobs with the parts of their latency.
// It takes no document, so that it can be run without a browser.
"use strict";

const kHost = 1, kLanes = 2, kUnits = 3;  // processes of the trace

// Reads the events of a trace. Times are microseconds.
function readTrace(trace) {
  const names = new Map();  // of tracks, by process and track
  const rows = new Map();
  const jobs = new Map();
  const phases = [], counters = new Map();
  const row = (event) => {
    const key = event.pid + "/" + event.tid;
    if (!rows.has(key))
      rows.set(key, {process: event.pid, track: event.tid, slices: [], marks: []});
    return rows.get(key);
  };
  for (const event of trace.traceEvents) {
    if (event.ph === "M" && event.name === "thread_name")
      names.set(event.pid + "/" + event.tid, event.args.name);
    else if (event.ph === "X")
      addSlice(event, row(event), jobs, phases);
    else if (event.ph === "i")
      row(event).marks.push({time: event.ts, name: event.name, category: event.cat, args: event.args});
    else if (event.ph === "C")
      addCount(event, counters);
  }
  for (const [key, of] of rows) {
    of.name = names.get(key) || key;
    of.slices.sort((a, b) => a.begin - b.begin || b.end - a.end);
    of.marks.sort((a, b) => a.time - b.time);
  }
  for (const counter of counters.values())
    counter.name = names.get(kUnits + "/" + counter.unit) || "unit " + counter.unit;
  const all = [...jobs.values()];
  all.forEach(divideLatency);
  return {
    rows: [...rows.values()].sort((a, b) => a.process - b.process || a.track - b.track),
    jobs: all,
    jobsByName: jobs,
    unitName: (unit) => names.get(kUnits + "/" + unit) || "unit " + unit,
    counters: [...counters.values()].sort((a, b) => a.unit - b.unit),
    phases,
    dropped: trace.otherData.dropped_events,
    span: spanOf(rows.values()),
  };
}

function addSlice(event, row, jobs, phases) {
  const slice = {
    name: event.name, category: event.cat, begin: event.ts, end: event.ts + event.dur, args: event.args
  };
  row.slices.push(slice);
  if (event.cat === "phase") phases.push(slice);
  const name = event.args && event.args.job;
  if (!name) return;
  if (!jobs.has(name)) jobs.set(name, {name});
  const job = jobs.get(name);
  if (event.cat === "submit") {
    job.submitted = event.ts;
  } else if (event.cat === "job") {
    Object.assign(job, {started: event.ts, ended: slice.end, status: event.args.status, row, slice});
  } else if (event.cat === "phase") {
    job.phases = job.phases || [];
    job.phases.push(slice);
  } else if (event.cat === "wait" || event.cat === "callback") {
    const noticed = event.cat === "wait" ? slice.end : slice.begin;
    if (job.noticed === undefined || noticed < job.noticed) job.noticed = noticed;
  }
}

function addCount(event, counters) {
  if (!counters.has(event.tid)) counters.set(event.tid, {unit: event.tid, points: []});
  counters.get(event.tid).points.push({time: event.ts, count: event.args.jobs});
}

// Divides the latency of a job: it waits, runs, and the program learns of its end.
function divideLatency(job) {
  if (job.started === undefined) return;
  job.run = job.ended - job.started;
  job.wait = job.submitted === undefined ? 0 : job.started - job.submitted;
  job.notify = job.noticed === undefined ? 0 : Math.max(0, job.noticed - job.ended);
  job.total = job.wait + job.run + job.notify;
  const converting = (job.phases || []).filter((phase) => /^(inputs|outputs)$/.test(phase.name));
  job.convert = converting.reduce((sum, phase) => sum + phase.end - phase.begin, 0);
}

function spanOf(rows) {
  let begin = Infinity, end = -Infinity;
  for (const {slices, marks} of rows) {
    for (const slice of slices) {
      begin = Math.min(begin, slice.begin);
      end = Math.max(end, slice.end);
    }
    for (const mark of marks) {
      begin = Math.min(begin, mark.time);
      end = Math.max(end, mark.time);
    }
  }
  return begin < end ? {begin, end} : {begin: 0, end: 1};
}

// Returns the times during which jobs wait in any unit, as ranges in order.
function waitingRanges(counters) {
  const changes = [];
  for (const {points} of counters) {
    let before = 0;
    for (const {time, count} of points) {
      changes.push({time, by: count - before});
      before = count;
    }
  }
  changes.sort((a, b) => a.time - b.time);
  const ranges = [];
  let waiting = 0, since = 0;
  for (const {time, by} of changes) {
    if (waiting === 0 && by > 0) since = time;
    if (waiting > 0 && waiting + by === 0 && time > since) ranges.push({begin: since, end: time});
    waiting += by;
  }
  return ranges;
}

// Returns when a row runs no job although jobs wait.
function idleWhileWaiting(row, waiting) {
  const idle = [];
  const runs = row.slices.filter((slice) => slice.category === "job");
  let next = 0;
  for (let i = 0; i + 1 < runs.length; ++i) {
    const begin = runs[i].end, end = runs[i + 1].begin;
    while (next < waiting.length && waiting[next].end <= begin) ++next;
    for (let at = next; at < waiting.length && waiting[at].begin < end; ++at)
      idle.push({begin: Math.max(begin, waiting[at].begin), end: Math.min(end, waiting[at].end)});
  }
  return idle;
}

// Returns the shares of the lanes' time, and those of the phases of jobs, the largest first.
function lanesByTime(model) {
  return model.rows.filter((row) => row.process === kLanes).map((row) => {
    const runs = row.slices.filter((slice) => slice.category === "job");
    const busy = runs.reduce((sum, slice) => sum + slice.end - slice.begin, 0);
    return {name: row.name, jobs: runs.length, busy, share: busy / (model.span.end - model.span.begin)};
  });
}
function phasesByTime(model) {
  const sums = new Map();
  for (const phase of model.phases) {
    const sum = sums.get(phase.name) || {name: phase.name, calls: 0, time: 0};
    sum.calls += 1;
    sum.time += phase.end - phase.begin;
    sums.set(phase.name, sum);
  }
  return [...sums.values()].sort((a, b) => b.time - a.time);
}

function timeText(us) {
  if (us >= 1e6) return (us / 1e6).toPrecision(4) + " s";
  if (us >= 1e3) return (us / 1e3).toPrecision(4) + " ms";
  return us >= 1 ? us.toPrecision(4) + " us" : Math.round(us * 1e3) + " ns";
}
