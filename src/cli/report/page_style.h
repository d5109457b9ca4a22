// The style sheet of report pages. It loads no font or picture from elsewhere, and is light or dark
// as the reader's system is.
#pragma once

namespace millrace::cli {

inline constexpr const char* kPageStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --faint: #6a737d; --paper: #ffffff;
  --panel: #f3f5f7; --line: #d8dee4; --bar: #3b6ea8; --poor: #c98a12; --bad: #c2352b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e3e7eb; --faint: #98a2ad; --paper: #14171a;
  --panel: #1e2328; --line: #343b42; --bar: #6fa3dd; --poor: #e0ad48; --bad: #ec6a5e; } }
body { margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: var(--ink);
  background: var(--paper); font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; overflow-wrap: anywhere; } h2 { font-size: 1.1rem; margin-top: 2.2rem; }
p.note { color: var(--faint); margin-top: -0.6rem; }
dl.facts { display: flex; flex-wrap: wrap; gap: 0.8rem; }
dl.facts div { background: var(--panel); border-radius: 6px; padding: 0.6rem 1rem; }
dt { color: var(--faint); font-size: 0.85rem; } dd { margin: 0; font-weight: 600; }
ul.warnings { background: var(--panel); border-left: 4px solid var(--poor); padding: 0.8rem 2rem; }
svg { display: block; width: 100%; background: var(--panel); border-radius: 6px; }
svg.snr { height: 11rem; } svg.histogram { height: 7rem; }
.bar { fill: var(--bar); } .bar.poor { fill: var(--poor); } .bar.bad { fill: var(--bad); }
.limit { stroke: var(--bad); stroke-width: 2; vector-effect: non-scaling-stroke; }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); }
figure { margin: 0; } figcaption { font-size: 0.85rem; overflow-wrap: anywhere; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: right; padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--line); }
th { color: var(--faint); font-weight: 500; } th.name, td.name { text-align: left; }
td.name { overflow-wrap: anywhere; } td.bad { color: var(--bad); } td.poor { color: var(--poor); }
.pictures { display: flex; flex-wrap: wrap; gap: 0.8rem; } .pictures figure { width: 8rem; }
.pictures img { max-width: 100%; border-radius: 4px; }
)";

}  // namespace millrace::cli
