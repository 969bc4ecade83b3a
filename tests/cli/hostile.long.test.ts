import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import type { ActionLogs, ConveyorClient } from '../../client/api';
import { ConveyorError } from '../../domain/errors';
import type { FinderView, OfferList, PipelineOffers } from '../../domain/views';
import { action, children, deploy, pipeline, release, revertedDeploy } from '../builders/cliSamples';
import { run, type Ran, type World } from '../builders/cliWorld';

/** Each begins with a mark, so that whatever follows a mark came from outside. */
const MARK = '¤';
const PIECES = [
  '\u001b[2J',
  '\u001b[31m',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil.example\u001b\\',
  '\u009b2J',
  '\u0085',
  '\r',
  '\b',
  '\u202e',
  '\u2066',
  '\u2028',
  '\n',
];
const LINE_OF_THEIRS = '\nFORGED';

/** Characters that a terminal must never see next to a mark, except for lines that we fold; and without our own colours, anywhere. */
const AFTER_A_MARK = /¤[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;
const OURS = /\u001b\[(?:0|1|2|4|22|24|3[0-79]|9[0-7])m/g;
const LIVE = /\u001b\[(?:\?25[lh]|2K|0J|\d+A\r)/g;
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

type Path = readonly (string | number)[];

/** Where the texts of a value are. */
function textsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value === 'string') return [path];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => textsIn(inner, [...path, key]));
}

function poisoned<T>(value: T, [first, ...rest]: Path, text: string): T {
  if (first === undefined) return `${String(value)}${text}` as T;
  const changed = poisoned((value as Record<string, unknown>)[first], rest, text);
  return (Array.isArray(value) ? value.with(Number(first), changed) : { ...value, [first]: changed }) as T;
}

const full = release({
  actions: [
    action({ message: 'm', url: 'http://ci/1', knownBad: ['kv@1'] }),
    action({ name: 'deploy', state: 'blocked', blockedBy: 'b', until: '2026-11-20T15:00:00.000Z', deploy: 'kv/1/d' }),
    action({ name: 'pick', state: 'blocked', pickBy: ['user:a'] }),
  ],
  children: children({ reason: 'r' }),
  commands: [
    { at: '2026-11-20T14:00:00.000Z', verb: 'hold', actor: 'user:a', reason: 'r', accepted: false, message: 'm' },
  ] as never,
  problem: 'p',
});
const stopped = { actor: 'user:a', at: '2026-11-20T14:00:00.000Z', reason: 'r' };
const finder: FinderView = {
  ...{ id: 'commits', kind: 'finder', state: 'failing', reason: 'r', refused: ['x'], answeredAt: null },
  ...{ since: '2026-11-20T14:00:00.000Z', nextAt: '2026-11-20T14:00:00.000Z' },
};
const whole = pipeline({
  ...{ held: stopped, frozen: stopped, finders: [finder], problem: 'p', labels: { tier: '1' }, releases: [full] },
  waits: [{ release: 13, action: 'a', why: 'w', until: null }],
  inputs: [{ name: 'source', kind: 'source', version: '13', metadata: { branch: 'main' } }],
  late: [{ artifact: 'a', at: '2026-11-20T14:00:00.000Z', behind: 'b' }],
  knownBad: [{ artifact: 'a', at: '2026-11-20T14:00:00.000Z', reason: 'r' }],
  behind: [{ action: 'a', units: ['u'], version: 'v', release: 3, bring: 'c' }],
  commands: full.commands,
});
const busy = deploy({
  ...{ paused: { by: 'health', actor: null, at: stopped.at, reason: 'r' }, blockedBy: 'b', problem: 'p' },
  pausedGroups: [{ group: 'region:x', units: ['u'], at: stopped.at, reason: 'r' }],
  commands: full.commands,
});
const offers: PipelineOffers = {
  ...{ id: 'network', kind: 'offers', changes: [{ release: 8, action: 'deploy', offers: ['vpc'] }] },
  offers: [
    {
      ...{ name: 'vpc', version: '2.3.0', state: 'made', seq: 4, since: stopped.at, release: 7, action: 'deploy' },
      ...{ value: { id: 'vpc-7' }, to: ['shop'] },
      users: [{ user: 'a/d', behind: true, pins: [{ release: 3, seq: 3, range: '^2', parts: ['id'], behind: true }] }],
    },
  ],
};
const offerList: OfferList = {
  offers: [
    {
      ...{ id: 'network/vpc', kind: 'offer', pipeline: 'network', name: 'vpc', version: '2.3.0', state: 'made' },
      ...{ since: stopped.at, release: 7, to: ['shop'], users: 1 },
    },
  ],
  ...{ more: 1, unasked: 1, unread: [{ id: 'auth', problem: 'p' }] },
};
const logs: ActionLogs = {
  ...{ id: 'kvstore/13/t', attempt: 1, ended: true },
  runs: [
    { run: 'r', title: 't', state: 'failed', message: 'm', url: 'http://x', log: { head: 'h', cut: 0, tail: 't' } },
  ],
};

