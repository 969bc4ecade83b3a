/** The style of the parts of pages. */
export const PART_RULES = `
.good { color: var(--good); } .bad { color: var(--bad); } .warn { color: var(--warn); }
.busy { color: var(--busy); } .quiet { color: var(--quiet); } .plain { color: var(--ink); }
.mark { white-space: nowrap; font-weight: 550; }
.mark > span { display: inline-block; min-width: 1.1em; text-align: center; }
.about { display: block; color: var(--dim); font-size: 13px; max-width: 60ch; }
.about.warn { color: var(--warn); }
.about[title] { max-width: 34ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.line { display: block; }
.clip { display: inline-block; max-width: 36ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; }
.number { white-space: nowrap; }
.nth { display: inline-block; min-width: 1.7em; color: var(--dim); }
.nth + bdi { white-space: nowrap; }

.facts { display: grid; gap: 2px 0; }
.fact { display: grid; grid-template-columns: 84px minmax(0, 1fr); gap: 0 12px; max-width: 130ch; }
.fact dt { color: var(--dim); }
.fact-status dd { font-weight: 550; }
.fact-paused dd, .fact-frozen dd, .fact-held dd { color: var(--warn); }
.fact-at-risk dd, .fact-known-bad dd { color: var(--bad); }
.long > summary { cursor: pointer; list-style: none; }
.long > summary::after { content: " more"; color: var(--link); }
.long[open] > summary { color: var(--dim); }
.long[open] > summary::after { content: " less"; }

.scroll { overflow-x: auto; position: relative; }
.scroll + .scroll { margin-top: 14px; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: start; vertical-align: top; padding: 5px 18px 5px 0; font-weight: 400; overflow-wrap: break-word; max-width: 56ch; }
th time, td time { white-space: nowrap; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--dim); font-size: 12px; white-space: nowrap; padding-top: 2px; }
tbody tr { border-top: 1px solid var(--rule); }
tbody tr:target { background: var(--raised); }
.id { font-weight: 550; white-space: nowrap; }
.digest { display: inline-block; max-width: 22ch; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; vertical-align: bottom; }

.command { background: var(--raised); border-radius: 4px; padding: 2px 6px; user-select: all; -webkit-user-select: all; white-space: pre-wrap; }
.command span { white-space: nowrap; }
.commands { display: grid; gap: 5px; justify-items: start; }
.commands .command { display: inline-block; }

.graph { padding: 2px 0 6px; }
.graph svg { display: block; }
.edges { fill: none; stroke: var(--strong); stroke-width: 1.3; }
.box rect { fill: var(--page); stroke: var(--strong); }
.box text { fill: var(--ink); font-size: 13px; }
.box .name { font-weight: 600; }
.box .second { fill: var(--dim); font-size: 12px; }
.box .sign { fill: currentColor; font-weight: 700; }
.box.good rect, .box.bad rect, .box.warn rect, .box.busy rect { stroke: currentColor; }
.box.busy rect, .box.bad rect, .box.warn rect { stroke-width: 2; }
.box.quiet rect { stroke-dasharray: 4 3; }
.graph a { text-decoration: none; }
.graph a:hover rect { fill: var(--raised); }
.graph a:focus-visible { outline: none; }
.graph a:focus-visible rect { stroke: var(--link); stroke-width: 3; }

.bar { display: block; width: 100%; min-width: 130px; height: 11px; margin: 5px 0; }
.spent { margin-top: 8px; }
td > .bar { max-width: 460px; }
.bar.tasks { max-width: 170px; min-width: 90px; }
.part-build { fill: var(--build); } .part-test { fill: var(--test); } .part-deploy { fill: var(--deploy); }
.part-update, .part-live { fill: var(--update); } .part-bake, .part-updated { fill: var(--bake); }
.part-revert { fill: var(--warn); } .part-other { fill: var(--other); } .part-rest { fill: var(--rule); }
.part-wait { fill: var(--page); stroke: var(--strong); stroke-width: 1; vector-effect: non-scaling-stroke; }
.strip { display: block; width: 100%; height: 9px; margin: 4px 0 10px; }
.strip rect, .ends path, .squares path { fill: currentColor; }
.strip .quiet { fill: var(--rule); }
.ends { display: block; margin: 4px 0; }
.ends path, .squares path { fill-rule: evenodd; }
.clock { vertical-align: -2px; }
.clock circle { fill: none; stroke: var(--strong); }
.clock path { fill: var(--update); }
.squares { max-width: 100%; height: auto; color: var(--strong); }
.squares .live, .squares.live { color: var(--update); }
.squares .updating, .squares.updating { color: var(--busy); }
.squares .failed, .squares.failed { color: var(--bad); }
.squares .paused, .squares.paused { color: var(--warn); }
.squares .old, .squares.old, .squares .unreachable, .squares.unreachable { color: var(--quiet); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; padding: 2px 0 8px; font-size: 13px; color: var(--dim); }
.series { width: 220px; }
.series svg { display: block; border-bottom: 1px solid var(--rule); }
.series path { fill: none; stroke: var(--update); stroke-width: 1.6; }
.series .line.bad { stroke: var(--bad); }
.series .limit { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 4 3; }
.series .reference { stroke: var(--ink); stroke-width: 1; stroke-dasharray: 1 3; }
.series figcaption { font-size: 12px; max-width: 240px; }

.timeline { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 14px; }
.timeline li { display: grid; grid-column: 1 / -1; grid-template-columns: subgrid; padding: 3px 0; }
.timeline time { color: var(--dim); font-size: 13px; white-space: nowrap; }
.timeline b { font-weight: 550; }
.stale { margin: 14px 0 0; padding: 8px 14px; border-inline-start: 3px solid var(--warn); background: var(--raised); }

.filters { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: end; margin-top: 14px; }
.filters label { display: grid; gap: 2px; font-size: 12px; color: var(--dim); flex: 1 1 150px; max-width: 260px; }
input, select, button { font: inherit; font-size: 14px; color: var(--ink); background: var(--page); border: 1px solid var(--strong); border-radius: 4px; padding: 5px 8px; min-height: 32px; width: 100%; }
button { width: auto; cursor: pointer; padding: 5px 16px; font-weight: 550; }
button:hover { background: var(--raised); }
::placeholder { color: var(--dim); opacity: 1; }
.paging { display: flex; gap: 18px; padding-top: 12px; }
.paging a { padding: 4px 0; }
button, .button { width: auto; }
.offers { display: grid; gap: 12px; }
.offers form { display: grid; gap: 3px; justify-items: start; }
.confirm { display: grid; gap: 12px; max-width: 640px; margin-top: 14px; }
.confirm label, .confirm fieldset { display: grid; gap: 3px; }
.confirm .flag { grid-template-columns: max-content minmax(0, 1fr); gap: 10px; align-items: start; }
.confirm .flag input { width: 18px; min-height: 22px; margin: 0; }
.confirm .ways { display: flex; flex-wrap: wrap; gap: 10px 18px; align-items: center; }
textarea { font: inherit; color: var(--ink); background: var(--page); border: 1px solid var(--strong); border-radius: 4px; padding: 6px 8px; width: 100%; min-height: 5.5em; resize: vertical; }
.effects { display: grid; gap: 2px; margin-top: 12px; font-size: 16px; }
.live { color: var(--warn); font-weight: 550; }
.live:not(:empty) { margin-top: 10px; }
.done, .refusal { margin: 14px 0 0; padding: 8px 14px; border-inline-start: 3px solid var(--good); background: var(--raised); }
.refusal { border-color: var(--bad); }
@media (max-width: 560px) {
  .fact { grid-template-columns: minmax(0, 1fr); padding-bottom: 4px; }
  td { min-width: 11ch; }
}
`;
