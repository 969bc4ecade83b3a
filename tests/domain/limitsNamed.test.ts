import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { FLEET_LIMITS } from '../../domain/fleet/limits';
import {
  ACCESS_LIMITS,
  ARTIFACT_LIMITS,
  AUDIT_LIMITS,
  ARCHIVE_LIMITS,
  BUG_LIMITS,
  CONFIG_LIMITS,
  GATE_LIMITS,
  GIT_COMMIT_LIMITS,
  SESSION_LIMITS,
  HOSTS_LIMITS,
  NOTICE_LIMITS,
  KUBERNETES_LIMITS,
  LOG_LIMITS,
  MOBILE_LIMITS,
  OFFER_LIMITS,
  PAGE_LIMITS,
  REQUEST_LIMITS,
  SERVICE_LIMITS,
  SITEVAR_LIMITS,
  SLOWROLL_LIMITS,
  SPEC_LIMITS,
  STATE_LIMITS,
  TICKET_LIMITS,
  VESSEL_LIMITS,
  WHERE_LIMITS,
  type Limit,
} from '../../domain/limits';
import type { PipelineState } from '../../domain/pipeline/state';
import { deployWith } from '../../domain/spec/deploy';
import { pipelineJsonSchema } from '../../domain/spec/jsonSchema';
import { formatBytes } from '../../domain/size';

interface Schema {
  readonly type?: string;
  readonly maxItems?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly [key: string]: unknown;
}

/** Places in a schema where a list or a text has no limit. */
function unbounded(schema: unknown, path: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  if (Array.isArray(schema)) return schema.flatMap((one, index) => unbounded(one, `${path}/${index}`));
  const { type, maxItems, maxLength, pattern, enum: words, const: word } = schema as Schema;
  const isFree =
    (type === 'array' && maxItems === undefined) ||
    (type === 'string' &&
      [maxLength, words, word].every((limit) => limit === undefined) &&
      !BOUNDED.includes(pattern ?? ''));
  const inside = Object.entries(schema).flatMap(([key, part]) => unbounded(part, `${path}/${key}`));
  return [...(isFree ? [path] : []), ...inside];
}

/** Names of 63 characters, of actions and parameters, and times of day. */
const BOUNDED = [
  '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  '^[a-z][A-Za-z0-9-]{0,62}$',
  '^([01]\\d|2[0-3]):[0-5]\\d$',
  '^(([01]\\d|2[0-3]):[0-5]\\d|24:00)$',
  '^p([1-9]|[1-9]\\d)$',
];

test('there is no list and no text in the pipeline file without a limit', () => {
  expect(unbounded(pipelineJsonSchema(), '')).toEqual([]);
  expect(unbounded({ properties: { tags: { type: 'array', items: { type: 'string' } } } }, '')).toHaveLength(2);
});

/** Where lists and mappings are in a type: `history[].artifacts`. A text is not a list, and an unknown has no parts. */
type Lists<T, P extends string> = unknown extends T
  ? never
  : T extends readonly (infer U)[]
    ? P | Lists<U, `${P}[]`>
    : T extends object
      ? string extends keyof T
        ? P | Lists<T[keyof T], `${P}{}`>
        : { [K in keyof T & string]: Lists<NonNullable<T[K]>, P extends '' ? K : `${P}.${K}`> }[keyof T & string]
      : never;

