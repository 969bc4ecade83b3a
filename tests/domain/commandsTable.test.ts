import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeEffect, NO_COMMANDS, applyRevert, take, whyNot, type Control } from '../../domain/deploy/control';
import { planDeploy } from '../../domain/deploy/plan';
import { newDeploy, toDeploySituation, withPhase, withPlan, type DeployRecord } from '../../domain/deploy/state';
import { pauseDeploy } from '../../domain/deploy/pauseRecord';
import { deployWith } from '../../domain/spec/deploy';
import { deployStatus } from '../../domain/deploy/view';
import { DEPLOY_VERBS, type DeployVerb } from '../../domain/verbs';
import type { DeployState, Pause } from '../../domain/views';

const FILE = join(__dirname, '../../docs/reference/commands.md');
const WRITTEN = readFileSync(FILE, 'utf8');
const NOW = Date.parse('2026-11-23T17:00:00Z');
const ALICE = { actor: 'user:alice', reason: 'r' };
const SPEC = deployWith.parse({
  pushType: 'twine',
  phases: [{ name: 'first', scope: '*', amount: 1 }],
  healthChecks: [{ name: 'errors', metric: 'm', threshold: { above: 1 } }],
});
const UNITS = [{ id: 'x', labels: {}, size: 3, version: 'kv:1', mixed: false, available: true }];
const FLEET = { units: 1, tasks: 3, snapshot: { units: UNITS }, withoutPast: [], shares: [1, 1], inPages: false };

const fresh = newDeploy(NOW);
const planned = withPlan(fresh, planDeploy(SPEC, UNITS, [], 'kv:2'), FLEET);
const controlled = (record: DeployRecord, control: Control): DeployRecord => ({ ...record, control });
const commanded = (record: DeployRecord, verb: DeployVerb): DeployRecord =>
  controlled(record, take(record.control, verb, ALICE, NOW));
/** In the phase of that index. */
const inPhase = (index: number, stage: DeployState): DeployRecord =>
  withPhase({ ...planned, stage, cursor: index }, index, { state: 'running' });
const baking = inPhase(0, 'baking');
const paused = (by: Exclude<Pause['by'], 'operator'>): DeployRecord => pauseDeploy(baking, NOW, by, 'r');
const reverts: DeployRecord = {
  ...withPhase(baking, 0, { state: 'failed' }),
  stage: 'reverting',
  control: applyRevert(NO_COMMANDS, { ...ALICE, at: '', notBad: false, paused: null }),
};
const overtaken = (why: 'superseded' | 'preempted'): DeployRecord =>
  controlled(baking, { ...NO_COMMANDS, overtaken: { by: 13, why } });

/** A deploy in each state of the table. */
const STATES: Readonly<Record<string, DeployRecord>> = {
  planning: fresh,
  'waiting for the lock': { ...planned, stage: 'waiting-lock' },
  'waiting for the window, before a phase': { ...planned, stage: 'waiting-window' },
  'waiting for the window, in a phase': inPhase(0, 'waiting-window'),
  preprocessing: inPhase(0, 'preprocessing'),
  updating: inPhase(0, 'updating'),
  baking,
  postprocessing: withPhase(inPhase(0, 'postprocessing'), 0, { bakedAt: '2026-11-23T16:30:00.000Z' }),
  'removing its units': { ...planned, stage: 'removing' },
  'between two phases': withPhase(baking, 0, { state: 'succeeded' }),
  'in the completion phase': inPhase(1, 'baking'),
  'waiting for canaries, before the completion': withPhase({ ...baking, stage: 'waiting-lock' }, 0, {
    state: 'succeeded',
  }),
  'paused by a person': commanded(baking, 'pause'),
  'paused by its health': paused('health'),
  'paused by the update timeout': paused('timeout'),
  'paused by a dependency': paused('dependency'),
  'paused by a unit that is away': paused('unit'),
  'paused by a step before or after a phase': paused('action'),
  'paused by a freeze': pauseDeploy(withPhase(baking, 0, { state: 'succeeded' }), NOW, 'freeze', 'r'),
  'about to resume': commanded(commanded(baking, 'pause'), 'resume'),
  'about to cancel': commanded(baking, 'cancel'),
  'about to be superseded': overtaken('superseded'),
  'about to be preempted': overtaken('preempted'),
  reverting: reverts,
  'reverting by itself': controlled(reverts, NO_COMMANDS),
  'reverting, paused': commanded(reverts, 'pause'),
  'reverting, about to resume': commanded(commanded(reverts, 'pause'), 'resume'),
  'reverting, stuck': pauseDeploy(
    { ...reverts, revertStuck: true },
    NOW,
    'timeout',
    'the old version does not come up',
  ),
  ended: { ...baking, stage: 'ended' },
};

