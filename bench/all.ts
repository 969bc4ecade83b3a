import { spawn } from 'node:child_process';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { run } from './stack';

/**
 * `npm run bench [name …]`: the benchmarks of this folder in small sizes, one after the other, and one table of results
 * next to the goals. bench/README.md describes each, its largest size, and its result on an idle machine.
 */
interface Benchmark {
  readonly args: readonly string[];
  /** Keys are the beginnings of row names. */
  readonly goals?: Readonly<Record<string, string>>;
}

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  overhead: {
    args: ['3', '50'],
    goals: {
      'ratio of medians': '≤ 1.15',
      'ratio of actions a second': '≥ 0.8',
      'until all of them were taken': '≤ 10 ms',
      'events of the pipeline': '≤ 12',
      'events of a deploy': '≤ 70',
    },
  },
  'fan-out': { args: ['200', '50'], goals: { ratio: '≤ 2', 'lost / started twice': '0 / 0' } },
  bakes: { args: ['50', '5'], goals: { 'command until': '≤ 1 s', 'verdict until': '≤ 1 s' } },
  cli: {
    args: ['10'],
    goals: {
      'status, through': '≤ 300 ms',
      'list, through': '≤ 300 ms',
      'release, through': '≤ 300 ms',
      'completion of a name, through': '≤ 150 ms',
    },
  },
  where: { args: ['2000', '20'], goals: { 'where,': '≤ 1 s' } },
  latencies: { args: ['10', '2'], goals: { 'bad answer until': '≤ 1 s', 'revert command until': '≤ 1 s' } },
  offers: {
    args: [],
    goals: {
      'overhead of a hop': '< 5%',
      'events that a satisfied wish adds': '≤ 14',
      'events of the offers for a deploy': '≤ 12',
      'events while': '0',
    },
  },
  crash: { args: ['1'] },
  callbacks: { args: ['12', '5'] },
  readers: { args: ['200', '50'] },
  finders: { args: ['3000'] },
  fleet: { args: ['100000', '2000'] },
  health: { args: ['20', '2000', '60'] },
  gates: { args: ['1'] },
  swarm: { args: ['1000', '64'] },
  archive: { args: ['5000'], goals: { 'every statistic': '< 2 s for a year' } },
};

type TableRow = readonly [benchmark: string, name: string, value: string, goal: string];

async function main(): Promise<void> {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in BENCHMARKS));
  if (unknown.length > 0)
    throw new Error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(BENCHMARKS).join(', ')}`);
  const rows: TableRow[] = [];
  for (const [name, benchmark] of Object.entries(BENCHMARKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const began = Date.now();
    process.stderr.write(`▸ ${name} ${benchmark.args.join(' ')}\n`);
    const { code, text, errors } = await output(name, benchmark.args);
    rows.push(...tableRows(name, benchmark, text));
    if (code !== 0) {
      rows.push([name, 'failed', `exit code ${code}`, '']);
      process.stderr.write(`${errors.split('\n').slice(-20).join('\n')}\n`);
    }
    process.stderr.write(`${code === 0 ? '✔' : '✖'} ${name} (${Math.round((Date.now() - began) / 1000)} s)\n`);
  }
  const load = loadavg()[0]?.toFixed(1);
  process.stdout.write(`${cpus().length} cores, Node ${process.version}, load at the end ${load}\n\n`);
  process.stdout.write(printable([['benchmark', 'measure', 'value', 'goal'], ...rows]));
  if (rows.some(([, name]) => name === 'failed')) process.exitCode = 1;
}

interface Output {
  readonly code: number;
  readonly text: string;
  readonly errors: string;
}

function output(name: string, args: readonly string[]): Promise<Output> {
  const file = join(__dirname, `${name}.ts`);
  const child = spawn('npx', ['--no-install', 'jiti', file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let [text, errors] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
  child.stderr.setEncoding('utf8').on('data', (part: string) => (errors += part));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code: code ?? 1, text, errors })));
}

/** `| name | value |`, or a name and its value in columns or after a colon. */
function tableRows(benchmark: string, { goals = {} }: Benchmark, text: string): TableRow[] {
  return text.split('\n').flatMap((line) => {
    const found = /^\| (.+) \| (.+) \|$/.exec(line) ?? /^\s*(\S.*?)(?::\s|\s{2,})(\S.*)$/.exec(line);
    if (found === null) return [];
    const [, name = '', value = ''] = found;
    const goal = Object.entries(goals).find(([beginning]) => name.startsWith(beginning));
    return [[benchmark, name, value, goal?.[1] ?? ''] as const];
  });
}

function printable(rows: readonly (readonly string[])[]): string {
  const widths = [0, 1, 2, 3].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

run(main);
