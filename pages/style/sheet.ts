import { chartStyle, DARK_CHART, LIGHT_CHART } from '../../render/statsStyle';
import { MORE_RULES } from './more';
import { PART_RULES } from './parts';

/** The style of all pages: light or dark as the system is, few colours, and nothing that moves. */

const LIGHT_COLORS = `
  --page: #fcfcfb; --raised: #f4f4f2; --ink: #1c2027; --dim: #5a616d; --rule: #e2e3e1; --strong: #b9bdc4;
  --link: #1c5aa8; --good: #16703c; --bad: #b02a24; --warn: #835300; --busy: #1c5f9e; --quiet: #646b77;
  --build: #9aa1ad; --test: #5f9ea0; --deploy: #a9c1e6; --update: #2f6fc0; --bake: #8db4e8; --other: #c4bba8;`;

const DARK_COLORS = `
  --page: #15181d; --raised: #1d2128; --ink: #e3e6eb; --dim: #9ea6b3; --rule: #2b3038; --strong: #4a525e;
  --link: #86b6fb; --good: #56c288; --bad: #ff8a80; --warn: #e2b25a; --busy: #79b8f3; --quiet: #99a1ae;
  --build: #7a8290; --test: #4f8f91; --deploy: #3d5577; --update: #5d9bea; --bake: #34619c; --other: #6d6656;`;

const BASE = `
*, ::before, ::after { box-sizing: border-box; }
:root { color-scheme: light dark; ${LIGHT_COLORS} ${LIGHT_CHART} }
@media (prefers-color-scheme: dark) { :root { ${DARK_COLORS} ${DARK_CHART} } }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--ink); min-height: 100vh; display: flex; flex-direction: column;
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
.top, main, footer { width: 100%; max-width: 1640px; margin: 0 auto; padding: 0 clamp(14px, 2.4vw, 36px); }
h1, h2, h3, p, ul, ol, dl, dd, figure, table { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1 { font-size: 21px; line-height: 1.3; font-weight: 650; letter-spacing: -0.01em; display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; }
h1 .mark { font-size: 14px; letter-spacing: 0; }
h2, h3 { font-size: 13px; line-height: 1.4; font-weight: 650; }
h3 { margin: 12px 0 2px; }
a { color: var(--link); text-decoration: underline; text-decoration-color: var(--strong); text-decoration-thickness: 1px; text-underline-offset: 3px; }
a:hover { text-decoration-color: currentColor; }
:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; border-radius: 3px; }
main:focus { outline: none; }
code { font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 12px; top: -60px; padding: 8px 12px; background: var(--page); border: 1px solid var(--strong); z-index: 1; }
.skip:focus { top: 8px; }

.top { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 22px; min-height: 48px; border-bottom: 1px solid var(--rule); }
.brand { font-weight: 700; letter-spacing: -0.01em; color: var(--ink); text-decoration: none; padding: 6px 0; }
.top ul { display: flex; flex-wrap: wrap; gap: 0 16px; }
.top nav a { display: inline-block; padding: 6px 2px; color: var(--dim); text-decoration: none; border-bottom: 2px solid transparent; }
.top nav a:hover { color: var(--ink); }
.top nav a[aria-current] { color: var(--ink); border-bottom-color: var(--ink); }
.viewer { margin-left: auto; color: var(--dim); display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; }
.viewer button { font: inherit; color: var(--link); background: none; border: 0; padding: 4px 0; cursor: pointer; text-decoration: underline; text-underline-offset: 3px; }
main { flex: 1; padding-top: 20px; padding-bottom: 40px; }
footer { border-top: 1px solid var(--rule); padding-top: 12px; padding-bottom: 20px; color: var(--dim); font-size: 13px; }
footer p { padding: 3px 0; }

.above { display: flex; gap: 12px; font-size: 13px; margin-bottom: 2px; }
.above a { padding: 2px 0; }
section { margin-top: 26px; min-width: 0; }
section > h2 { padding-bottom: 6px; border-bottom: 1px solid var(--rule); margin-bottom: 8px; }
#facts { margin-top: 12px; }
.columns { display: grid; gap: 0 44px; grid-template-columns: minmax(0, 1fr); }
@media (min-width: 1180px) { .columns { grid-template-columns: minmax(0, 2.3fr) minmax(0, 1fr); } }
.note, .empty, .none, figcaption { color: var(--dim); font-size: 13px; }
.note { padding: 2px 0 6px; }
.empty { padding: 6px 0; }
.lead { font-size: 16px; margin-bottom: 8px; }

@media (prefers-reduced-motion: reduce) { * { transition: none !important; animation: none !important; scroll-behavior: auto !important; } }
@media print { .top, .skip, footer, .filters, .paging { display: none; } section { break-inside: avoid; } }
`;

/** Without the spaces that only help to read it here. */
export const STYLESHEET = `${BASE}${PART_RULES}${chartStyle('.plot')}${MORE_RULES}`
  .replace(/\s*\n\s*/g, '\n')
  .replace(/\s*([{;,])\s*/g, '$1')
  .replace(/;?\s*\}/g, '}')
  .trim();
