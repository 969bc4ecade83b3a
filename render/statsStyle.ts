/** The style of the statistics page, light or dark as the reader prefers. */
const LIGHT_PAGE =
  '--page:#f6f7f9;--card:#ffffff;--ink:#1c2430;--dim:#5d6775;--rule:#dfe3e8;--good:#2f9e63;--bad:#d64545;';
/** The colours that charts have besides those of their page. */
export const LIGHT_CHART = [
  '--on:#ffffff;--cell:#eef1f4;--quiet0:#7b8694;--quiet1:#949eab;--quiet2:#687384;--quiet3:#a5aeb9;--others:#b9a58c;',
  '--color0:#3f6fd1;--color1:#cf7a17;--color2:#c2498f;--color3:#1f9a94;--color4:#7a5bc7;--color5:#7d9a2c;--color6:#c4583a;--color7:#4a90b8;',
].join('');
const DARK_PAGE =
  '--page:#12161c;--card:#1a2029;--ink:#e6eaf0;--dim:#9aa5b4;--rule:#2c3541;--good:#52c78a;--bad:#f0716d;';
export const DARK_CHART = [
  '--on:#0f1318;--cell:#222a34;--quiet0:#8b97a6;--quiet1:#b3bcc7;--quiet2:#9aa6b4;--quiet3:#c9d0d8;--others:#b7a388;',
  '--color0:#7aa2f5;--color1:#f0ad54;--color2:#e583b8;--color3:#52c4bd;--color4:#ad95ee;--color5:#adc95f;--color6:#ee8f72;--color7:#7cc0e4;',
].join('');
const COLOR_NAMES = [
  ...['good', 'bad', 'others'],
  ...[0, 1, 2, 3].map((nth) => `quiet${nth}`),
  ...[0, 1, 2, 3, 4, 5, 6, 7].map((nth) => `color${nth}`),
];
const STYLE_RULES = [
  '*{box-sizing:border-box}',
  'body{margin:0;padding:32px;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}',
  'header,main{max-width:1440px;margin:0 auto}',
  'h1{font-size:26px;margin:0}',
  'header p{color:var(--dim);margin:2px 0 24px}',
  'main{display:grid;gap:20px;grid-template-columns:repeat(auto-fit,minmax(min(100%,520px),1fr))}',
  'section{background:var(--card);border:1px solid var(--rule);border-radius:12px;padding:20px 22px;min-width:0}',
  'h2{font-size:16px;line-height:1.35;margin:0}',
  'section>p{color:var(--dim);font-size:13px;margin:2px 0 12px}',
  'figure{margin:0}',
  'ul{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;margin:0 0 12px;padding:0;font-size:13px}',
  'li i{display:inline-block;width:11px;height:11px;border-radius:3px;margin-right:6px}',
  'details{margin-top:14px;font-size:13px}summary{cursor:pointer;color:var(--dim)}details div{overflow-x:auto}',
  'table{border-collapse:collapse;margin-top:8px;font-variant-numeric:tabular-nums}',
  'th,td{padding:4px 12px 4px 0;text-align:left;white-space:nowrap;border-bottom:1px solid var(--rule)}th{color:var(--dim);font-weight:500}',
  '.none{color:var(--dim);margin:0}',
  '@media print{body{padding:0}section{break-inside:avoid}details{display:none}}',
];

/** The rules of the drawings themselves, by their selectors. */
const CHART_RULES: readonly (readonly [selectors: string, style: string])[] = [
  ...COLOR_NAMES.flatMap((name): [string, string][] => [
    [`.${name}`, `fill:var(--${name});background:var(--${name})`],
    [`.line-${name}`, `stroke:var(--${name})`],
  ]),
  ['svg', 'display:block;width:100%;height:auto;overflow:visible;font-size:13px;fill:var(--ink)'],
  ['rect', 'rx:2px'],
  ['.cell', 'fill:var(--cell)'],
  ['.part:hover rect,.part:hover circle', 'filter:brightness(1.12)'],
  ['.name,.limit.before', 'text-anchor:end'],
  ['.on,.tick,.middle', 'text-anchor:middle'],
  ['.on', 'fill:var(--on);font-weight:600'],
  ['.tick,.note,.size,.limit', 'fill:var(--dim);font-size:12px'],
  ['.note', 'text-anchor:end'],
  ['.panel', 'font-weight:600'],
  ['.slanted', 'font-size:12px'],
  ['.grid', 'stroke:var(--rule)'],
  ['.axis', 'stroke:var(--dim)'],
  ['.target', 'stroke:var(--ink);stroke-dasharray:4 3'],
  ['.whisker', 'stroke-width:3;stroke-linecap:round;opacity:.55'],
  ['.curve', 'fill:none;stroke:var(--color0);stroke-width:2.5'],
];

/** The rules of charts. @param inside a selector of the elements around them; empty for all of a page */
export const chartStyle = (inside: string): string =>
  CHART_RULES.map(([selectors, style]) => {
    const scoped = selectors.split(',').map((selector) => `${inside}${inside === '' ? '' : ' '}${selector}`);
    return `${scoped.join(',')}{${style}}`;
  }).join('\n');

export const STATS_STYLE = [
  `:root{color-scheme:light dark;${LIGHT_PAGE}${LIGHT_CHART}}`,
  `@media (prefers-color-scheme:dark){:root{${DARK_PAGE}${DARK_CHART}}}`,
  chartStyle(''),
  ...STYLE_RULES,
].join('\n');
