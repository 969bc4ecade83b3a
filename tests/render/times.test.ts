import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clock, forPeople, localTimes } from '../../render/times';
import { conveyorError } from '../../domain/errors';
import { NOW } from '../builders/cliSamples';
import { run } from '../builders/cliWorld';
import { RICH_CLIENT as client, RICH_COMMANDS } from '../builders/pictures';

const ROOT = join(__dirname, '../..');
const view = { width: 80, color: false, now: NOW, timeZone: 'UTC' };
const RAW = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z/;

test.each([
  ['2026-11-20T14:03:10.123Z', '14:03:10'],
  ['2026-11-19T14:03:10.000Z', '19 Nov 14:03:10'],
  ['2025-11-20T14:03:10.000Z', '20 Nov 2025 14:03:10'],
])('%s is shown as %s on a day of November 2026', (iso, shown) => {
  expect(clock(iso, view)).toBe(shown);
});

test.each([
  ['baking phase first (1 of 2) until 2026-11-20T14:02:52.000Z', 'baking phase first (1 of 2) until 14:02:52'],
  ['no worker polls (last poll: 2026-11-20T13:59:56.000Z), and', 'no worker polls (last poll: 13:59:56), and'],
  [
    'its certificate is valid only from 2026-11-21T08:00:00.000Z on',
    'its certificate is valid only from 21 Nov 08:00:00 on',
  ],
  [
    'waiting for its window to open at 2026-11-23T17:00:00.000Z; frozen',
    'waiting for its window to open at 23 Nov 17:00:00; frozen',
  ],
])('a sentence %j is read as %j', (stored, read) => {
  expect(forPeople({ summary: stored }, view)).toEqual({ summary: read });
});

test.each([
  ['a version', 'planning the deploy of 2026-11-20T14:02:10.000Z'],
  ['an artifact in a command', 'conveyor release web --artifact source=2026-11-20T14:02:10.000Z'],
  ['a time that a command takes', 'conveyor freeze web --until 2026-11-20T14:02:10.000Z'],
  ['a time that there is not', 'it is frozen until 2026-13-45T99:00:00.000Z'],
])('%s stays as it is', (_what, text) => {
  expect(localTimes(text, (iso) => clock(iso, view))).toBe(text);
});

describe.each(RICH_COMMANDS)('conveyor %s', (line) => {
  test.each([true, false])('shows no raw time to people (terminal: %p), and JSON has all of them', async (isTTY) => {
    const { code, out, err } = await run(line.split(' '), { client, isTTY });
    expect(code).toBe(0);
    expect(out + err).not.toMatch(RAW);
    if (line.includes('--summary')) return;
    expect((await run([...line.split(' '), '-o', 'json'], { client })).out).toMatch(RAW);
  });
});

test('errors and hints are read by people too, and are as they are in JSON', async () => {
  const failure = conveyorError('no-worker', { id: 'web', lastPollAt: '2026-11-20T13:59:56.000Z' } as never);
  const failing = { client: { status: () => Promise.reject(failure), listPipelines: () => Promise.resolve([]) } };
  const { err, out } = await run(['status', 'web/1', '-o', 'json'], failing);
  expect(err).toContain('(last poll: 13:59:56)');
  expect(out).toContain('(last poll: 2026-11-20T13:59:56.000Z)');
});

test('lines that are kept have times to the second, whose zone they name', async () => {
  const { out } = await run(['watch', 'payments-ledger/113/deploy-europe', '--timeout', '1s'], { client });
  expect(out).toMatch(/^2026-11-20T14:01:50Z {2}payments-ledger/m);
  expect(out).toContain('until 2026-11-20T14:02:52Z');
  expect(out).not.toMatch(RAW);
});

test('commands leave the form of a time to one file', () => {
  const files = ['cli', 'render'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  );
  const cutting = files
    .filter((name) => name.endsWith('.ts'))
    .filter((name) => /\.slice\(0, 1[069]\)\.replace\('T'/.test(readFileSync(join(ROOT, name), 'utf8')));
  expect(cutting).toEqual([join('render', 'times.ts')]);
});

test.each([':/etc/localtime', 'CET-1CEST', 'Mars/Olympus'])('where TZ is %s an error keeps its words', async (TZ) => {
  const failure = conveyorError('no-worker', { id: 'web', lastPollAt: '2026-11-20T13:59:56.000Z' } as never);
  const client = { status: () => Promise.reject(failure), listPipelines: () => Promise.resolve([]) };
  expect(await run(['status', 'web/1', '-o', 'json'], { client, env: { TZ } })).toMatchObject({
    code: failure.exit,
    err: expect.stringContaining('last poll: '),
  });
});
