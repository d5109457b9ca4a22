// What the page knows about a trace: rows of slices, and the jobs with the parts of their latency.
// It takes no document, so that it can be run without a browser.
"use strict";

// What a process of the trace holds. Where a trace has several programs, each has its processes ten
// numbers after those of the one before.
const kHost = 1, kLanes = 2, kUnits = 3, kRanks = 4;
const kindOf = (pid) => pid % 10, programOf = (pid) => Math.floor(pid / 10);

// Reads the events of a trace. Times are microseconds.
function readTrace(trace) {
  const names = new Map();  // of tracks, by process and track
  const rows = new Map();
  const jobs = new Map();
  const phases = [], counters = new Map();
  const row = (event) => {
    const key = event.pid + "/" + event.tid;
    if (!rows.has(key))
      rows.set(key, {process: kindOf(event.pid), program: programOf(event.pid), track: event.tid,
                     slices: [], marks: []});
    return rows.get(key);
  };
  const programs = trace.otherData.programs || [""];
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
  const unitName = (unit, program = 0) =>
      names.get((10 * program + kUnits) + "/" + unit) || "unit " + unit;
  for (const counter of counters.values()) counter.name = unitName(counter.unit, counter.program);
  const all = [...jobs.values()];
  all.forEach(divideLatency);
  return {
    rows: [...rows.values()].sort((a, b) =>
        a.program - b.program || a.process - b.process || a.track - b.track),
    jobs: all,
    jobsByName: jobs,
    programs,
    unitName,
    counters: [...counters.values()].sort((a, b) => a.program - b.program || a.unit - b.unit),
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
    job.submitRow = row;
  } else if (event.cat === "job") {
    Object.assign(job, {started: event.ts, ended: slice.end, status: event.args.status, row, slice});
  } else if (event.cat === "phase") {
    job.phases = job.phases || [];
    job.phases.push(slice);
  } else if (isWait(slice) || event.cat === "callback") {
    if (event.args.status === "PENDING") return;  // the program learned nothing of its end
    const noticed = isWait(slice) ? slice.end : slice.begin;
    if (job.noticed === undefined || noticed < job.noticed) job.noticed = noticed;
  }
}

// In a call, or by polls.
function isWait(slice) {
  return slice.category === "wait" || slice.category === "poll";
}

function addCount(event, counters) {
  const key = event.pid + "/" + event.tid;
  if (!counters.has(key))
    counters.set(key, {unit: event.tid, program: programOf(event.pid), points: []});
  counters.get(key).points.push({time: event.ts, count: event.args.jobs});
}