/** The bound of each list of a pipeline's state. A list that is new makes this fail to compile, until it has a limit. */
const BOUND_BY: Readonly<Record<Lists<Omit<Required<PipelineState>, 'spec' | 'settings'>, ''>, Limit>> = {
  groups: REQUEST_LIMITS.groups,
  'groups{}': REQUEST_LIMITS.groups,
  active: STATE_LIMITS.queuedTogether,
  'active[].artifacts': REQUEST_LIMITS.artifactsTogether,
  'active[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  'active[].booked': SPEC_LIMITS.actions,
  'active[].deployed': SPEC_LIMITS.actions,
  'active[].replaced': SPEC_LIMITS.actions,
  'active[].replaced{}.artifacts': SPEC_LIMITS.inputs,
  'active[].replaced{}.artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  'active[].followOn.units': STATE_LIMITS.followOnUnits,
  'active[].undone': SPEC_LIMITS.actions,
  'active[].undone{}': STATE_LIMITS.goodPerAction,
  'active[].undone{}[].artifacts': SPEC_LIMITS.deployInputs,
  'active[].undone{}[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  'active[].undone{}[].held.ids': STATE_LIMITS.heldIds,
  'active[].undone{}[].held.some': STATE_LIMITS.heldIds,
  'deploys.holder.requesters': STATE_LIMITS.releaseActions,
  'deploys.queue': STATE_LIMITS.releaseActions,
  'deploys.guests': STATE_LIMITS.releaseActions,
  'deploys.guests[].updates': STATE_LIMITS.releaseActions,
  'deploys.guests[].units': STATE_LIMITS.releaseActions,
  'deploys.brought': SERVICE_LIMITS.bringers,
  'deploys.brought[].units': SERVICE_LIMITS.unitsBrought,
  'deploys.brought[].artifacts': SPEC_LIMITS.inputs,
  'deploys.brought[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  mutexes: SPEC_LIMITS.mutex,
  'mutexes{}.holder.requesters': STATE_LIMITS.releaseActions,
  'mutexes{}.queue': STATE_LIMITS.releaseActions,
  'mutexes{}.guests': STATE_LIMITS.releaseActions,
  'mutexes{}.guests[].updates': STATE_LIMITS.releaseActions,
  'mutexes{}.guests[].units': STATE_LIMITS.releaseActions,
  'mutexes{}.brought': SERVICE_LIMITS.bringers,
  'mutexes{}.brought[].units': SERVICE_LIMITS.unitsBrought,
  'mutexes{}.brought[].artifacts': SPEC_LIMITS.inputs,
  'mutexes{}.brought[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  ready: STATE_LIMITS.running,
  'ready[].artifacts': REQUEST_LIMITS.artifacts,
  'ready[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  'ready[].mutex': SPEC_LIMITS.actionMutex,
  newestBegun: STATE_LIMITS.begun,
  begunAt: SPEC_LIMITS.actions,
  'begunAt{}': STATE_LIMITS.begunAt,
  'begunAt{}[]': STATE_LIMITS.begunAt,
  good: STATE_LIMITS.good,
  'good{}': STATE_LIMITS.goodPerAction,
  'good{}[].artifacts': SPEC_LIMITS.deployInputs,
  'good{}[].artifacts[].metadata': ARTIFACT_LIMITS.metadata,
  'good{}[].held.ids': STATE_LIMITS.heldIds,
  'good{}[].held.some': STATE_LIMITS.heldIds,
  inherited: STATE_LIMITS.inherited,
  'inherited{}.left': STATE_LIMITS.inheritedLeft,
  'inherited{}.before.units': STATE_LIMITS.inherited,
  'inherited{}.before.units[].labels': STATE_LIMITS.inherited,
  'inherited{}.settled': STATE_LIMITS.inheritedSettled,
  inheritedOmitted: STATE_LIMITS.inherited,
  uses: SPEC_LIMITS.actions,
  'uses{}': STATE_LIMITS.uses,
  followed: STATE_LIMITS.followed,
  'followed{}': STATE_LIMITS.followedPerArtifact,
  pushed: SPEC_LIMITS.artifacts,
  late: STATE_LIMITS.late,
  early: STATE_LIMITS.early,
  'early[].metadata': ARTIFACT_LIMITS.metadata,
  'active[].gone.open': STATE_LIMITS.open,
  knownBad: STATE_LIMITS.knownBad,
  inputs: STATE_LIMITS.inputs,
  'inputs{}.metadata': ARTIFACT_LIMITS.metadata,
  keys: STATE_LIMITS.keys,
  'keys[]': STATE_LIMITS.keys,
  history: STATE_LIMITS.history,
  'history[].artifacts': STATE_LIMITS.historyRow,
  'history[].artifacts[].metadata': STATE_LIMITS.historyRow,
  'history[].omitted': STATE_LIMITS.historyRow,
  'history[].followOn.units': STATE_LIMITS.historyRow,
  'history[].deploys': STATE_LIMITS.historyRow,
  'history[].deploys[].skipped': STATE_LIMITS.historyRow,
  'history[].deploys[].overridden': STATE_LIMITS.historyRow,
  'history[].deploys[].omitted': STATE_LIMITS.historyRow,
  proofs: STATE_LIMITS.proofs,
  commands: STATE_LIMITS.commands,
};

