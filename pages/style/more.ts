/** The style of statistics, of the calendar, of values and of gates. */
export const MORE_RULES = `
.plots { display: grid; gap: 0 44px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); }
.plot { max-width: 720px; overflow: hidden; }
svg.plot { display: inline-block; width: 10px; height: 10px; }
.plot + details > summary { cursor: pointer; font-size: 13px; color: var(--link); padding: 4px 0; }
.value { margin: 0; padding: 10px 14px; background: var(--raised); border-radius: 4px; overflow-x: auto; white-space: pre; font: 12.5px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
.days { min-width: 560px; }
.days svg { display: block; width: 100%; height: auto; }
.days text { fill: var(--dim); font-size: 11px; }
.days .today { fill: var(--ink); font-weight: 650; }
.days .day { stroke: var(--rule); }
.days .now { stroke: var(--ink); stroke-dasharray: 3 2; }
.days .open, .key.open { fill: var(--bake); }
.days .closed, .key.closed { fill: var(--bad); }
.days .frozen, .key.frozen { fill: var(--warn); }
.days .release, .key.release { fill: var(--update); }
.days .end, .key.end { fill: none; stroke: var(--ink); stroke-width: 1.5; }
`;