const situationOf = (record: DeployRecord) =>
  toDeploySituation(record, { spec: SPEC, ...(record.stage === 'removing' ? { removal: true } : {}) });

const TABLE = /^\| While it is[^]*?(?=\n\n)/m;

/** The table and the lists under it, as the code has them. Their sentences keep their marks, and a new one gets the next. */
function upToDate(docs: string): string {
  const texts = new Map([...marksIn(docs)].map(([mark, text]) => [text, mark]));
  const markOf = (text: string, all: readonly string[]): string => {
    const mark = texts.get(text) ?? all.find((one) => ![...texts.values()].includes(one)) ?? '';
    texts.set(text, mark);
    return mark;
  };
  const NUMBERS = Array.from({ length: 99 }, (_, index) => String(index + 1));
  const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
  const rows = Object.entries(STATES).map(([state, record]) => {
    const situation = situationOf(record);
    const cells = DEPLOY_VERBS.map((verb) => {
      const why = whyNot(situation, verb, {});
      return why === undefined ? `✓ ${markOf(describeEffect(verb, situation), NUMBERS)}` : `✗ ${markOf(why, LETTERS)}`;
    });
    return `| ${[state, ...cells].join(' | ')} |`;
  });
  const head = ['While it is', ...DEPLOY_VERBS.map((verb) => `\`${verb}\``)];
  const table = [`| ${head.join(' | ')} |`, `|${'-|'.repeat(head.length)}`, ...rows].join('\n');
  const known = new Set(marksIn(docs).values());
  const added = (all: readonly string[]): string =>
    [...texts]
      .filter(([text, mark]) => all.includes(mark) && !known.has(text))
      .map(([text, mark]) => `\n- **${mark}** ${text}`)
      .join('');
  return docs
    .replace(TABLE, () => table)
    .replace(/^- \*\*\d+\*\* .*(?=\n\n)/m, (last) => last + added(NUMBERS))
    .replace(/^- \*\*[a-z]\*\* .*(?=\n\n)/m, (last) => last + added(LETTERS));
}

if (process.env['UPDATE_DOCS']) writeFileSync(FILE, upToDate(WRITTEN));
const DOCS = readFileSync(FILE, 'utf8');

/** `a. text` → text by its mark. */
function marksIn(docs: string): Map<string, string> {
  const lines = docs.matchAll(/^- \*\*(\d+|[a-z])\*\* (.*)$/gm);
  return new Map([...lines].map(([, mark = '', text = '']) => [mark, text.replace(/`/g, '')]));
}

const marks = marksIn(DOCS);
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const [header = [], , ...rows] = DOCS.slice(DOCS.indexOf('| While it is')).split('\n\n')[0]!.split('\n').map(cellsOf);

test('the table of docs/reference/commands.md has a column for each verb and a row for each state, in this order', () => {
  expect(header.slice(1)).toEqual(DEPLOY_VERBS.map((verb) => `\`${verb}\``));
  expect(rows.map(([state]) => state)).toEqual(Object.keys(STATES));
});

const CELLS = rows.flatMap(([state = '', ...cells]) =>
  cells.map((cell, index) => [state, DEPLOY_VERBS[index] ?? 'pause', cell] as const),
);
const READABLE = /^(✓|✗) (\w+)$/;

test.each(CELLS)('while %s, %s is answered as the table says: %s', (state, verb, cell) => {
  const [, taken = '', mark = ''] = READABLE.exec(cell) ?? [];
  const situation = situationOf(STATES[state] ?? fresh);
  const why = whyNot(situation, verb, {});
  expect([taken, marks.get(mark)]).toEqual(why === undefined ? ['✓', describeEffect(verb, situation)] : ['✗', why]);
});

test.each(Object.entries(STATES))('while %s, its status lists exactly the verbs that it accepts', (_state, record) => {
  const situation = situationOf(record);
  const removal = record.stage === 'removing' ? ({ removal: true } as const) : {};
  const input = {
    pipeline: 'kvstore',
    release: 2,
    action: 'deploy',
    attempt: 1,
    version: 'kv:2',
    spec: SPEC,
    ...removal,
  };
  const taken = DEPLOY_VERBS.filter((verb) => whyNot(situation, verb, {}) === undefined);
  const { accepts = {} } = deployStatus(record, input, NOW);
  expect(accepts).toEqual(Object.fromEntries(taken.map((verb) => [verb, describeEffect(verb, situation)])));
});

test('each mark under the table is used in it', () => {
  const used = new Set(CELLS.map(([, , cell]) => READABLE.exec(cell)?.[2]));
  expect([...marks.keys()].filter((mark) => !used.has(mark))).toEqual([]);
});