test('there is no list in the state of a pipeline without a limit', () => {
  expect(Object.values(BOUND_BY).every(({ max }) => max > 0)).toBe(true);
});

const FILE = join(__dirname, '../../docs/reference/limits.md');

const TABLES = [
  ['An artifact', ARTIFACT_LIMITS],
  ['A request, a command or a run', REQUEST_LIMITS],
  ['The pipeline file', SPEC_LIMITS],
  ['The platform section of the configuration', ACCESS_LIMITS],
  ['What scripts wrote', LOG_LIMITS],
  ['The audit', AUDIT_LIMITS],
  ['Sessions of pages', SESSION_LIMITS],
  ['A gate', GATE_LIMITS],
  ['A sitevar', SITEVAR_LIMITS],
  ['What apps pull', MOBILE_LIMITS],
  ['Configuration', CONFIG_LIMITS],
  ['Packages', VESSEL_LIMITS],
  ['Hosts over SSH', HOSTS_LIMITS],
  ['Deploys by commits', GIT_COMMIT_LIMITS],
  ['Hosts that poll', SLOWROLL_LIMITS],
  ['Kubernetes', KUBERNETES_LIMITS],
  ['Bugs', BUG_LIMITS],
  ['Tickets', TICKET_LIMITS],
  ['The search for a revision', WHERE_LIMITS],
  ['The archive', ARCHIVE_LIMITS],
  ['What a pipeline remembers', STATE_LIMITS],
  ['What is known of a service across pipelines', SERVICE_LIMITS],
  ['Offers and their users', OFFER_LIMITS],
  ['Receivers of notifications', NOTICE_LIMITS],
  ['Web pages', PAGE_LIMITS],
] as const;

const tableOf = (limits: Readonly<Record<string, Limit>>): string =>
  [
    '| What | At most | More is | Why |',
    '|-|-|-|-|',
    ...Object.values(limits).map(
      ({ of, max, unit, more, why }) =>
        `| ${of} | ${unit === 'bytes' ? formatBytes(max) : max.toLocaleString('en')} | ${MORE[more]} | ${why} |`,
    ),
  ].join('\n');

const MORE = {
  refused: 'refused',
  cut: 'cut',
  shortened: 'shortened',
  waits: 'made to wait',
  joined: 'counted together',
  holds: 'a reason to hold the pipeline',
};

test('docs/reference/limits.md has the limits that the code has (UPDATE_DOCS=1 writes its tables anew)', () => {
  const text = readFileSync(FILE, 'utf8');
  const intro = text.slice(0, text.indexOf('\n## '));
  const page = [intro.trimEnd(), ...TABLES.map(([title, limits]) => `## ${title}\n\n${tableOf(limits)}`)].join('\n\n');
  if (process.env['UPDATE_DOCS'] === '1') writeFileSync(FILE, `${page}\n`);
  expect(readFileSync(FILE, 'utf8')).toBe(`${page}\n`);
});

test('a deploy may have 63 phases as written, since the completion is the 64th', () => {
  const phases = (count: number) =>
    deployWith.safeParse({
      pushType: 'twine',
      phases: Array.from({ length: count }, () => ({ scope: '*', amount: 1 })),
    });
  expect(phases(FLEET_LIMITS.phases - 1).success).toBe(true);
  expect(phases(FLEET_LIMITS.phases).success).toBe(false);
});