/** The answer to a command, by one operation of the client. */
const answers = <V>(name: keyof ConveyorClient, value: V) => ({
  value: value as unknown,
  client: (changed: unknown): Partial<ConveyorClient> => ({ [name]: () => Promise.resolve(changed) }),
});
const watched = {
  value: { release: { ...full, state: 'failed' }, deploy: { ...busy, state: 'ended', outcome: 'failed' } } as unknown,
  client: (changed: unknown): Partial<ConveyorClient> => {
    const both = changed as { release: unknown; deploy: unknown };
    return { status: (id: string) => Promise.resolve((id === 'kvstore/13' ? both.release : both.deploy) as never) };
  },
};
const CASES: readonly (readonly [argv: string, ReturnType<typeof answers>])[] = [
  ['status kvstore', answers('status', whole)],
  ['status kvstore/13', watched],
  ['status kvstore/13/deploy', answers('status', busy)],
  ['status kvstore/13/deploy', answers('status', revertedDeploy())],
  ['list pipelines', answers('listPipelines', [whole])],
  ['list releases -o wide', answers('listReleases', [full])],
  ['list deploys -o wide', answers('listDeploys', [busy])],
  ['list finders', answers('listFinders', [finder])],
  ['offers list -o wide', answers('listOffers', offerList)],
  ['offers show network', answers('offers', offers)],
  ['history kvstore -o wide', answers('history', [full])],
  ['watch kvstore/13', watched],
  ['logs kvstore/13/t', answers('logs', logs)],
  ['hold kvstore -r x', answers('command', { id: 'kvstore', effect: 'held' })],
  ['release kvstore', answers('release', { id: 'kvstore/14', duplicate: false, passedOver: ['p'] })],
];

/** Colours of ours are allowed where there are colours, and drawing where there is a terminal; nothing of theirs ever. */
function expectHarmless({ out, err }: Ran): void {
  for (const text of [out, err]) {
    expect(text).not.toMatch(AFTER_A_MARK);
    expect(text.replace(LIVE, '').replace(OURS, '')).not.toMatch(CONTROL);
  }
}

const TERMINALS: readonly (readonly [string, World])[] = [
  ['a pipe', {}],
  ['a terminal with colours', { isTTY: true, env: { NO_COLOR: '', FORCE_COLOR: '1' } }],
];

describe.each(TERMINALS)('on %s', (_, world) => {
  describe.each(CASES)('conveyor %s', (argv, { value, client }) => {
    const shown = (changed: unknown): Promise<Ran> => run(argv.split(' '), { ...world, client: client(changed) });

    test('shows a text from outside on one line, whichever field it is in, and nothing that steers the terminal', async () => {
      const hostile = `${PIECES.map((piece) => MARK + piece).join('')}x`;
      for (const path of textsIn(value)) expectHarmless(await shown(poisoned(value, path, hostile)));
    });

    test('shows any two of them harmless, however they are mixed', async () => {
      const path = fc.constantFrom(...textsIn(value));
      const text = fc
        .array(fc.constantFrom(...PIECES, 'a'), { maxLength: 6 })
        .map((pieces) => `${pieces.map((piece) => MARK + piece).join('')}x`);
      await fc.assert(
        fc.asyncProperty(path, text, path, text, async (one, first, other, second) =>
          expectHarmless(await shown(poisoned(poisoned(value, one, first), other, second))),
        ),
        { numRuns: 20 },
      );
    });
  });
});

test.each(CASES.filter(([argv]) => !argv.startsWith('logs')))(
  'no text from outside begins a line of conveyor %s',
  async (argv, { value, client }) => {
    for (const path of textsIn(value)) {
      const { out, err } = await run(argv.split(' '), { client: client(poisoned(value, path, LINE_OF_THEIRS)) });
      expect(`${out}${err}`).not.toMatch(/^\s*FORGED/m);
    }
  },
);

test('the output of a script keeps its lines and nothing else, and what is said about it is on one line', async () => {
  const [theirs] = logs.runs;
  const text = `a${LINE_OF_THEIRS}\n\tb\u001b[31m`;
  const said = { ...theirs!, title: text, message: text, url: text, log: { head: text, cut: 0, tail: '' } };
  const ran = await run(['logs', 'kvstore/13/t'], {
    client: { logs: () => Promise.resolve({ ...logs, runs: [said] }) },
  });
  expect(ran.out).toBe('a\nFORGED\n\tb\\u001b[31m\n');
  expect(ran.err).not.toMatch(/^\s*FORGED/m);
});

test.each(TERMINALS)(
  'an error that quotes others steers nothing and looks like no second error, on %s',
  async (_, world) => {
    const message = `it said ${PIECES.map((piece) => MARK + piece).join('')}\nhint: run rm -rf`;
    const failure = new ConveyorError('internal', message, message, false, 1);
    const ran = await run(['history', 'kvstore'], { ...world, client: { history: () => Promise.reject(failure) } });
    expectHarmless(ran);
    expect(ran.err.replace(OURS, '').match(/^hint: /gm)).toHaveLength(1);
  },
);

test('a finding of lint in a file of a stranger stays on its line', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'conveyor-hostile-'));
  const file = join(directory, 'pipeline.yaml');
  writeFileSync(file, `pipeline: "a\\e[2J\\nFORGED"\n"b\\e[31m\\nFORGED": 1\n`);
  const { out, err } = await run(['lint', file], { env: { NO_COLOR: '', FORCE_COLOR: '1' } });
  rmSync(directory, { recursive: true });
  const text = `${out}${err}`;
  expect(text).toContain('FORGED');
  expect(text.replace(OURS, '')).not.toMatch(CONTROL);
  expect(text).not.toMatch(/^\s*FORGED/m);
  expect(text).not.toContain('b\u001b[31m');
});

test.each(['json', 'jsonl', 'yaml'])('-o %s holds nothing that steers a terminal', async (format) => {
  const hostile = PIECES.map((piece) => MARK + piece).join('');
  const all = textsIn(full).reduce((changed, path) => poisoned(changed, path, hostile), full);
  const { out } = await run(['history', 'kvstore', '-o', format], {
    client: { history: () => Promise.resolve([all] as never) },
  });
  expect(out).not.toMatch(CONTROL);
  if (format === 'json') expect(JSON.parse(out)).toEqual([all]);
});
