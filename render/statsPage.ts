import { escapeXml } from '../domain/markup';
import type { StatsReport } from '../domain/stats/report';
import { statsCharts, type Figure } from './statsCharts';
import { STATS_STYLE } from './statsStyle';
import { statsTables, unreadWords, type StatsTable } from './statsTables';
import { minuteWords } from './times';

/** The statistics as one self-contained page of plots with tables below them. */
export function statsPage(report: StatsReport): string {
  const charts = statsCharts(report);
  const cards = statsTables(report).map((table) => card(table, charts[table.id]));
  const { since, until, readUntil } = report;
  const read = readUntil === null ? 'nothing is archived yet' : `archived until ${minuteWords(readUntil)}`;
  const about = [
    `releases and deploys that ended from ${minuteWords(since)} to ${minuteWords(until)}`,
    read,
    unreadWords(report),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Releases and deploys</title>
<style>${STATS_STYLE}</style>
</head>
<body>
<header>
<h1>Releases and deploys</h1>
<p>${escapeXml(about.filter((words) => words !== '').join('; '))}</p>
</header>
<main>
${cards.join('\n')}
</main>
</body>
</html>
`;
}

function card(table: StatsTable, { svg, legend = [], note }: Figure): string {
  const items = legend.map(({ color, word }) => `<li><i class="${color}"></i>${escapeXml(word)}</li>`);
  const figure = table.rows.length === 0 ? '<p class="none">none</p>' : svg;
  return [
    `<section id="${table.id}">`,
    `<h2>${escapeXml(table.title)}</h2>`,
    `<p>${escapeXml(note)}</p>`,
    items.length === 0 ? '' : `<ul>${items.join('')}</ul>`,
    `<figure>${figure}</figure>`,
    table.rows.length === 0
      ? ''
      : `<details><summary>as a table</summary><div>${formatStatsTable(table)}</div></details>`,
    '</section>',
  ].join('');
}

function formatStatsTable({ headings, rows }: StatsTable): string {
  const cells = (tag: string, row: readonly string[]): string =>
    `<tr>${row.map((cell) => `<${tag}>${escapeXml(cell)}</${tag}>`).join('')}</tr>`;
  const head = cells('th', ['category', ...headings.map((heading) => heading.toLowerCase())]);
  return `<table><thead>${head}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table>`;
}