// Divides the latency of a job: it waits, runs, and the program learns of its end. Parts that the
// trace does not tell are undefined.
function divideLatency(job) {
  if (job.started === undefined) return;
  job.run = job.ended - job.started;
  if (job.submitted !== undefined) job.wait = job.started - job.submitted;
  if (job.noticed !== undefined) job.notify = Math.max(0, job.noticed - job.ended);
  job.total = (job.wait || 0) + job.run + (job.notify || 0);
  const converting = (job.phases || []).filter((phase) => /^(inputs|outputs)$/.test(phase.name));
  if (converting.length)
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

// Returns the stretches in which a unit had no job, neither one that ran nor one that waited, although
// a thread had more for it, the longest first: from the end of the unit's last job to the submit of
// its next one.
function gapsOfUnits(model) {
  const until = new Map();  // when the last job of each unit ended
  const gaps = [];
  const submitted = model.jobs.filter((job) => job.started !== undefined && job.submitRow);
  submitted.sort((a, b) => a.submitted - b.submitted);
  for (const job of submitted) {
    const unit = job.slice.args.unit, program = job.row.program, key = program + "/" + unit;
    const begin = until.get(key);
    if (begin !== undefined && begin < job.submitted)
      gaps.push({unit: model.unitName(unit, program), program, begin, end: job.submitted, job,
                 row: job.submitRow});
    until.set(key, Math.max(begin === undefined ? job.ended : begin, job.ended));
  }
  return gaps.sort((a, b) => b.end - b.begin - (a.end - a.begin));
}

// Returns how long any unit but that of a gap had a job in flight meanwhile.
function othersBusy(model, gap) {
  const unit = gap.job.slice.args.unit, busy = [];
  for (const job of model.jobs) {
    if (job.started === undefined || job.row.program !== gap.program) continue;
    const since = job.submitted === undefined ? job.started : job.submitted;
    if (job.slice.args.unit !== unit && since < gap.end && job.ended > gap.begin)
      busy.push({begin: Math.max(since, gap.begin), end: Math.min(job.ended, gap.end)});
  }
  busy.sort((a, b) => a.begin - b.begin);
  let sum = 0, covered = gap.begin;
  for (const {begin, end} of busy) {
    sum += Math.max(0, end - Math.max(begin, covered));
    covered = Math.max(covered, end);
  }
  return sum;
}

// Says what the thread of a row did within a range: the time in waits, that in polls, that in
// callbacks, and the slice that takes most of it. The rest is work of the program itself.
function hostWork(row, {begin, end}) {
  const work = {wait: 0, poll: 0, callback: 0, longest: null, own: end - begin};
  let most = 0, covered = begin;
  for (const slice of row.slices) {
    if (slice.begin >= end) break;
    if (slice.end <= begin || (!isWait(slice) && slice.category !== "callback")) continue;
    const from = Math.max(slice.begin, covered), part = Math.min(slice.end, end) - from;
    if (part <= 0) continue;  // within a slice that is counted already
    covered = from + part;
    work[slice.category] += part;
    work.own -= part;
    if (part > most) [most, work.longest] = [part, slice];
  }
  return work;
}

// A job that was still running when the trace was written has the status PENDING.
function hasFailed(job) {
  return job.status !== undefined && job.status !== "OK" && job.status !== "PENDING";
}

// Returns the jobs that ended with another status than OK, whether they ran or not, in order.
function failuresOf(model) {
  const failures = model.jobs.filter(hasFailed).map((job) => ({
    name: job.name, status: job.status, time: job.ended, ran: job.run, job,
    unit: model.unitName(job.slice.args.unit, job.row.program), program: job.row.program}));
  for (const {row, mark} of marksOf(model, "not_run"))
    failures.push({name: mark.args.job, status: mark.args.status, time: mark.time, program: row.program,
                   unit: model.unitName(mark.args.unit, row.program)});
  return failures.sort((a, b) => a.time - b.time);
}

// Returns the marks of a category with their rows, in order.
function marksOf(model, category) {
  const found = [];
  for (const row of model.rows)
    for (const mark of row.marks)
      if (mark.category === category) found.push({row, mark});
  return found.sort((a, b) => a.mark.time - b.mark.time);
}

// Returns the waits of the program, the longest first.
function waitsByTime(model) {
  const waits = [];
  for (const row of model.rows.filter((row) => row.process === kHost))
    for (const slice of row.slices)
      if (isWait(slice) && slice.end > slice.begin) waits.push({row, slice});
  return waits.sort((a, b) => b.slice.end - b.slice.begin - (a.slice.end - a.slice.begin));
}

// Returns what was exchanged with other ranks, by operation and ranks, the longest first.
function exchangesByTime(model) {
  const sums = new Map();
  for (const row of model.rows.filter((row) => row.process === kRanks)) {
    for (const slice of row.slices) {
      const key = row.program + "/" + slice.args.ranks + "/" + slice.name;
      const sum = sums.get(key) || {name: slice.name, ranks: slice.args.ranks, program: row.program,
                                    calls: 0, bytes: 0, time: 0, failed: 0};
      sum.calls += 1;
      sum.bytes += slice.args.bytes;
      sum.time += slice.end - slice.begin;
      sum.failed += slice.args.status === "OK" || slice.args.status === "PENDING" ? 0 : 1;
      sums.set(key, sum);
    }
  }
  return [...sums.values()].sort((a, b) => b.time - a.time);
}

// Returns the shares of the lanes' time, and those of the phases of jobs, the largest first.
function lanesByTime(model) {
  return model.rows.filter((row) => row.process === kLanes).map((row) => {
    const runs = row.slices.filter((slice) => slice.category === "job");
    const busy = runs.reduce((sum, slice) => sum + slice.end - slice.begin, 0);
    return {name: row.name, program: row.program, jobs: runs.length, busy,
            share: busy / (model.span.end - model.span.begin)};
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

function bytesText(bytes) {
  for (const [size, name] of [[1 << 30, "GiB"], [1 << 20, "MiB"], [1 << 10, "KiB"]])
    if (bytes >= size) return (bytes / size).toPrecision(4) + " " + name;
  return bytes + " bytes";
}

// Returns a time as text, and "-" for one that was not measured.
function timeText(us) {
  if (us === undefined) return "-";
  if (us >= 1e6) return (us / 1e6).toPrecision(4) + " s";
  if (us >= 1e3) return (us / 1e3).toPrecision(4) + " ms";
  return us >= 1 ? us.toPrecision(4) + " us" : Math.round(us * 1e3) + " ns";
}
